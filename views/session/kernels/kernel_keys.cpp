#include "views/session/kernels/kernel_keys.h"

#include <unordered_map>

#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

std::vector<std::uint64_t> kernel_keys(const SnapshotKernels& of) {
  std::vector<std::uint64_t> keys;
  keys.reserve(of.rows().size());
  std::unordered_map<std::uint32_t, std::uint32_t> seen;
  for (std::size_t row = 0; row < of.rows().size(); ++row) {
    const std::vector<NodeId>& nodes = of.kernel(row).nodes;
    const std::uint32_t first = nodes.empty() ? NodeId().value() : nodes.front().value();
    const std::uint32_t position = seen[first]++;
    keys.push_back((std::uint64_t{first} << 32U) | position);
  }
  return keys;
}

}  // namespace jointer::views

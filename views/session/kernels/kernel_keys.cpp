#include "views/session/kernels/kernel_keys.h"

#include <unordered_map>

#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {
namespace {

// A hash of the nodes after the first one: FNV-1a with node ids in place of bytes.
std::uint32_t hash_of_others(const std::vector<NodeId>& nodes) {
  std::uint32_t hash = 2'166'136'261U;
  for (std::size_t i = 1; i < nodes.size(); ++i) hash = (hash ^ nodes[i].value()) * 16'777'619U;
  return hash;
}

}  // namespace

std::vector<std::uint64_t> kernel_keys(const SnapshotKernels& of) {
  std::vector<std::uint64_t> keys;
  keys.reserve(of.rows().size());
  std::unordered_map<std::uint64_t, std::uint32_t> seen;
  for (std::size_t row = 0; row < of.rows().size(); ++row) {
    const std::vector<NodeId>& nodes = of.kernel(row).nodes;
    const std::uint32_t first = nodes.empty() ? NodeId().value() : nodes.front().value();
    const std::uint32_t others = hash_of_others(nodes);
    const std::uint64_t high = std::uint64_t{first} << 32U;
    const std::uint32_t position = seen[high | others]++;
    keys.push_back(high | (others + position));
  }
  return keys;
}

}  // namespace jointer::views

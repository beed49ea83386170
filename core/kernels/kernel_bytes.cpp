#include "core/kernels/kernel_bytes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/index.h"
#include "core/graph/dtype.h"

namespace jointer::kernels {

namespace {

constexpr std::int64_t kWholeBuffers = 1'000'000'000;
constexpr std::string_view kWithGenerator = "graphsafe_run_with_rng_state";

std::int64_t buffer_bytes(const Scheduling& s, BufferId id, std::int64_t elements) {
  const Buffer& buffer = s.buffer(id);
  std::int64_t bytes = 0;
  if (buffer.has_many_results) {
    for (const User& user : s.users(id)) {
      if (user.op < 0) continue;
      if (s.op(user.op).kind != Op::Kind::multi_output) return 0;
      for (const BufferId output : s.op(user.op).outputs)
        bytes += buffer_bytes(s, output, elements);
    }
    return bytes;
  }
  if (buffer.has_no_layout) {
    for (const BufferId changed : buffer.mutates) bytes += buffer_bytes(s, changed, elements);
    return bytes;
  }
  return item_size(buffer.dtype) * std::min(elements, buffer.numel);
}

// True if an op outside the node, or the output of the graph, reads the buffer. In a foreach
// kernel, only ops that are a whole part count as inside: torch compares readers with the parts
// (`is_materialized` in torch/_inductor/scheduler.py).
bool leaves(const Scheduling& s, const SchedulerNode& node, BufferId id) {
  const auto is_inside = [&](OpId op) {
    if (!node.is_foreach())
      return std::find(node.ops.begin(), node.ops.end(), op) != node.ops.end();
    return std::any_of(node.parallel.begin(), node.parallel.end(), [&](NodeIndex part) {
      return !s.node(part).is_fused() && s.node(part).ops.front() == op;
    });
  };
  return std::any_of(s.users(id).begin(), s.users(id).end(),
                     [&](const User& user) { return user.op < 0 || !is_inside(user.op); });
}

}  // namespace

void count_bytes(Scheduling& scheduling, NodeIndex id, Kernel& kernel) {
  if (kernel.kind == Kernel::Kind::nop || kernel.kind == Kernel::Kind::multi_output) return;
  const SchedulerNode& node = scheduling.node(id);
  if (node.is_extern && scheduling.op(node.ops.front()).target == kWithGenerator) return;
  const bool is_single = !node.is_fused() && !node.is_extern;
  const std::int64_t iterations = is_single ? node.numel * node.rnumel : kWholeBuffers;
  BufferIds internal;
  if (node.is_fused())
    for (const AccessId access : node.writes)
      if (const BufferId written = scheduling.table.buffer(access);
          !leaves(scheduling, node, written))
        internal.push_back(written);
  const auto count = [&](AccessIds accesses, auto& found) {
    if (is_single)
      for (AccessId& access : accesses) access = scheduling.table.merged(access);
    std::sort(accesses.begin(), accesses.end());
    accesses.erase(std::unique(accesses.begin(), accesses.end()), accesses.end());
    for (const AccessId access : accesses) {
      const BufferId buffer = scheduling.table.buffer(access);
      if (std::find(internal.begin(), internal.end(), buffer) != internal.end()) continue;
      const auto same = std::find_if(found.begin(), found.end(), [&](const BufferBytes& each) {
        return each.buffer == buffer;
      });
      if (same == found.end())
        found.push_back({buffer, iterations});
      else
        same->bytes += iterations;
    }
    std::int64_t bytes = 0;
    for (BufferBytes& each : found) {
      each.bytes = buffer_bytes(scheduling, each.buffer, each.bytes);
      bytes += each.bytes;
    }
    return bytes;
  };
  kernel.bytes_read = count(node.reads, kernel.reads);
  kernel.bytes_written = count(node.writes, kernel.writes);
  AccessIds both = node.reads;
  both.insert(both.end(), node.writes.begin(), node.writes.end());
  SmallVector<BufferBytes, 8> found;
  kernel.bytes = count(std::move(both), found);
}

}  // namespace jointer::kernels

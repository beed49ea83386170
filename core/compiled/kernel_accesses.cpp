// Finds how the threads of a kernel access memory.
//
// Neighboring threads go along one loop of each op: the one along which the most bytes lie side by
// side. Inductor chooses it by the same rule: it prefers the loops that coalesce the most bytes.
//   - An access that advances by one element along this loop, or not at all, is coalesced.
//   - If it advances by one along another loop, the kernel transposes.
//   - If it advances by one along no loop, each element moves a part of a sector.
//   - An access whose position is loaded at run time is a gather or, if it adds to memory, a
//     scatter. Rows of at least a sector move only their own bytes; single elements move a sector
//     each.
// A reduction goes along rows if the loop is one of the reduced ones, and along columns otherwise.
// It runs one block for each row, or for each 64 columns.
//
// A buffer that several ops access counts with its cheapest pattern, since the others find it in
// registers or caches. A buffer that the kernel writes and reads counts as written.
//
// Cost: for a kernel, its accesses times its buffers and loops.
// Source: torch._inductor.codegen.simd (`candidate_tilings`), torch._inductor.tiling_utils
// (`_analyze_memory_coalescing`), torch._inductor.runtime.triton_heuristics (`_reduction_configs`:
// XBLOCK 1 for inner reductions, 64 for outer ones).
// Deviations: mix-order reductions are timed as if their data were read once, along rows.

#include "core/compiled/kernel_accesses.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/base/index.h"
#include "core/kernels/loop_index.h"

namespace jointer::kernels {
namespace {

constexpr std::int64_t kColumnsOfBlock = 64;

struct OpNest {
  std::vector<std::int64_t> sizes;  // of the outer loops, then of the reduced ones
  std::size_t along = 0;            // the loop of neighboring threads
  std::int64_t coalesced_bytes = 0;
};

bool is_position(const Access& access) {
  return access.kind == Access::Kind::memory;
}

// The innermost loop along which the access advances by one element.
std::optional<std::size_t> contiguous_loop(const Access& access,
                                           std::span<const std::int64_t> sizes) {
  for (std::size_t loop = sizes.size(); loop-- > 0;)
    if (sizes[loop] > 1 && stride_of(access.index, loop) == 1) return loop;
  return std::nullopt;
}

OpNest nest_of(const Op& op) {
  OpNest nest{.sizes = op.loops};
  nest.sizes.insert(nest.sizes.end(), op.reduced.begin(), op.reduced.end());
  std::vector<std::int64_t> bytes(nest.sizes.size());
  for (const std::vector<Access>* accesses : {&op.reads, &op.writes})
    for (const Access& access : *accesses)
      if (is_position(access))
        if (const auto loop = contiguous_loop(access, nest.sizes)) bytes[*loop] += access.bytes;
  // Ties go to the inner loop.
  for (std::size_t loop = 0; loop < bytes.size(); ++loop)
    if (bytes[loop] >= bytes[nest.along]) nest.along = loop;
  if (!bytes.empty()) nest.coalesced_bytes = bytes[nest.along];
  return nest;
}

struct Moved {
  AccessPattern pattern = AccessPattern::coalesced;
  double bytes = 0;
};

// `bytes`: those of the accessed elements, each once.
Moved moved_by(const Access& access, const OpNest& nest, std::int64_t item, double bytes,
               const DeviceDescription& device) {
  if (!is_position(access) || nest.sizes.empty()) return {AccessPattern::coalesced, bytes};
  const std::int64_t stride = std::abs(stride_of(access.index, nest.along));
  constexpr std::int64_t kAlone = std::numeric_limits<std::int64_t>::max();
  if (is_indirect(access.index)) {
    const auto pattern = access.is_atomic ? AccessPattern::scattered : AccessPattern::gathered;
    const bool is_row =
        stride == 1 && nest.sizes[nest.along] * item >= device.kernels->sector_bytes;
    return {pattern, is_row ? bytes : sector_traffic(device, bytes, item, kAlone)};
  }
  if (stride <= 1) return {AccessPattern::coalesced, bytes};
  if (contiguous_loop(access, nest.sizes)) return {AccessPattern::strided, bytes};
  return {AccessPattern::strided, sector_traffic(device, bytes, item, stride)};
}

class KernelAccesses {
 public:
  KernelAccesses(const Ir& ir, const Kernel& kernel, const DeviceDescription& device)
      : ir_(ir), kernel_(kernel), device_(device) {
    nests_.reserve(kernel.ops.size());
    for (const OpId id : kernel.ops) nests_.push_back(nest_of(ir.ops[as_index(id)]));
  }

  // The cheapest access to a buffer among the reads or the writes of the ops.
  [[nodiscard]] Moved moved(const BufferBytes& buffer, std::vector<Access> Op::*accesses) const {
    const auto bytes = static_cast<double>(buffer.bytes);
    const std::int64_t item = item_size(ir_.buffers[as_index(buffer.buffer)].dtype);
    std::optional<Moved> best;
    for (std::size_t i = 0; i < nests_.size(); ++i)
      for (const Access& access : ir_.ops[as_index(kernel_.ops[i])].*accesses) {
        if (access.buffer != buffer.buffer || access.kind == Access::Kind::weak) continue;
        const Moved each = moved_by(access, nests_[i], item, bytes, device_);
        if (!best || each.pattern < best->pattern ||
            (each.pattern == best->pattern && each.bytes < best->bytes))
          best = each;
      }
    return best.value_or(Moved{AccessPattern::coalesced, bytes});
  }

  void set_kind(LoopWork& work) const {
    if (kernel_.kind == Kernel::Kind::mix_order_reduction)
      work.kind = LoopWork::Kind::row_reduction;
    if (kernel_.kind != Kernel::Kind::reduction) return;
    const OpNest* largest = nullptr;
    bool is_along_reduced = true;
    for (std::size_t i = 0; i < nests_.size(); ++i) {
      const Op& op = ir_.ops[as_index(kernel_.ops[i])];
      if (op.rnumel <= 1) continue;
      if (largest != nullptr && nests_[i].coalesced_bytes <= largest->coalesced_bytes) continue;
      largest = &nests_[i];
      is_along_reduced = nests_[i].along >= op.loops.size();
    }
    work.kind = is_along_reduced ? LoopWork::Kind::row_reduction : LoopWork::Kind::column_reduction;
    work.blocks =
        is_along_reduced ? kernel_.numel : (kernel_.numel + kColumnsOfBlock - 1) / kColumnsOfBlock;
  }

 private:
  const Ir& ir_;
  const Kernel& kernel_;
  const DeviceDescription& device_;
  std::vector<OpNest> nests_;  // by op of the kernel
};

}  // namespace

LoopWork loop_work(const Ir& ir, const Kernel& kernel, const DeviceDescription& device) {
  const KernelAccesses accesses(ir, kernel, device);
  LoopWork work;
  accesses.set_kind(work);
  std::int64_t known = 0;
  const auto add = [&](const BufferBytes& buffer, std::vector<Access> Op::*of) {
    const Moved moved = accesses.moved(buffer, of);
    work.add(moved.pattern, moved.bytes);
    known += buffer.bytes;
  };
  for (const BufferBytes& buffer : kernel.writes) add(buffer, &Op::writes);
  for (const BufferBytes& buffer : kernel.reads)
    if (std::ranges::find(kernel.writes, buffer.buffer, &BufferBytes::buffer) ==
        kernel.writes.end())
      add(buffer, &Op::reads);
  if (kernel.bytes > known)
    work.add(AccessPattern::coalesced, static_cast<double>(kernel.bytes - known));
  return work;
}

}  // namespace jointer::kernels

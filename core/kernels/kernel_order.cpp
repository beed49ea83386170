#include "core/kernels/kernel_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/index.h"
#include "core/kernels/memory_order.h"

namespace jointer::kernels {

namespace {

std::string order_of_collectives(const std::string& holder) {
  return fmt::format(
      "Held by {}: collectives must start in the same order on every rank, and Inductor keeps "
      "that order.",
      holder);
}

// Completes "it would read" for a read of the bound's buffer that comes too early.
std::string too_early(const Ir& ir, const KernelOrder::Bound& bound) {
  const Buffer& buffer = ir.buffers[as_index(bound.buffer)];
  if (bound.reason == OrderReason::data) return buffer.name + " before it exists";
  if (ir.ops[as_index(buffer.op)].kind == Op::Kind::wait)
    return "the result of a collective before it has arrived";
  return buffer.name + " before it is changed in place";
}

}  // namespace

KernelOrder::KernelOrder(const Ir& ir, const Kernels& kernels)
    : ir_(ir),
      kernels_(kernels),
      order_(kernels.kernels.size()),
      before_(kernels.kernels.size()),
      after_(kernels.kernels.size()) {
  reset();
  chain_collectives();
  for (const std::int32_t kernel : order_) add_reads(kernel);
}

void KernelOrder::reset() {
  std::iota(order_.begin(), order_.end(), 0);
  places_ = order_;
}

bool KernelOrder::is_as_scheduled() const {
  return std::is_sorted(order_.begin(), order_.end());
}

void KernelOrder::depend(std::int32_t kernel, std::int32_t on, OrderReason reason,
                         BufferId buffer) {
  if (on < 0 || on == kernel) return;
  std::vector<Dependency>& before = before_[as_index(kernel)];
  if (std::any_of(before.begin(), before.end(),
                  [&](const Dependency& each) { return each.kernel == on; }))
    return;
  before.push_back({on, reason, buffer});
  after_[as_index(on)].push_back({kernel, reason, buffer});
}

void KernelOrder::chain_collectives() {
  std::int32_t previous = -1;
  for (const std::int32_t kernel : order_) {
    if (kernels_.kernels[as_index(kernel)].kind != Kernel::Kind::collective) continue;
    depend(kernel, previous, OrderReason::collectives, -1);
    previous = kernel;
  }
}

// Inductor makes each collective depend on the result of the one before it or, if the graph has
// waited for that result, on the result of the wait. Other dependencies without data name a buffer
// that is changed.
bool KernelOrder::chains_collectives(const Access& read) const {
  return read.kind == Access::Kind::weak && read.mutating >= 0 &&
         ir_.buffers[as_index(read.mutating)].mutates.empty();
}

void KernelOrder::add_reads(std::int32_t kernel) {
  for (const OpId id : kernels_.kernels[as_index(kernel)].ops)
    for (const Access& read : ir_.ops[as_index(id)].reads) {
      if (read.buffer < 0) continue;
      const Buffer& buffer = ir_.buffers[as_index(read.buffer)];
      if (buffer.op < 0 || chains_collectives(read)) continue;
      const OrderReason reason = read.kind == Access::Kind::weak ? OrderReason::old_value
                                 : buffer.mutates.empty()        ? OrderReason::data
                                                                 : OrderReason::mutation;
      depend(kernel, kernels_.kernel_of[as_index(buffer.op)], reason, read.buffer);
    }
}

KernelOrder::Range KernelOrder::range(std::int32_t kernel) const {
  Range range;
  range.last = static_cast<std::int32_t>(order_.size()) - 1;
  for (const Dependency& each : before_[as_index(kernel)]) {
    const std::int32_t first = place(each.kernel) + 1;
    if (first < range.first || (first == range.first && range.after.kernel >= 0)) continue;
    range.first = first;
    range.after = {each.kernel, each.reason, each.buffer};
  }
  for (const Dependency& each : after_[as_index(kernel)]) {
    const std::int32_t last = place(each.kernel) - 1;
    if (last > range.last || (last == range.last && range.before.kernel >= 0)) continue;
    range.last = last;
    range.before = {each.kernel, each.reason, each.buffer};
  }
  return range;
}

bool KernelOrder::move(std::int32_t kernel, std::int32_t to) {
  const Range allowed = range(kernel);
  if (to < allowed.first || to > allowed.last) return false;
  const std::int32_t from = place(kernel);
  const auto begin = order_.begin();
  if (to < from)
    std::rotate(begin + to, begin + from, begin + from + 1);
  else
    std::rotate(begin + from, begin + from + 1, begin + to + 1);
  for (std::int32_t at = std::min(from, to); at <= std::max(from, to); ++at)
    places_[as_index(order_[as_index(at)])] = at;
  return true;
}

std::int32_t KernelOrder::place_next_to(std::int32_t kernel, std::int32_t anchor,
                                        bool before) const {
  // When the kernel leaves its place, later kernels move forward by one.
  const std::int32_t at = place(anchor) - (place(kernel) < place(anchor) ? 1 : 0);
  return anchor == kernel ? place(kernel) : at + (before ? 0 : 1);
}

KernelOrder::Memory KernelOrder::memory() const {
  std::vector<BufferLife> lives = kernels_.lives;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    BufferLife& life = lives[i];
    const bool is_input = ir_.buffers[as_index(life.buffer)].op < 0;
    if (!is_input) life.first = place(life.first);
    if (life.last < 0) continue;
    life.last = is_input ? -1 : life.first;
    for (const std::int32_t user : kernels_.users.of(i))
      life.last = std::max(life.last, place(user));
  }
  MemoryPlan::Peak counted = MemoryPlan::peak_of(std::move(lives), order_.size());
  return {counted.peak, std::move(counted.lives), std::move(counted.after_allocation),
          std::move(counted.after_release)};
}

Kernels KernelOrder::reordered() const {
  Kernels result = kernels_;
  for (std::size_t at = 0; at < order_.size(); ++at)
    result.kernels[at] = kernels_.kernels[as_index(order_[at])];
  for (std::int32_t& kernel : result.kernel_of)
    if (kernel >= 0) kernel = place(kernel);
  for (std::int32_t& kernel : result.fused_order) kernel = place(kernel);
  for (std::int32_t& kernel : result.users.kernels) kernel = place(kernel);
  Memory counted = memory();
  result.peak = counted.peak;
  result.lives = std::move(counted.lives);
  result.after_allocation = std::move(counted.after_allocation);
  result.after_release = std::move(counted.after_release);
  return result;
}

std::string earliest_reason(const Ir& ir, const KernelOrder::Range& range,
                            const KernelNames& names) {
  const KernelOrder::Bound& bound = range.after;
  if (bound.kernel < 0) return {};
  const std::string holder = names(bound.kernel);
  if (bound.reason == OrderReason::collectives) return order_of_collectives(holder);
  if (bound.reason == OrderReason::old_value)
    return fmt::format("Held by {}: earlier, it would overwrite memory that {} still reads.",
                       holder, holder);
  return fmt::format("Held by {}: earlier, it would read {}.", holder, too_early(ir, bound));
}

std::string latest_reason(const Ir& ir, const KernelOrder::Range& range, const KernelNames& names) {
  const KernelOrder::Bound& bound = range.before;
  if (bound.kernel < 0) return {};
  const std::string holder = names(bound.kernel);
  if (bound.reason == OrderReason::collectives) return order_of_collectives(holder);
  if (bound.reason == OrderReason::old_value)
    return fmt::format("Held by {}: later, it would read memory that {} has overwritten.", holder,
                       holder);
  return fmt::format("Held by {}: later, {} would read {}.", holder, holder, too_early(ir, bound));
}

}  // namespace jointer::kernels

#include "core/kernels/loop_changes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "core/base/index.h"
#include "core/kernels/loop_index.h"

namespace jointer::kernels {

namespace {

// The last of the accesses to a buffer, or -1.
AccessId last_access(const AccessTable& table, std::span<const AccessId> accesses, BufferId id) {
  for (std::size_t i = accesses.size(); i-- > 0;)
    if (table.buffer(accesses[i]) == id) return accesses[i];
  return -1;
}

// The last of the writes to a buffer, or else of the reads.
AccessId write_or_read(const AccessTable& table, const SchedulerNode& node, BufferId id) {
  const AccessId write = last_access(table, node.writes, id);
  return write >= 0 ? write : last_access(table, node.reads, id);
}

NestedIndex nested(const AccessTable& table, AccessId id) {
  return {table[id].access.index, table[id].access.sizes};
}

// Replaces the index of each memory access of an op by `change(access)`. If that returns none for
// one of them, changes nothing and returns false.
template <class Change>
bool change_accesses(Scheduling& s, OpId op, const Sizes& loops, AccessTable::Form form,
                     Change change) {
  const auto changed = [&](const AccessIds& accesses) -> std::optional<AccessIds> {
    AccessIds result, others;
    for (const AccessId id : accesses) {
      if (!s.table.is_memory(id)) {
        others.push_back(id);
        continue;
      }
      Access access = s.table[id].access;
      std::optional<Index> index = change(access);
      if (!index) return std::nullopt;
      access.index = std::move(*index);
      access.sizes = loops;
      drop_unused_loops(access.index, access.sizes);
      // Regrouped loops may visit an element several times.
      const AccessTable::Entry& before = s.table[id];
      if (!before.is_indirect && before.numel > 0)
        access.bytes = access.bytes / before.numel * position_count(access.index, access.sizes);
      result.push_back(s.table.add(access, form));
    }
    result.insert(result.end(), others.begin(), others.end());
    return result;
  };
  std::optional reads = changed(s.loops(op).reads), writes = changed(s.loops(op).writes);
  if (!reads || !writes) return false;
  s.loops(op).loops = loops;
  s.set_accesses(op, std::move(*reads), std::move(*writes));
  return true;
}

}  // namespace

void SavedLoops::save() {
  if (!saved_.empty()) return;
  for (const NodeIndex id : {a_, b_})
    for (const OpId op : scheduling_.node(id).ops) saved_.emplace_back(op, scheduling_.loops(op));
}

void SavedLoops::restore() {
  if (saved_.empty()) return;
  for (auto& [op, loops] : saved_) scheduling_.loops(op) = std::move(loops);
  saved_.clear();
  scheduling_.refresh(a_);
  scheduling_.refresh(b_);
}

LoopChanges::LoopChanges(Scheduling& scheduling, Bytes shared_bytes, Bytes fusable_bytes)
    : s_(scheduling),
      shared_bytes_(std::move(shared_bytes)),
      fusable_bytes_(std::move(fusable_bytes)) {}

std::vector<BufferId> LoopChanges::common_buffers(NodeIndex a, NodeIndex b) const {
  const auto buffers = [&](NodeIndex id) {
    std::vector<BufferId> found;
    for (const auto* accesses : {&s_.node(id).reads, &s_.node(id).writes})
      for (const AccessId access : *accesses)
        if (s_.table.is_memory(access) && !s_.table[access].access.index.terms.empty())
          found.push_back(s_.table.buffer(access));
    return found;
  };
  const std::vector<BufferId> theirs = buffers(b);
  std::vector<BufferId> common;
  for (const BufferId id : buffers(a))
    if (std::find(theirs.begin(), theirs.end(), id) != theirs.end() &&
        std::find(common.begin(), common.end(), id) == common.end())
      common.push_back(id);
  return common;
}

bool LoopChanges::match(AccessId a, AccessId b) {
  if (a < 0 || b < 0 || !s_.table.is_memory(a) || !s_.table.is_memory(b)) return false;
  if (a == b) return true;
  if (s_.table[a].access.sizes.size() == s_.table[b].access.sizes.size())
    return s_.table.sorted(a) == s_.table.sorted(b);
  return s_.table.merged(a) == s_.table.merged(b);
}

bool LoopChanges::reorder_node(NodeIndex id, AccessId own, AccessId other, SavedLoops& saved) {
  const auto ops = s_.node(id).ops;
  const Sizes sizes = s_.loops(ops.front()).loops;
  for (const OpId op : ops)
    if (s_.loops(op).loops != sizes) return false;
  if (s_.table[own].access.sizes.size() != sizes.size()) return false;
  const std::optional order = matching_order(nested(s_.table, own), nested(s_.table, other));
  if (!order) return false;
  Sizes reordered;
  for (const std::size_t loop : *order) reordered.push_back(sizes[loop]);
  saved.save();
  for (const OpId op : ops)
    change_accesses(s_, op, reordered, AccessTable::Form::as_is, [&](const Access& access) {
      return std::optional(reorder_loops(access.index, *order));
    });
  s_.refresh(id);
  return true;
}

std::int64_t LoopChanges::reorder(NodeIndex a, NodeIndex b, SavedLoops& saved) {
  struct Candidate {
    bool is_passed_on = false;  // one writes what the other reads
    std::int64_t numel = -1;
    AccessId own = -1, other = -1;
  } best;
  for (const BufferId id : common_buffers(a, b)) {
    const AccessTable& table = s_.table;
    const AccessId own_write = last_access(table, s_.node(a).writes, id);
    const AccessId own_read = last_access(table, s_.node(a).reads, id);
    const AccessId other_write = last_access(table, s_.node(b).writes, id);
    const AccessId other_read = last_access(table, s_.node(b).reads, id);
    const AccessId own = own_write >= 0 ? own_write : own_read;
    const AccessId other = other_write >= 0 ? other_write : other_read;
    // Torch 2.11 does not distinguish buffers that one node writes and the other reads.
    const bool is_passed_on = s_.has({2, 12}) && ((own_write >= 0 && other_read >= 0) ||
                                                  (other_write >= 0 && own_read >= 0));
    if (s_.table.sorted(own) == s_.table.sorted(other)) {
      const std::int64_t numel = table[own].numel;
      if (best.own < 0 || std::pair(is_passed_on, numel) > std::pair(best.is_passed_on, best.numel))
        best = {is_passed_on, numel, own, other};
    } else if (is_passed_on) {
      const AccessId write = own_write >= 0 ? own_write : other_write;
      const AccessId read = other_read >= 0 ? other_read : own_read;
      if (write < 0 || read < 0 || !table.is_memory(write) || !table.is_memory(read)) continue;
      const Sizes written = table[s_.table.merged(write)].access.sizes;
      const Sizes read_sizes = table[s_.table.merged(read)].access.sizes;
      for (const std::int64_t size : written)
        if (std::find(read_sizes.begin(), read_sizes.end(), size) == read_sizes.end()) return -1;
    }
  }
  if (best.own < 0 || !s_.table.is_memory(best.own) || !s_.table.is_memory(best.other)) return -1;
  if (s_.table[best.own].access.sizes.size() != s_.table[best.other].access.sizes.size())
    return s_.table.merged(best.own) == s_.table.merged(best.other)
               ? s_.table[best.own].access.bytes
               : -1;
  bool is_reordered = false;
  if (!s_.node(a).is_reduction)
    is_reordered = reorder_node(a, best.own, best.other, saved);
  else if (!s_.node(b).is_reduction)
    is_reordered = reorder_node(b, best.other, best.own, saved);
  return is_reordered ? shared_bytes_(a, b) : -1;
}

std::int64_t LoopChanges::reorder_or_regroup(NodeIndex a, NodeIndex b, SavedLoops& saved) {
  if (!s_.node(a).is_on_gpu || !s_.node(b).is_on_gpu) return -1;
  if (common_buffers(a, b).empty()) return -1;
  if (const std::int64_t bytes = reorder(a, b, saved); bytes >= 0) return bytes;
  if (!s_.has({2, 12}) || !regroup(a, b, saved)) return -1;
  if (const std::int64_t bytes = reorder(a, b, saved); bytes >= 0) return bytes;
  return shared_bytes_(a, b);
}

bool LoopChanges::regroup(NodeIndex a, NodeIndex b, SavedLoops& saved) {
  if (!s_.node(a).is_on_gpu || !s_.node(b).is_on_gpu) return false;
  if (s_.node(a).is_reduction == s_.node(b).is_reduction) return false;
  const NodeIndex reduction = s_.node(a).is_reduction ? a : b;
  const NodeIndex pointwise = reduction == a ? b : a;
  const std::int64_t outer = s_.node(reduction).numel, inner = s_.node(reduction).rnumel;
  const auto ops = s_.node(pointwise).ops;
  const Sizes target{outer, inner};
  bool has_target = true;
  for (const OpId op : ops) {
    const OpLoops& loops = s_.loops(op);
    if (s_.node(pointwise).is_extern || product(loops.loops) != outer * inner) return false;
    if (!loops.reduced.empty() || !split_into(loops.loops, outer, inner)) return false;
    has_target = has_target && loops.loops == target;
  }
  if (has_target) return false;
  saved.save();
  SavedLoops before(s_, pointwise, pointwise);
  before.save();
  for (const OpId op : ops) {
    const Sizes sizes = s_.loops(op).loops;
    const bool is_changed = change_accesses(
        s_, op, target, AccessTable::Form::as_is,
        [&](const Access& access) { return regroup_loops(access.index, sizes, outer, inner); });
    if (!is_changed) {
      before.restore();
      return false;
    }
  }
  s_.refresh(pointwise);
  for (const BufferId id : common_buffers(a, b))
    if (match(write_or_read(s_.table, s_.node(a), id), write_or_read(s_.table, s_.node(b), id)))
      return true;
  before.restore();
  return false;
}

std::int64_t LoopChanges::invert(NodeIndex a, NodeIndex b, SavedLoops& saved) {
  const SchedulerNode &producer = s_.node(a), &consumer = s_.node(b);
  if (!s_.has({2, 12}) || !producer.is_on_gpu || !consumer.is_on_gpu) return -1;
  if (consumer.is_fused() || consumer.is_extern || consumer.is_reduction) return -1;
  if (consumer.reads.size() != 1 || consumer.writes.size() != 1) return -1;
  const AccessId read = consumer.reads.front(), write = consumer.writes.front();
  if (!s_.table.is_memory(read) || !s_.table.is_memory(write)) return -1;
  AccessId made = -1;
  for (const AccessId access : producer.writes) {
    if (s_.table.buffer(access) != s_.table.buffer(read)) continue;
    if (made >= 0) return -1;
    made = access;
  }
  if (made < 0 || !s_.table.is_memory(made)) return -1;
  const OpId op = consumer.ops.front();
  const Sizes sizes = s_.loops(op).loops;
  const std::int64_t flat = product(s_.table[made].access.sizes);
  if (sizes.size() < 2 || s_.table[read].access.sizes != s_.table[write].access.sizes) return -1;
  if (product(s_.table[read].access.sizes) != flat || product(sizes) != flat) return -1;
  if (!is_contiguous(s_.table[s_.table.merged(write)].access.index)) return -1;
  // The read visits each element once if its strides, sorted, are those of contiguous loops.
  const Index index = s_.table[read].access.index;
  if (index.offset != 0 || is_indirect(index)) return -1;
  for (const IndexTerm& term : index.terms)
    if (term.divisor != 1 || term.modulus != 0) return -1;
  const Sizes strides = strides_of(index, sizes.size());
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return strides[x] > strides[y]; });
  std::int64_t expected = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    if (strides[order[i]] != expected) return -1;
    expected *= sizes[order[i]];
  }
  const Sizes own = strides_of(s_.table[write].access.index, sizes.size());
  // At element f of the producer, loop i of the consumer is at f / stride % size.
  Index inverse;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    inverse.terms.push_back({{{0, 1}}, 0, strides[i], i == order.front() ? 0 : sizes[i], own[i]});
  std::sort(inverse.terms.begin(), inverse.terms.end());
  saved.save();
  change_accesses(s_, op, {flat}, AccessTable::Form::merged, [&](const Access& access) {
    Index contiguous;
    contiguous.terms.push_back({{{0, 1}}, 0, 1, 0, 1});
    return std::optional(access.buffer == s_.table.buffer(read) ? contiguous : inverse);
  });
  s_.refresh(b);
  const std::int64_t bytes = shared_bytes_(a, b);
  return bytes != 0 ? bytes : fusable_bytes_(a, b);
}

}  // namespace jointer::kernels

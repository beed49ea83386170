#include "core/kernels/fusion_rules.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/index.h"
#include "core/kernels/loop_index.h"

namespace jointer::kernels {

namespace {

// Settings and limits of torch._inductor, each with its name there, or the name of the function
// that uses it.
constexpr std::int64_t kMinSharedBytes = 10;  // score_fusion_memory_threshold
constexpr std::size_t kMaxOps = 64;           // max_fusion_size
constexpr std::int32_t kMaxDistance = 64;     // are_long_distant_nodes
constexpr std::int64_t kReuseWeight = 32;     // can_fusion_increase_peak_memory

// The first version after 2.11. It and all later ones follow the rules of 2.15.
constexpr TorchVersion kRegroups{2, 12};

std::int64_t storage_elements(const Buffer& buffer) {
  if (buffer.shape.size() != buffer.stride.size()) return buffer.numel;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < buffer.shape.size(); ++i) {
    if (buffer.shape[i] == 0) return 0;
    last += (buffer.shape[i] - 1) * buffer.stride[i];
  }
  return last + 1;
}

bool same_place(const AccessTable::Entry& read, const AccessTable::Entry& write) {
  const Access &a = read.access, &b = write.access;
  if (read.form != write.form && !(a.index.terms.empty() && b.index.terms.empty())) return false;
  return a.sizes.size() >= b.sizes.size() && a.index == b.index &&
         std::equal(b.sizes.begin(), b.sizes.end(), a.sizes.begin());
}

}  // namespace

FusionRules::FusionRules(Scheduling& scheduling)
    : s_(scheduling),
      changes_(
          scheduling, [this](NodeIndex a, NodeIndex b) { return shared_bytes(a, b, true); },
          [this](NodeIndex a, NodeIndex b) { return fusable_bytes(a, b); }),
      cpu_(scheduling),
      is_fused_(scheduling.ancestors().length()) {
  // Foreach kernels have several ops from the start.
  for (const NodeIndex id : scheduling.first_order())
    if (scheduling.node(id).is_foreach())
      for (const OpId op : scheduling.node(id).ops) AncestorSets::set_bit(is_fused_, op);
}

bool FusionRules::refuse(Refusal refusal, NodeIndex a, NodeIndex b) {
  ++counts_[static_cast<std::size_t>(refusal)];
  refused_.push_back({s_.node(a).ops.front(), s_.node(b).ops.front(), refusal});
  return false;
}

bool FusionRules::can_fuse(NodeIndex a, NodeIndex b, bool may_change_loops) {
  return can_fuse_tracked(a, b, may_change_loops, true);
}

bool FusionRules::can_fuse_tracked(NodeIndex a, NodeIndex b, bool may_change_loops,
                                   bool allow_mix) {
  if (a == b) return false;
  if (s_.node(a).is_mix_order()) return joins_mix_order(a, b);
  if (s_.node(b).is_mix_order()) return false;
  SavedLoops saved(s_, a, b);
  const bool answer = can_fuse_plain(a, b, may_change_loops, allow_mix, saved);
  // Before torch 2.12, the loops stayed changed even if the nodes could not fuse.
  if (!answer && s_.has(kRegroups)) saved.restore();
  return answer;
}

bool FusionRules::can_fuse_plain(NodeIndex a, NodeIndex b, bool may_change_loops, bool allow_mix,
                                 SavedLoops& saved) {
  if (s_.node(a).is_extern || s_.node(b).is_extern) return refuse(Refusal::is_external, a, b);
  if (s_.is_before(b, a)) return refuse(Refusal::runs_before, a, b);
  const bool has_template = s_.node(a).is_template || s_.node(b).is_template;
  if (has_template && (s_.node(b).is_template || !can_end_template(b)))
    return refuse(Refusal::beside_template, a, b);
  if (s_.node(a).is_on_gpu != s_.node(b).is_on_gpu) return refuse(Refusal::other_device, a, b);
  if (computes_fraction(a, b)) return refuse(Refusal::computes_fraction, a, b);
  std::int64_t bytes = shared_bytes(a, b, allow_mix);
  const bool may_change =
      s_.node(a).is_on_gpu && !has_template && !s_.node(a).is_foreach() && !s_.node(b).is_foreach();
  if (may_change && may_change_loops && bytes < kMinSharedBytes)
    if (const std::int64_t now = changes_.reorder_or_regroup(a, b, saved); now >= 0) bytes = now;
  if (may_change && bytes < kMinSharedBytes)
    if (const std::int64_t now = changes_.invert(a, b, saved); now >= 0) bytes = now;
  if (bytes == 0) return refuse(Refusal::no_shared_data, a, b);
  const bool is_foreach = s_.node(a).is_foreach() || s_.node(b).is_foreach();
  if (!is_foreach && s_.node(a).ops.size() + s_.node(b).ops.size() > kMaxOps)
    return refuse(Refusal::too_large, a, b);
  if (increases_peak(a, b)) return refuse(Refusal::peak_increases, a, b);
  if (!s_.is_before(a, b)) return can_fuse_horizontal(a, b, bytes);
  if (can_fuse_vertical(a, b) && backend_can_fuse(a, b)) return true;
  return may_change && s_.has(kRegroups) && changes_.regroup(a, b, saved) &&
         can_fuse_vertical(a, b) && backend_can_fuse(a, b);
}

bool FusionRules::can_fuse_horizontal(NodeIndex a, NodeIndex b, std::int64_t bytes) {
  if (!is_mix_order(a, b)) {
    if (bytes < kMinSharedBytes) return refuse(Refusal::too_few_shared_bytes, a, b);
    const SchedulerNode &first = s_.node(a), &second = s_.node(b);
    if (std::max(std::abs(first.min_order - second.max_order),
                 std::abs(second.min_order - first.max_order)) > kMaxDistance)
      return refuse(Refusal::too_far_apart, a, b);
  }
  return backend_can_fuse(a, b);
}

bool FusionRules::can_fuse_vertical(NodeIndex a, NodeIndex b) {
  AccessIds remaining;
  for (const AccessId access : s_.node(b).unmet)
    if (!s_.table.is_weak(access) || !is_fusable_weak(access, a, b)) remaining.push_back(access);
  for (const AccessId write : s_.node(a).writes) {
    if (!s_.table.is_memory(write)) continue;
    const BufferId name = s_.renamed(s_.table.buffer(write));
    bool is_skipped = false;
    erase_if(remaining, [&](AccessId read) {
      if (s_.renamed(s_.table.buffer(read)) != name) return false;
      if (std::exchange(is_skipped, false)) return false;
      const bool is_removed = is_fusable(read, write);
      // Torch 2.11 removes elements from the list that it iterates over, and so skips the element
      // after each removed one.
      is_skipped = is_removed && !s_.has(kRegroups);
      return is_removed;
    });
  }
  for (const AccessId access : remaining)
    if (s_.defines(a, s_.table.buffer(access))) return refuse(Refusal::access_differs, a, b);
  for (const AccessId access : remaining) {
    const NodeIndex maker = s_.node_of(s_.buffer(s_.table.buffer(access)).op);
    if (s_.is_before(a, maker)) return refuse(Refusal::op_between, a, b);
  }
  return true;
}

bool FusionRules::is_fusable(AccessId read, AccessId write) {
  const AccessTable& table = s_.table;
  if (s_.renamed(table.buffer(read)) != table.buffer(write)) return false;
  const Access& written = table[write].access;
  if (table[read].access.kind == Access::Kind::star)
    return written.is_atomic && table[read].access.is_atomic;
  if (!table.is_memory(read) || table[read].is_indirect || table[write].is_indirect) return false;
  if (written.is_atomic) return false;
  const bool have_as_many_loops =
      table[read].access.sizes.size() == table[write].access.sizes.size();
  if ((have_as_many_loops || s_.has(kRegroups)) && same_place(table[read], table[write]))
    return true;
  if (have_as_many_loops) return false;
  const AccessId merged_read = s_.table.merged(read), merged_write = s_.table.merged(write);
  return same_place(table[merged_read], table[merged_write]);
}

bool FusionRules::is_fusable_weak(AccessId access, NodeIndex a, NodeIndex b) {
  const AccessTable& table = s_.table;
  if (!s_.defines(a, table.buffer(access))) return false;
  const BufferId changing = table[access].access.mutating;
  if (changing < 0) return false;
  AccessId write = -1;
  for (const AccessId each : s_.node(b).writes) {
    if (table.buffer(each) != changing) continue;
    if (write >= 0) return false;
    write = each;
  }
  if (write < 0 || !table.is_memory(write) || table[write].is_indirect) return false;
  const Access& written = table[write].access;
  for (std::size_t loop = 0; loop < written.sizes.size(); ++loop)
    if (!uses_loop(written.index, loop)) return false;
  const BufferId real = s_.real(changing);
  for (const AccessId read : s_.node(a).reads) {
    const BufferId name = table.buffer(read);
    if ((s_.has(kRegroups) ? s_.real(name) : name) != real) continue;
    if (!table.is_memory(read) || table[read].is_indirect) return false;
    if (table[read].access.index != written.index || table[read].access.sizes != written.sizes ||
        table[read].form != table[write].form)
      return false;
  }
  return true;
}

std::int64_t FusionRules::score(NodeIndex a, NodeIndex b) {
  return shared_bytes(a, b, true);
}

std::int64_t FusionRules::shared_bytes(NodeIndex a, NodeIndex b, bool allow_mix) {
  if (allow_mix && is_mix_order(a, b)) {
    const Extent found = extent(a);
    return found.numel * found.rnumel;
  }
  const AccessIds &first = s_.node(a).accesses, &second = s_.node(b).accesses;
  std::int64_t bytes = 0;
  for (auto i = first.begin(), j = second.begin(); i != first.end() && j != second.end();) {
    if (*i == *j) {
      bytes += s_.table[*i].access.bytes;
      ++i;
      ++j;
    } else if (*i < *j) {
      ++i;
    } else {
      ++j;
    }
  }
  return bytes;
}

std::int64_t FusionRules::shared_elements(NodeIndex a, NodeIndex b) {
  if (is_mix_order(a, b)) return shared_bytes(a, b, true);
  std::vector<AccessId> common;
  std::set_intersection(s_.node(a).accesses.begin(), s_.node(a).accesses.end(),
                        s_.node(b).accesses.begin(), s_.node(b).accesses.end(),
                        std::back_inserter(common));
  std::int64_t elements = 0;
  for (const AccessId access : common) elements += s_.table[access].numel;
  return elements;
}

std::int64_t FusionRules::fusable_bytes(NodeIndex a, NodeIndex b) {
  if (!s_.is_before(a, b)) return 0;
  AccessIds reads = s_.node(b).reads;
  std::int64_t bytes = 0;
  for (const AccessId write : s_.node(a).writes) {
    if (!s_.table.is_memory(write)) continue;
    const auto found = std::find_if(reads.begin(), reads.end(),
                                    [&](AccessId read) { return is_fusable(read, write); });
    if (found == reads.end()) continue;
    bytes += std::max(s_.table[*found].access.bytes, s_.table[write].access.bytes);
    reads.erase(found);
  }
  return bytes;
}

FusionRules::ReuseKeys FusionRules::reuse_keys(NodeIndex id) const {
  ReuseKeys keys;
  for (const AccessId access : s_.node(id).reads) {
    const BufferId read = s_.table.buffer(access);
    if (read < 0 || s_.buffer(read).op < 0 || s_.users(read).size() != 1) continue;
    const Buffer& buffer = s_.buffer(read);
    if (buffer.has_no_layout || buffer.has_many_results) continue;
    const ReuseKey key{buffer.dtype, storage_elements(buffer)};
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

// True if `a` reduces, `b` does not, and some of their ops compute a half, a quarter or three
// quarters of the columns that `a` reduces in each row (`_sub_parent_epilogue_candidate_nodes`).
bool FusionRules::computes_fraction(NodeIndex a, NodeIndex b) const {
  const SchedulerNode &reduction = s_.node(a), &pointwise = s_.node(b);
  if (!s_.has(kRegroups) || !reduction.is_reduction || pointwise.is_reduction) return false;
  if (!reduction.is_on_gpu) return false;
  const std::int64_t rows = reduction.numel, columns = reduction.rnumel;
  std::int64_t factor = 0, lanes = 0;
  for (const NodeIndex part : {a, b})
    for (const OpId id : s_.node(part).ops) {
      const OpLoops& loops = s_.loops(id);
      if (s_.is_reduction(id)) {
        if (loops.numel != rows || loops.rnumel != columns) return false;
        continue;
      }
      if (loops.numel == rows && split_into(loops.loops, rows, 1)) continue;
      if (loops.numel == rows * columns && split_into(loops.loops, rows, columns)) continue;
      const auto has_rate = [&](std::int64_t input_lanes, std::int64_t output_lanes) {
        return loops.numel != 0 && input_lanes * loops.numel == output_lanes * rows * columns;
      };
      const std::pair<std::int64_t, std::int64_t> rate = has_rate(2, 1)   ? std::pair(2, 1)
                                                         : has_rate(4, 1) ? std::pair(4, 1)
                                                         : has_rate(4, 3) ? std::pair(4, 3)
                                                                          : std::pair(0, 0);
      if (rate.first == 0) return false;
      const std::int64_t width = columns / rate.first * rate.second;
      if (loops.numel != rows * width || !split_into(loops.loops, rows, width)) return false;
      // All such ops need the same factor, and none may have fewer lanes than those before it.
      if (factor != 0 && (rate.first != factor || rate.second < lanes)) return false;
      factor = rate.first;
      lanes = rate.second;
    }
  return factor != 0;
}

// True if the node is element-wise, changes no buffer in place, and shares no buffer's storage.
bool FusionRules::can_end_template(NodeIndex id) const {
  const SchedulerNode& node = s_.node(id);
  return !node.is_reduction &&
         std::all_of(node.outputs.begin(), node.outputs.end(), [&](BufferId output) {
           return s_.buffer(output).aliases.empty() && s_.buffer(output).mutates.empty();
         });
}

// True if fusing could raise peak memory: a buffer that only `a` reads could be reused for one that
// only `b` reads if they ran one after the other.
bool FusionRules::increases_peak(NodeIndex a, NodeIndex b) {
  const ReuseKeys first = reuse_keys(a);
  if (first.empty()) return false;
  const ReuseKeys second = reuse_keys(b);
  std::int64_t overhead = 0;
  for (const ReuseKey& key : first)
    if (std::find(second.begin(), second.end(), key) != second.end()) overhead += key.elements;
  return overhead > 0 && overhead > kReuseWeight * shared_bytes(a, b, true);
}

bool FusionRules::backend_can_fuse(NodeIndex a, NodeIndex b) {
  const SchedulerNode &first = s_.node(a), &second = s_.node(b);
  if (!first.is_on_gpu) {
    const bool is_vertical = s_.is_before(a, b);
    if (!is_vertical && first.ops.size() + second.ops.size() > CpuFusion::kMaxHorizontalOps)
      return refuse(Refusal::too_large_on_cpu, a, b);
    return (is_vertical ? cpu_.can_fuse_vertical(a, b) : cpu_.can_fuse_horizontal(a, b)) ||
           refuse(Refusal::loops_differ, a, b);
  }
  if (first.is_foreach() || second.is_foreach())
    return foreach_can_fuse(a, b) || refuse(Refusal::parts_differ, a, b);
  const auto is_split_scan = [&](const SchedulerNode& node) {
    return std::any_of(node.ops.begin(), node.ops.end(),
                       [&](OpId id) { return s_.op(id).ir == "SplitScan"; });
  };
  if (is_split_scan(first) != is_split_scan(second) && first.is_reduction && second.is_reduction)
    return refuse(Refusal::split_scan, a, b);
  if (first.is_reduction && second.is_reduction) {
    if (first.numel == second.numel && first.rnumel == second.rnumel) return true;
    return is_mix_order(a, b) || refuse(Refusal::reduction_size, a, b);
  }
  if (!first.is_reduction && !second.is_reduction) {
    if (first.numel != second.numel || first.rnumel != second.rnumel)
      return refuse(Refusal::pointwise_size, a, b);
    return first.is_template || second.is_template || tilings_fit(a, b) ||
           refuse(Refusal::tiles_differ, a, b);
  }
  const SchedulerNode& reduction = first.is_reduction ? first : second;
  const SchedulerNode& pointwise = first.is_reduction ? second : first;
  if (pointwise.numel == reduction.numel * reduction.rnumel) {
    for (const OpId id : pointwise.ops)
      if (!split_into(s_.loops(id).loops, reduction.numel, reduction.rnumel))
        return refuse(Refusal::loops_do_not_split, a, b);
    const Tiling tiles = tiling(pointwise.ops);
    return tiles.inner == 0 || tiles == Tiling{reduction.numel, reduction.rnumel} ||
           refuse(Refusal::tiles_differ, a, b);
  }
  return pointwise.numel == reduction.numel || refuse(Refusal::reduced_size, a, b);
}

// Visits the fused nodes among the ancestors of both: such a node may depend on `a` or `b` through
// another of its ops.
bool FusionRules::would_cycle(NodeIndex a, NodeIndex b) {
  constexpr std::size_t kWords = AncestorSets::kWords;
  const AncestorSets& sets = s_.ancestors();
  const std::span<const std::uint32_t> ones = sets.list(as_index(a)),
                                       others = sets.list(as_index(b));
  seen_.resize(s_.node_count(), 0);
  ++visit_;
  seen_[as_index(a)] = seen_[as_index(b)] = visit_;
  pending_.clear();
  const auto visit = [&](std::uint64_t bits, std::size_t word) {
    for (; bits != 0; bits &= bits - 1) {
      const auto op = static_cast<OpId>(word * 64 + as_index(std::countr_zero(bits)));
      const NodeIndex id = s_.node_of(op);
      if (std::exchange(seen_[as_index(id)], visit_) != visit_) pending_.push_back(id);
    }
  };
  for (std::size_t i = 0; i < is_fused_.size(); ++i) {
    if (ones[i] == 0 && others[i] == 0) continue;
    const AncestorSets::Chunk &one = sets.chunk(ones[i]), &other = sets.chunk(others[i]);
    for (std::size_t word = 0; word < kWords; ++word)
      visit((one[word] | other[word]) & is_fused_[i][word], i * kWords + word);
  }
  const auto is_known = [&](OpId op) { return s_.has_ancestor(a, op) || s_.has_ancestor(b, op); };
  while (!pending_.empty()) {
    const NodeIndex each = pending_.back();
    pending_.pop_back();
    const auto& ops = s_.node(each).ops;
    if (std::all_of(ops.begin(), ops.end(), is_known)) continue;
    if (s_.is_before(a, each) || s_.is_before(b, each)) {
      refuse(Refusal::would_cycle, a, b);
      return true;
    }
    const std::span<const std::uint32_t> theirs = sets.list(as_index(each));
    for (std::size_t i = 0; i < is_fused_.size(); ++i) {
      if (theirs[i] == 0 || theirs[i] == ones[i] || theirs[i] == others[i]) continue;
      const AncestorSets::Chunk &one = sets.chunk(ones[i]), &other = sets.chunk(others[i]),
                                &found = sets.chunk(theirs[i]);
      for (std::size_t word = 0; word < kWords; ++word)
        visit(found[word] & ~(one[word] | other[word]) & is_fused_[i][word], i * kWords + word);
    }
  }
  return false;
}

NodeIndex FusionRules::fuse(NodeIndex a, NodeIndex b) {
  NodeIndex fused = -1;
  if (is_mix_order(a, b)) {
    const bool is_first = is_contiguous_node(a);
    fused = is_first ? s_.fuse_mix_order(a, b) : s_.fuse_mix_order(b, a);
  } else if (s_.node(a).is_mix_order()) {
    NodeIndex contiguous = s_.node(a).contiguous, crossing = s_.node(a).crossing;
    if (s_.node(b).is_mix_order()) {
      contiguous = s_.make_fused(contiguous, s_.node(b).contiguous);
      crossing = s_.make_fused(crossing, s_.node(b).crossing);
    } else if (joins_part(a, contiguous, b, {crossing})) {
      contiguous = s_.make_fused(contiguous, b);
    } else {
      crossing = s_.make_fused(crossing, b);
    }
    fused = s_.fuse_mix_order(contiguous, crossing);
  } else if (s_.node(a).is_foreach() || s_.node(b).is_foreach()) {
    fused = fuse_foreach(a, b);
  } else {
    fused = s_.node(a).is_on_gpu ? s_.fuse(a, b) : cpu_.fuse(a, b);
  }
  for (const OpId op : s_.node(fused).ops) AncestorSets::set_bit(is_fused_, op);
  return fused;
}

std::string_view to_sentence(Refusal refusal) {
  switch (refusal) {
    case Refusal::runs_before:
      return "The second runs before the first.";
    case Refusal::is_nop:
      return "One of them computes nothing.";
    case Refusal::is_external:
      return "One of them calls a library.";
    case Refusal::other_device:
      return "They run on different devices.";
    case Refusal::no_shared_data:
      return "They share no data that both access in the same pattern.";
    case Refusal::too_large:
      return "Fused, they would have more than 64 operations.";
    case Refusal::peak_increases:
      return "Fusing them would raise the peak: separately, one can reuse the memory of the "
             "other's input.";
    case Refusal::too_few_shared_bytes:
      return "They share less than 10 bytes of data.";
    case Refusal::too_far_apart:
      return "Together they span more than 64 operations, so fusing them could raise the peak.";
    case Refusal::access_differs:
      return "The second does not read the result of the first in the pattern in which it is "
             "written.";
    case Refusal::op_between:
      return "Another kernel must run between them.";
    case Refusal::pointwise_size:
      return "They have different numbers of elements.";
    case Refusal::reduction_size:
      return "They are reductions of different sizes.";
    case Refusal::reduced_size:
      return "The pointwise kernel matches neither the input size nor the output size of the "
             "reduction.";
    case Refusal::loops_do_not_split:
      return "The pointwise loops do not split into the outer and the reduced loops of the "
             "reduction.";
    case Refusal::split_scan:
      return "A split scan does not fuse with a reduction.";
    case Refusal::computes_fraction:
      return "The second computes only some of the elements that the first reduces.";
    case Refusal::tiles_differ:
      return "They advance along different dimensions, so no tiles of one kernel fit both.";
    case Refusal::parts_differ:
      return "The parts of a kernel that works on lists do not fuse one by one.";
    case Refusal::beside_template:
      return "A kernel from a template takes in only element-wise operations that come after it "
             "and change no buffer in place.";
    case Refusal::loops_differ:
      return "On the CPU, the two need one nest of loops or, if the second reads the first, the "
             "same outer loops.";
    case Refusal::too_large_on_cpu:
      return "On the CPU, independent kernels fuse only if they have at most 16 operations "
             "together.";
    case Refusal::would_cycle:
      return "A third kernel depends on one of them, and the other depends on it.";
  }
  return "";
}

}  // namespace jointer::kernels

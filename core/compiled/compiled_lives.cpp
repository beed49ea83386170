// Finds when the memory of a compiled program is allocated and freed.
//
// Terms
//   static    (storage) lives throughout the step when operators run one by one
//   counted   (by the kernels) a buffer that a kernel allocates, or an input that they may free
//
// Rules for a whole part (a graph, or a half of a pair)
//   1. Counted memory lives as kernels::Kernels::lives says: a buffer from the kernel that computes
//      it to the last that reads it, an input that may be freed from the start of the part to its
//      last reader, an output to the end of the part. A value that is computed within the loops of
//      its readers has no buffer. Sizes are not rounded. The results of a call that returns a tuple
//      are allocated together.
//   2. A static storage lives throughout, except while a part runs that counts it.
//   3. Any other input that the kernels do not count (a tangent) lives throughout its part.
//   4. An output of the forward that the backward counts as an input of the same size is one
//      lifetime.
//   Therefore the maximum within a part is the kernels' peak plus the bytes of rules 2 and 3.
//
// Rule for a region
//   5. A storage that only the region uses lives as the region's kernels say, or not at all.
//      Everything else lives as in eager mode, with the region's calls at the position of the
//      region.
//
// A lifetime has the category that its storage has in eager mode.
//
// Cost: linear in storages, buffers and calls. Source: kernels::Kernels, which counts as Inductor's
// estimate_peak_memory_allocfree. Deviations: each result of a tuple counts once. Inductor counts
// the results of all tuples that share their readers (views of complex numbers) with each of these
// tuples, and never frees the surplus, which no program allocates. The results that a half of a
// pair returns to the user are not counted in the other half.

#include "core/compiled/compiled_lives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/index.h"

namespace jointer {
namespace {

using kernels::Buffer;
using kernels::BufferLife;

// True for a static storage (see the terms above), by its lifetime in eager mode.
bool is_of_static(const MemoryTimeline& operators, const Lifetime& life) {
  return life.first < 0 && life.last >= static_cast<std::int32_t>(operators.steps().size());
}

// Maps the buffers of a part's kernels to the storages that eager mode allocates.
class PartMemory {
 public:
  PartMemory(const Graph& graph, const MemoryTimeline& operators, const CompiledPart& part)
      : graph_(graph), operators_(operators), part_(part) {}

  [[nodiscard]] const Buffer& buffer(kernels::BufferId id) const {
    return part_.ir.buffers[as_index(id)];
  }
  [[nodiscard]] const Lifetime& known(std::size_t index) const {
    return operators_.lifetimes()[index];
  }
  [[nodiscard]] bool is_static(std::size_t index) const {
    return is_of_static(operators_, known(index));
  }

  // The index of the storage of a node's first tensor in the lifetimes of `operators`.
  [[nodiscard]] std::optional<std::size_t> storage_of(NodeId node) const {
    if (!node || graph_.tensors(node).empty()) return std::nullopt;
    const Tensor& tensor = graph_.tensors(node).front();
    if (!tensor.storage) return std::nullopt;
    const bool is_torch = operators_.options().rules == MemoryRules::torch;
    return operators_.lifetime_of(counted_storage(graph_, tensor, is_torch));
  }
  [[nodiscard]] std::optional<std::size_t> storage_of_input(const Buffer& input) const {
    return storage_of(graph_.find(part_.part, input.name));
  }

  // Calls `use` once for each storage of an input, with its index and whether the kernels may free
  // it.
  template <class Use>
  void each_input(Use use) const {
    std::map<std::size_t, bool> seen;
    for (const Buffer& each : part_.ir.buffers) {
      if (!each.is_input) continue;
      const auto index = storage_of_input(each);
      if (index && seen.emplace(*index, each.may_be_freed).second) use(*index, each.may_be_freed);
    }
  }

  // The node that computes a buffer: of those that its op computes, the last one that allocates a
  // storage; the last one if none does.
  [[nodiscard]] NodeId maker_of(const Buffer& made) const {
    if (made.op < 0) return graph_.find(part_.part, made.name);
    const auto& nodes = part_.ir.ops[as_index(made.op)].nodes;
    NodeId last;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const NodeId id = nodes[i];
      if (!id) continue;
      if (!last) last = id;
      const auto index = storage_of(id);
      if (index && known(*index).producer == id) return id;
    }
    return last;
  }

  [[nodiscard]] std::vector<std::int32_t> first_by_buffer() const {
    std::vector<std::int32_t> first(part_.ir.buffers.size(), -1);
    for (const BufferLife& life : part_.scheduled.lives) first[as_index(life.buffer)] = life.first;
    return first;
  }

  // The bytes by which the kernels' peak exceeds the peak that counts each result of a tuple once.
  [[nodiscard]] std::int64_t surplus() const {
    const std::vector<BufferLife>& lives = part_.scheduled.lives;
    const auto is_tuple = [&](const BufferLife& life) {
      return buffer(life.buffer).has_many_results;
    };
    if (std::ranges::none_of(lives, is_tuple)) return 0;
    const std::size_t count = part_.scheduled.kernels.size();
    const std::vector<std::int32_t> first = first_by_buffer();
    const auto peak = [&](auto allocated, auto freed) {
      std::vector<std::int64_t> at(count), after(count);
      for (const BufferLife& life : lives) {
        const auto [kernel, bytes] = allocated(life);
        at[as_index(kernel)] += bytes;
        if (life.last >= 0) after[as_index(life.last)] += freed(life);
      }
      std::int64_t now = 0, max_live = 0;
      for (std::size_t i = 0; i < count; ++i) {
        max_live = std::max(max_live, now += at[i]);
        now -= after[i];
      }
      return max_live;
    };
    const std::int64_t counted =
        peak([](const BufferLife& life) { return std::pair(life.first, life.allocated); },
             [](const BufferLife& life) { return life.freed; });
    const auto own = [&](const BufferLife& life) { return is_tuple(life) ? 0 : size_of(life); };
    return counted -
           peak([&](const BufferLife& life) { return std::pair(first_of(life, first), own(life)); },
                own);
  }

  [[nodiscard]] static std::int64_t size_of(const BufferLife& life) {
    return std::max(life.allocated, life.freed);
  }

  // The kernel that allocates a buffer. A result of a tuple is allocated with the tuple.
  [[nodiscard]] std::int32_t first_of(const BufferLife& life,
                                      const std::vector<std::int32_t>& firsts) const {
    const Buffer& made = buffer(life.buffer);
    if (life.allocated > 0 || made.op < 0) return life.first;
    for (const kernels::Access& read : part_.ir.ops[as_index(made.op)].reads) {
      if (read.buffer < 0 || !buffer(read.buffer).has_many_results) continue;
      const std::int32_t first = firsts[as_index(read.buffer)];
      if (first >= 0) return first;
    }
    return life.first;
  }

 private:
  const Graph& graph_;
  const MemoryTimeline& operators_;
  const CompiledPart& part_;
};

class LivesBuilder {
 public:
  LivesBuilder(const Graph& graph, const MemoryTimeline& operators,
               std::span<const CompiledPart> parts, const CompiledCalls& calls)
      : graph_(graph),
        operators_(operators),
        parts_(parts),
        calls_(calls),
        end_(static_cast<std::int32_t>(calls.steps.size())),
        is_used_(graph.storage_count()) {}

  std::vector<Lifetime> run() {
    for (std::size_t part = 0; part < parts_.size(); ++part) find_counted(part);
    for (std::size_t i = 0; i < operators_.lifetimes().size(); ++i) add_static(i);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      add_inputs(part);
      add_buffers(part, begin_of(part), last_of(part));
    }
    return std::move(lifetimes_);
  }

  std::vector<Lifetime> run_regional() {
    std::vector<std::int32_t> region_of(graph_.node_count(), -1);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (const NodeId id : parts_[i].calls) region_of[id.index()] = static_cast<std::int32_t>(i);
    for (const Lifetime& life : operators_.lifetimes()) {
      const std::int32_t region = life.producer ? region_of[life.producer.index()] : -1;
      const bool is_inside = region >= 0 && life.storage && life.first >= 0 &&
                             life.last < calls_.spans[as_index(region)].end;
      if (!is_inside) add(life);
    }
    for (std::size_t part = 0; part < parts_.size(); ++part)
      add_buffers(part, calls_.spans[part].begin, calls_.spans[part].end - 1);
    return std::move(lifetimes_);
  }

 private:
  [[nodiscard]] std::int32_t begin_of(std::size_t part) const {
    return part == 0 ? -1 : std::min(calls_.spans[part].begin, end_ - 1);
  }
  // The last step of the part; for the last part, the end of the timeline.
  [[nodiscard]] std::int32_t last_of(std::size_t part) const {
    return part + 1 == parts_.size() ? end_ : calls_.spans[part].end - 1;
  }

  void add(Lifetime life) {
    // Only the first lifetime of a storage gets its id.
    if (life.storage) {
      if (is_used_[life.storage.index()])
        life.storage = {};
      else
        is_used_[life.storage.index()] = true;
    }
    lifetimes_.push_back(life);
  }

  // Static storages that the kernels of a part count.
  void find_counted(std::size_t part) {
    counted_.resize(parts_.size());
    counted_[part].resize(operators_.lifetimes().size());
    const PartMemory memory(graph_, operators_, parts_[part]);
    memory.each_input([&](std::size_t index, bool may_be_freed) {
      if (may_be_freed && memory.is_static(index)) counted_[part][index] = true;
    });
  }

  void add_static(std::size_t index) {
    Lifetime life = operators_.lifetimes()[index];
    if (!is_of_static(operators_, life)) return;
    life.first = -1;
    life.last = end_;
    const auto is_counted = [&](std::size_t part) { return counted_[part][index]; };
    bool is_anywhere = false;
    for (std::size_t part = 0; part < parts_.size(); ++part)
      is_anywhere = is_anywhere || is_counted(part);
    if (!is_anywhere) return add(life);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (is_counted(part)) continue;
      life.first = begin_of(part);
      life.last = last_of(part);
      add(life);
    }
  }

  void add_inputs(std::size_t part) {
    const PartMemory memory(graph_, operators_, parts_[part]);
    memory.each_input([&](std::size_t index, bool may_be_freed) {
      if (may_be_freed || memory.is_static(index)) return;
      Lifetime life = memory.known(index);
      life.first = begin_of(part);
      life.last = last_of(part);
      add(life);
    });
  }

  // `begin`, `last`: the steps at which the lifetimes of inputs begin and those of outputs end.
  // Leaves out the inputs and outputs of a region, which live as in eager mode.
  void add_buffers(std::size_t part, std::int32_t begin, std::int32_t last) {
    const PartMemory memory(graph_, operators_, parts_[part]);
    const std::vector<BufferLife>& lives = parts_[part].scheduled.lives;
    const std::vector<std::int32_t>& steps = calls_.step_of_kernel[part];
    if (steps.empty() || end_ == 0) return;
    const bool is_region = !parts_[part].calls.empty();
    const std::vector<std::int32_t> first = memory.first_by_buffer();
    std::map<StorageId, std::size_t> returned;
    for (const BufferLife& each : lives) {
      const Buffer& buffer = memory.buffer(each.buffer);
      if (buffer.has_many_results || PartMemory::size_of(each) == 0) continue;
      if (is_region && (buffer.is_input || buffer.is_output)) continue;
      Lifetime life;
      life.bytes = PartMemory::size_of(each);
      life.producer = memory.maker_of(buffer);
      if (const auto index = memory.storage_of(life.producer)) {
        life.storage = memory.known(*index).storage;
        life.category = memory.known(*index).category;
        if (buffer.is_input) life.producer = memory.known(*index).producer;
      }
      life.first = buffer.is_input ? begin : steps[as_index(memory.first_of(each, first))];
      life.last = each.last < 0 ? last : steps[as_index(each.last)];
      // A buffer that comes from no call of the graph belongs to the call of its first step.
      if (!life.producer) life.producer = calls_.steps[as_index(std::max(life.first, 0))];
      if (buffer.is_input && continues(life)) continue;
      if (each.last < 0 && life.storage) returned.emplace(life.storage, lifetimes_.size());
      add(life);
    }
    returned_ = std::move(returned);
  }

  // If the input is a value that the previous part returned, extends the lifetime of that value.
  bool continues(const Lifetime& input) {
    const auto found = input.storage ? returned_.find(input.storage) : returned_.end();
    if (found == returned_.end()) return false;
    Lifetime& before = lifetimes_[found->second];
    if (before.bytes != input.bytes || before.last + 1 != input.first) return false;
    before.last = input.last;
    return true;
  }

  const Graph& graph_;
  const MemoryTimeline& operators_;
  std::span<const CompiledPart> parts_;
  const CompiledCalls& calls_;
  std::int32_t end_;  // the number of steps
  std::vector<Lifetime> lifetimes_;
  std::vector<bool> is_used_;                  // by storage: a lifetime has its id
  std::vector<std::vector<bool>> counted_;     // by part, by lifetime of `operators`
  std::map<StorageId, std::size_t> returned_;  // by the part before; index in `lifetimes_`
};

}  // namespace

std::vector<Lifetime> compiled_lifetimes(const Graph& graph, const MemoryTimeline& operators,
                                         std::span<const CompiledPart> parts,
                                         const CompiledCalls& calls) {
  return LivesBuilder(graph, operators, parts, calls).run();
}

std::vector<Lifetime> regional_lifetimes(const Graph& graph, const MemoryTimeline& operators,
                                         std::span<const CompiledPart> regions,
                                         const CompiledCalls& calls) {
  return LivesBuilder(graph, operators, regions, calls).run_regional();
}

std::int64_t compiled_peak(const Graph& graph, const MemoryTimeline& operators,
                           const CompiledPart& part) {
  const PartMemory memory(graph, operators, part);
  std::int64_t bytes =
      saturating_add(part.scheduled.peak - memory.surplus(), operators.static_bytes());
  memory.each_input([&](std::size_t index, bool may_be_freed) {
    const std::int64_t size = memory.known(index).bytes;
    if (memory.is_static(index) && may_be_freed) bytes = saturating_add(bytes, -size);
    if (!memory.is_static(index) && !may_be_freed) bytes = saturating_add(bytes, size);
  });
  return bytes;
}

}  // namespace jointer

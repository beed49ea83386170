#include "core/kernels/operations.h"
#include "core/kernels/loop_index.h"
#include "core/kernels/slot.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace jointer::kernels {
namespace {

using Layout = BufferState::Layout;

void add_once(std::vector<Access>& accesses, Access access) {
  if (std::ranges::find(accesses, access) == accesses.end()) accesses.push_back(std::move(access));
}

// Numbers the values of this position that are loaded at run time. `count`: the number of values
// numbered so far. Positions of different ops are equal if the numbers are, whatever is loaded:
// Inductor numbers such values in each op, each time that it looks one up.
// Source: `extract_loop_body_with_args` in torch/_inductor/dependencies.py.
// Deviations: the dimension with the largest stride counts as the first one; values in quotients
// and remainders keep numbers that tell them apart.
void number_loaded(Index& index, std::int64_t& count) {
  SmallVector<std::size_t, 3> loaded;
  for (std::size_t i = index.terms.size(); i-- > 0;) {
    const IndexTerm& term = index.terms[i];
    if (term.divisor == 1 && term.modulus == 0 && term.inner.front().loop < 0) loaded.push_back(i);
  }
  if (loaded.empty()) return;
  std::ranges::stable_sort(loaded, [&index](std::size_t a, std::size_t b) {
    return index.terms[a].coefficient > index.terms[b].coefficient;
  });
  for (const std::size_t i : loaded) index.terms[i].inner.front().coefficient = -(++count);
  std::ranges::sort(index.terms);
}

class OperationBuilder {
 public:
  explicit OperationBuilder(Lowering& lowering) : lowering_(lowering), pool_(lowering.pool) {}

  Ir build(CancellationPoll& poll);

 private:
  void add_buffer(BufferId id);
  void add_op(OpId id);
  struct LoopAccesses {
    std::vector<Access> reads, writes;
    Sizes loops, reduced;
    UnmergedLoops unmerged;  // on the CPU
  };
  // Each element of a tensor with strides, in the order of its dimensions.
  Access whole_tensor(const Box& box);
  // Each element of a buffer, in the order of its dimensions.
  Access whole_buffer(BufferId id);
  LoopAccesses accesses(const Loops& of, BufferId written, ExpressionIndex store);
  // `is_merged`: the loops of this access are merged.
  [[nodiscard]] Access memory(BufferId buffer, ExpressionIndex position, const Sizes& sizes,
                              bool is_merged = false) const;
  [[nodiscard]] Access star(BufferId buffer) const;
  [[nodiscard]] ExpressionIndex store_of(const Loops& of, BufferId buffer);
  // Bytes of a buffer according to `get_numel` and `get_dtype`.
  [[nodiscard]] std::int64_t whole_bytes(BufferId id) const;
  [[nodiscard]] Lowering::Order order(std::span<const ExpressionIndex> positions,
                                      std::span<const int> loops, const Sizes& sizes) const;

  Lowering& lowering_;
  IndexPool& pool_;
  Ir ir_;
};

std::int64_t OperationBuilder::whole_bytes(BufferId id) const {
  const BufferState& of = lowering_.buffer(id);
  if (of.layout == Layout::many || (of.layout == Layout::none && of.target < 0)) return 0;
  if (of.layout == Layout::none) return item_size(of.dtype);
  return product(of.shape) * item_size(of.dtype);
}

Access OperationBuilder::star(BufferId buffer) const {
  Access made;
  made.buffer = buffer;
  made.bytes = whole_bytes(buffer);
  return made;
}

Access OperationBuilder::memory(BufferId buffer, ExpressionIndex position, const Sizes& sizes,
                                bool is_merged) const {
  Access made;
  made.buffer = buffer;
  made.kind = Access::Kind::memory;
  made.index = pool_.to_index(position);
  made.sizes = sizes;
  const std::uint64_t used = pool_.loops_in(position);
  const auto is_used = [used](std::size_t i) {
    return ((used >> std::min<std::size_t>(i, 63)) & 1U) != 0;
  };
  while (!made.sizes.empty() && !is_used(made.sizes.size() - 1)) made.sizes.pop_back();
  if (pool_.has_loaded(position)) {
    made.bytes = whole_bytes(buffer);
  } else {
    made.bytes = item_size(lowering_.buffer(buffer).dtype);
    for (std::size_t i = 0; i < made.sizes.size(); ++i)
      if (is_used(i)) made.bytes *= made.sizes[i];
  }
  if (is_merged) {
    NestedIndex nested = merge_loops(made.index, made.sizes);
    made.index = std::move(nested.index);
    made.sizes = std::move(nested.sizes);
  }
  return made;
}

Lowering::Order OperationBuilder::order(std::span<const ExpressionIndex> positions,
                                        std::span<const int> loops, const Sizes& sizes) const {
  SmallVector<std::int64_t, 32> strides;
  for (const ExpressionIndex position : positions)
    for (const int loop : loops) strides.push_back(pool_.stride(position, loop));
  Lowering::Order result = Lowering::pick_order(strides, sizes);
  std::ranges::reverse(result);
  return result;
}

ExpressionIndex OperationBuilder::store_of(const Loops& of, BufferId buffer) {
  if (of.kind == Loops::Kind::scatter) return of.store.front();
  Positions where = lowering_.variables(of.ranges);
  if (of.keeps_axis())
    where.insert(where.begin() + of.axis,
                 pool_.loop(static_cast<int>(of.ranges.size()), of.reduced.front()));
  return lowering_.flat(buffer, where);
}

OperationBuilder::LoopAccesses OperationBuilder::accesses(const Loops& of, BufferId written,
                                                          ExpressionIndex store) {
  struct Load {
    BufferId buffer;
    ExpressionIndex position;
    std::int64_t lookups;
  };
  SmallVector<Load, 12> loads;
  SmallVector<ExpressionIndex, 16> positions{store};
  BufferIds searched;
  for (const BodyOp& op : of.body) {
    if (op.buffer < 0) continue;
    if (op.op == "bucketize") {
      searched.push_back(op.buffer);
      continue;
    }
    const Load load{op.buffer, lowering_.position_of(op), op.lookups};
    positions.insert(positions.end(), static_cast<std::size_t>(op.times), load.position);
    const auto known = std::ranges::find_if(loads, [&load](const Load& each) {
      return each.buffer == load.buffer && each.position == load.position;
    });
    if (known == loads.end()) {
      loads.push_back(load);
    } else {
      known->lookups += load.lookups;
    }
  }
  LoopAccesses result;
  std::vector<Index> formulas;
  if (!of.is_on_gpu) {
    for (const ExpressionIndex position : positions) formulas.push_back(pool_.to_index(position));
    for (const BodyOp& op : of.body)
      if (op.op == "index_expr") formulas.push_back(pool_.to_index(op.at));
  }
  Positions moved(of.ranges.size() + of.reduced.size(), IndexPool::kZero);
  int next = 0;
  const auto place = [&](const Sizes& ranges, int first, Sizes& placed) {
    SmallVector<int, 6> loops;
    Sizes sizes;
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (ranges[i] != 1) {
        loops.push_back(first + static_cast<int>(i));
        sizes.push_back(ranges[i]);
      }
    const std::vector<std::size_t> by_stride = order(positions, loops, sizes);
    std::vector<std::size_t> numbers;
    Sizes merged;
    for (const std::size_t i : by_stride) {
      numbers.push_back(static_cast<std::size_t>(loops[i]));
      merged.push_back(sizes[i]);
    }
    if (!of.is_on_gpu) merged = merge_together(formulas, numbers, merged);
    for (std::size_t i = 0; i < merged.size(); ++i) {
      // On the CPU, 0 means that the loop was merged; on the GPU, that the tensor is empty.
      if (!of.is_on_gpu && merged[i] == 0) continue;
      moved[numbers[i]] = pool_.loop(next++, merged[i]);
      placed.push_back(merged[i]);
    }
    if (!of.is_on_gpu && !of.is_reduction() && first == 0) {
      result.unmerged.shape = ranges;
      result.unmerged.loops = sizes;
      result.unmerged.order = by_stride;
      Positions squeezed(ranges.size(), IndexPool::kZero);
      for (std::size_t i = 0; i < loops.size(); ++i)
        squeezed[static_cast<std::size_t>(loops[i])] = pool_.loop(static_cast<int>(i), sizes[i]);
      const auto keep = [&](ExpressionIndex position) {
        result.unmerged.positions.push_back(pool_.to_index(pool_.substitute(position, squeezed)));
      };
      for (const ExpressionIndex position : positions) keep(position);
      for (const BodyOp& op : of.body)
        if (op.op == "index_expr") keep(op.at);
    }
  };
  place(of.ranges, 0, result.loops);
  place(of.reduced, static_cast<int>(of.ranges.size()), result.reduced);
  Sizes sizes = result.loops;
  sizes.insert(sizes.end(), result.reduced.begin(), result.reduced.end());
  std::int64_t loaded = 0;
  result.writes.push_back(memory(written, pool_.substitute(store, moved), sizes, !of.is_on_gpu));
  result.writes.back().is_atomic = of.adds;
  number_loaded(result.writes.back().index, loaded);
  result.reads.reserve(loads.size());
  for (const auto& [buffer, position, lookups] : loads) {
    const Access read = memory(buffer, pool_.substitute(position, moved), sizes, !of.is_on_gpu);
    for (std::int64_t i = 0; i < (pool_.has_loaded(position) ? lookups : 1); ++i) {
      Access numbered = read;
      number_loaded(numbered.index, loaded);
      add_once(result.reads, std::move(numbered));
    }
  }
  for (const BufferId buffer : searched) add_once(result.reads, star(buffer));
  return result;
}

Access OperationBuilder::whole_tensor(const Box& box) {
  const Sizes shape = lowering_.shape(box), stride = lowering_.strides(box);
  ExpressionIndex position = pool_.constant(lowering_.offset(box));
  Sizes sizes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    const ExpressionIndex loop = pool_.loop(static_cast<int>(sizes.size()), shape[i]);
    position = pool_.add(position, pool_.multiply(loop, stride[i]));
    sizes.push_back(shape[i]);
  }
  return memory(lowering_.buffer_of(box), position, sizes);
}

Access OperationBuilder::whole_buffer(BufferId id) {
  Positions where;
  Sizes sizes;
  for (const std::int64_t size : lowering_.buffer(id).shape) {
    where.push_back(pool_.loop(static_cast<int>(sizes.size()), size));
    if (size != 1) sizes.push_back(size);
  }
  return memory(id, lowering_.flat(id, where), sizes);
}

void OperationBuilder::add_buffer(BufferId id) {
  const BufferState& of = lowering_.buffer(id);
  Buffer made;
  const auto number = slot(id);
  made.name =
      of.is_input ? std::string(of.name) : fmt::format("buf{}", number - lowering_.input_count);
  made.dtype = of.dtype;
  made.shape = of.shape;
  made.stride = of.stride;
  made.op = of.op;
  made.aliases = of.aliases;
  made.mutates = of.mutates;
  made.is_input = of.is_input;
  made.has_no_layout = of.layout == Layout::none;
  made.has_many_results = of.layout == Layout::many;
  made.is_in_other = of.layout == Layout::in_other;
  if (!made.has_no_layout && !made.has_many_results) {
    made.numel = product(of.shape);
    made.bytes = made.numel * item_size(of.dtype);
  }
  if (of.is_input) {
    constexpr std::array<std::string_view, 3> kKept{"primals_", "arg", "tangents"};
    made.may_be_freed = !of.is_constant && std::ranges::none_of(kKept, [&](std::string_view start) {
      return of.name.starts_with(start);
    }) && of.name.find("_rng_state") == std::string_view::npos;
  }
  ir_.buffers.push_back(std::move(made));
}

void OperationBuilder::add_op(OpId id) {
  const OpState& of = lowering_.ops[slot(id)];
  Op made;
  made.kind = of.kind;
  made.outputs = of.outputs;
  made.is_on_gpu = of.is_on_gpu;
  made.has_side_effects = of.has_side_effects;
  made.target = of.target;
  FxIds computed;
  if (of.loops >= 0) {
    const Loops& loops = lowering_.loops_of(of.loops);
    const BufferId written = of.outputs.front();
    LoopAccesses found = accesses(loops, written, store_of(loops, written));
    made.reads = std::move(found.reads);
    made.writes = std::move(found.writes);
    made.loops = std::move(found.loops);
    made.reduced = std::move(found.reduced);
    made.unmerged = std::move(found.unmerged);
    made.numel = product(made.loops);
    made.rnumel = product(made.reduced);
    made.body_ops = loops.operation_count();
    switch (loops.kind) {
      case Loops::Kind::pointwise:
        made.ir = "Pointwise";
        break;
      case Loops::Kind::scatter:
        made.ir = of.ir;
        break;
      case Loops::Kind::reduction:
        made.ir = fmt::format(
            "{}:{}", loops.op.ends_with("with_value") ? "ArgReduction" : "Reduction", loops.op);
        break;
      case Loops::Kind::softmax:
        made.ir = fmt::format(
            "{}:{}", loops.op.starts_with("welford") ? "WelfordReduction" : "MultiOutputReduction",
            loops.op);
        break;
      case Loops::Kind::scan:
        made.ir = loops.op == "split" ? "SplitScan" : "Scan";
        break;
      case Loops::Kind::sort:
        made.ir = "Sort";
    }
    if (loops.unsplit >= 0) {
      const Loops& whole = lowering_.loops_of(loops.unsplit);
      Positions where = lowering_.variables(whole.ranges);
      const Sizes stride = dense_strides(whole.ranges);
      ExpressionIndex store = IndexPool::kZero;
      for (std::size_t i = 0; i < where.size(); ++i)
        store = pool_.add(store, pool_.multiply(where[i], stride[i]));
      LoopAccesses unsplit = accesses(whole, written, store);
      made.split = loops.split;
      made.unsplit_loops = std::move(unsplit.loops);
      made.unsplit_reduced = std::move(unsplit.reduced);
      made.unsplit_reads = std::move(unsplit.reads);
      made.unsplit_writes = std::move(unsplit.writes);
    }
    for (const FxId origin : lowering_.origin_sets[slot(of.origins)])
      if (!lowering_.is_call[slot(origin)]) computed.push_back(origin);
    if (of.value_of >= 0 && lowering_.is_call[slot(of.value_of)]) {
      const FxNode& call = lowering_.fx().nodes[slot(of.value_of)];
      made.call = call.product ? call.product : call.origin;
    }
  } else if (of.kind == Op::Kind::template_) {
    made.ir = of.ir;
    for (const Box& box : of.read_boxes) add_once(made.reads, whole_tensor(box));
    made.loops = lowering_.buffer(of.outputs.front()).shape;
    made.numel = product(made.loops);
    made.writes.push_back(whole_buffer(of.outputs.front()));
    computed.push_back(of.call);
  } else {
    made.ir = of.ir;
    for (const BufferId read : of.reads) add_once(made.reads, star(read));
    if (of.kind == Op::Kind::multi_output && lowering_.is_new_torch()) {
      made.writes.push_back(whole_buffer(of.outputs.front()));
    } else {
      for (const BufferId output : of.outputs) made.writes.push_back(star(output));
    }
    if (of.call >= 0) {
      computed.push_back(of.call);
      made.product = lowering_.fx().nodes[slot(of.call)].product;
    }
  }
  for (const FxId origin : computed) {
    const NodeId source = lowering_.fx().nodes[slot(origin)].origin;
    if (source && std::ranges::find(made.nodes, source) == made.nodes.end())
      made.nodes.push_back(source);
  }
  ir_.ops.push_back(std::move(made));
}

Ir OperationBuilder::build(CancellationPoll& poll) {
  ir_.buffers.reserve(lowering_.buffers.size());
  ir_.ops.reserve(lowering_.ops.size());
  for (std::size_t i = 0; i < lowering_.buffers.size(); ++i) add_buffer(static_cast<BufferId>(i));
  for (std::size_t i = 0; i < lowering_.ops.size(); ++i) {
    if (poll.is_cancelled_throttled()) return {};
    add_op(static_cast<OpId>(i));
  }
  ir_.lists = lowering_.lists;
  for (const BufferId output : lowering_.outputs) ir_.buffers[slot(output)].is_output = true;
  return std::move(ir_);
}

}  // namespace

Ir make_operations(Lowering& lowering, CancellationPoll& poll) {
  return OperationBuilder(lowering).build(poll);
}

}  // namespace jointer::kernels

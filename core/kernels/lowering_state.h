#pragma once

// The state and the rules of a lowering (`torch._inductor.graph.GraphLowering`). The files
// lowering_*.cpp implement its parts: loops and storages, views, layouts, element-wise operations,
// reductions, indexing, calls.

#include <array>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/torch_version.h"
#include "core/kernels/cancellation_poll.h"
#include "core/kernels/loops.h"
#include "core/kernels/pool_windows.h"

namespace jointer::kernels {

class Lowering {
 public:
  Lowering(const FxGraph& fx, TorchVersion version);

  // Lowers all nodes, and then decides all layouts. Returns early if cancelled.
  void run(CancellationPoll& poll);

  // The result. `buffers` has the inputs first, then the buffers that operations define.
  std::vector<BufferState> buffers;
  std::vector<OpState> ops;
  std::vector<Loops> loops;
  std::vector<FxIds> origin_sets{{}};
  std::vector<BufferId> outputs;
  std::vector<std::vector<OpId>> lists;  // by call on lists: the ops made for it
  std::vector<bool> is_call;             // by node: an operation other than loops was made for it
  std::size_t input_count = 0;
  IndexPool pool;

  [[nodiscard]] const FxGraph& fx() const { return fx_; }
  [[nodiscard]] TorchVersion version() const { return version_; }

  // The position in a buffer, whose strides must be known, from that in each dimension.
  [[nodiscard]] ExpressionIndex flat(BufferId buffer, const Positions& dims);
  [[nodiscard]] ExpressionIndex position_of(const BodyOp& load);

  // A heuristic order of loops, innermost first. `strides` holds those of the first access in each
  // loop, then of the others.
  // Source: torch/_inductor/scheduler.py, pick_loop_order.
  using Order = DimOrder;
  static Order pick_order(std::span<const std::int64_t> strides, const Sizes& sizes);

  // --- Boxes and storages ---
  std::vector<StorageState> storages;
  std::vector<ViewState> views;
  std::vector<Boxes> env;                // by node
  std::vector<bool> with_channels_last;  // nodes_with_channels_last
  std::vector<bool> without_padding;     // nodes_without_padding
  SetId current = 0;                     // the origins of new loops and ops
  FxId node = -1;                        // the node that is being lowered

  SetId union_of(SetId a, SetId b);
  void add_gathered_origins(const Box& box);
  [[nodiscard]] bool is_new_torch() const { return version_ > TorchVersion{2, 11}; }

  Box box_of(Loops made);  // an unrealized tensor
  Box box_of_buffer(BufferId buffer);
  [[nodiscard]] const Sizes& shape(const Box& box) const;
  [[nodiscard]] DType dtype(const Box& box) const;
  [[nodiscard]] bool is_on_gpu(const Box& box) const;
  [[nodiscard]] bool is_realized(const Box& box) const { return storage(box).buffer >= 0; }
  [[nodiscard]] const StorageState& storage(const Box& box) const {
    return storages[static_cast<std::size_t>(box.storage)];
  }
  [[nodiscard]] BufferId buffer_of(const Box& box) const { return storage(box).buffer; }
  [[nodiscard]] BufferState& buffer(BufferId id) { return buffers[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const BufferState& buffer(BufferId id) const {
    return buffers[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const ViewState& view(const Box& box) const {
    return views[static_cast<std::size_t>(box.view)];
  }
  [[nodiscard]] const Loops& loops_of(std::int32_t id) const {
    return loops[static_cast<std::size_t>(id)];
  }

  BufferId add_buffer(BufferState made);
  OpId add_op(OpState made);
  void realize(const Box& box);
  void realize_hint(const Box& box);
  void mark_reuse(const Box& box, std::int64_t users, bool is_fanout);
  [[nodiscard]] bool should_realize_on_reuse(const Box& box, std::int64_t users,
                                             bool is_fanout) const;
  [[nodiscard]] bool has_exceeded_reads(const Box& box) const;
  void mark_mutated(BufferId buffer);
  void note_readers(const Box& box);

  // --- Bodies ---
  static std::int16_t append(Loops& into, BodyOp op);
  std::int16_t append(Loops& into, std::string_view op, std::span<const std::int16_t> operands,
                      double number = 0);
  // `is_real`: the call has a real number, which may be whole.
  std::int16_t constant(Loops& into, double number, DType type = DType::float32,
                        bool is_real = false);
  std::int16_t index_value(Loops& into, ExpressionIndex value);
  // Adds the operations that compute the element of a tensor at `at`.
  std::int16_t read(Loops& into, const Box& from, Positions at);
  std::int16_t copy_body(Loops& into, const Loops& from, const Positions& at);
  // True if the position of a load depends on a loaded value.
  [[nodiscard]] bool has_loaded(const BodyOp& op) const;
  [[nodiscard]] Positions variables(const Sizes& ranges, int first = 0);
  // Makes a dimension of the loops the reduced loop, as in a scan or a sort. Returns the loops in
  // the order of the dimensions.
  Positions go_along(Loops& made, std::int64_t axis);
  Loops make_loops(const Box& like, DType type, Sizes ranges) const;
  // A value as an expression, if it is computed from loops and constants; -1 if it is not.
  ExpressionIndex known_index(const Loops& body, std::int16_t value);
  // The value as an index into a dimension of `size`: as `known_index`, or else as a loaded value.
  ExpressionIndex indirect(const Loops& body, std::int16_t value, std::int64_t size);

  // --- Views ---
  // Maps positions in a view to positions in the tensor that it views.
  [[nodiscard]] Positions positions_below(const ViewState& step, const Positions& at);
  // The same for a strided view: the position in the buffer.
  [[nodiscard]] ExpressionIndex strided_position(const ViewState& step, const Positions& at);
  Box add_view(const Box& of, ViewState made);
  Box strided_view(const Box& of, Sizes sizes, Sizes stride, std::int64_t offset);
  Box reshape(const Box& of, const Sizes& sizes);
  Box permute(const Box& of, const Sizes& order);
  Box expand(const Box& of, Sizes sizes, bool is_fanout = false);
  Box slice(const Box& of, std::size_t dim, std::int64_t start, std::int64_t end,
            std::int64_t step);
  Positions reshape_positions(const Sizes& from, const Sizes& to, const Positions& at);
  Boxes broadcast(Boxes inputs);

  // --- Layouts ---
  [[nodiscard]] bool has_layout(const Box& box) const;
  [[nodiscard]] Sizes strides(const Box& box) const;  // of a box that has a layout
  [[nodiscard]] std::int64_t offset(const Box& box) const;
  [[nodiscard]] bool is_flexible(const Box& box) const;
  [[nodiscard]] Sizes padded(const Sizes& stride, const Sizes& sizes, DType type,
                             bool is_on_gpu) const;
  void freeze(BufferId id);
  void freeze_in_order(BufferId id, const Sizes& order, bool may_pad);
  void freeze_exactly(BufferId id, const Sizes& stride, bool may_pad);
  void decide_layout(BufferId id);
  Box require_order(Box& box, const Sizes& order, bool may_pad = false);
  Box require_exact(Box& box, const Sizes& stride, bool may_pad = false);
  Box require_contiguous(Box& box);
  Box require_strides(Box& box, const Sizes* order, const Sizes* exact, bool may_pad);
  Box match_small_dimensions(const Box& box, const Sizes& stride);
  bool to_strided_view(Box& box);
  Box copy_input(const Box& box);
  Box realize_input(Box& box);
  // True if convolutions with a tensor of these sizes have the channels innermost.
  [[nodiscard]] bool is_laid_out_last(const Sizes& sizes) const;
  Box require_channels_last(Box& box);
  static Sizes stride_order(const Sizes& stride);
  static bool is_ordered(const Sizes& sizes, const Sizes& stride, const Sizes& order);

  // --- Operations ---
  // `reals`: as in FxNode.
  Box pointwise(std::string_view op, Boxes inputs, std::span<const double> scalars, DType type,
                unsigned reals = 0);
  Box to_dtype(const Box& box, DType type);
  Box clone(const Box& box);
  Box full(double value, DType type, bool is_on_gpu, const Sizes& sizes, bool is_real = false);
  Box reduce(std::string_view op, const Box& input, const Sizes& dims, bool keeps, DType type);
  // `input`: the tensor that is reduced, if there is one. A reduction of fewer than
  // `unrolled_below` elements has no loop (`unroll_reductions_threshold`), except on the CPU if it
  // has one result and several elements.
  Box make_reduction(Loops made, const Box* input = nullptr,
                     std::int64_t unrolled_below = kUnrolled);
  static constexpr std::int64_t kUnrolled = 8;
  std::int16_t is_better(Loops& into, std::string_view op, DType compared,
                         std::array<std::int16_t, 2> a, std::array<std::int16_t, 2> b);
  // For a reduction of all elements of its input: realizes the input, and returns the dimension
  // with stride 1 unless it is the last; a split reduction goes along it. -1 if there is none.
  int dense_dimension(const Loops& made, const Box* input);
  std::int64_t split_count(const Loops& made);
  // The first layer of a reduction that is split into this many pieces.
  Loops split_layer(const Loops& made, std::int64_t split, int dense = -1);
  // The second layer, which reduces the results of the first one over loops of these sizes. Its
  // body is empty: the caller adds the operations that read the results.
  static Loops second_layer(const Loops& made, Sizes reduced);
  Sizes loops_of_read_reduction(const Loops& made, const Box* input);
  Loops along_loops(const Loops& made, const Sizes& along);
  Box make_split_reduction(Loops made, std::int64_t split, int dense);
  // Mean, sum of squares of differences, and count.
  Boxes make_welford(const Loops& made);
  // True if a variance is computed after the mean, in a second reduction.
  bool has_two_steps(const Box& input, DType given, const Sizes& dims);
  Box mean_of(const Box& input, const Sizes& dims, bool keeps);
  Box index_put(Box self, Box values, const Boxes& indices, bool adds);
  Box mutate_to(Box changed, Box value);
  // The op that computes the value writes it to the tensor (`unsafe_alias`): it must not be
  // realized yet, and is read only through the tensor from then on.
  void write_to(const Box& changed, const Box& value);
  bool reads_only_where_it_writes(const Loops& of, BufferId target);
  void scatter_into(const Box& target, Loops made);
  // Concatenates boxes. `ids`: the nodes whose values they are, -1 for none.
  Box join(Boxes inputs, std::size_t dim, const FxIds& ids);
  // The reduction that all inputs of a concatenation, and nothing else, read, if it reduces as many
  // elements as the result has; -1 if there is none.
  BufferId recombined_reduction(const Boxes& inputs);
  [[nodiscard]] bool is_joined_last(const Boxes& inputs) const;
  Box concatenate(const Boxes& inputs, std::size_t dim);
  Box pointwise_cat(const Boxes& inputs, std::size_t dim);
  // The sizes of the result of indexing, and the indexed dimensions of the tensor.
  struct IndexPlan {
    Sizes result;
    Boxes indices;                       // broadcast; empty boxes where there is none
    std::vector<std::size_t> positions;  // the indexed dimensions
    bool is_apart = false;               // the indices are not consecutive
  };
  IndexPlan plan_index(const Sizes& sizes, const Boxes& indices);
  Positions index_positions(Loops& into, const IndexPlan& plan, const Sizes& sizes,
                            const Positions& at);

  // --- Nodes ---
  void lower_node(FxId id);
  void finish_node(FxId id, Box& result);
  // Like finish_node, for an input or a constant, which is copied if it must have other strides.
  void finish_input(FxId id);
  void lower_output(const FxNode& end);
  Box lower_placeholder(const FxNode& of);
  Box lower_constant(const FxNode& of);
  Box lower_pointwise(const FxNode& of);
  Boxes lower_foreach(const FxNode& of);
  Box lower_mean(const FxNode& of);
  Box lower_cat(const FxNode& of);
  Box lower_empty(const FxNode& of);
  Box lower_slice_scatter(const FxNode& of);
  Box lower_scatter(const FxNode& of);
  Box lower_embedding(const FxNode& of);
  Box lower_gather(const FxNode& of);
  Box lower_index(const FxNode& of);
  Box lower_masked_index_add(const FxNode& of);
  Box lower_scan(const FxNode& of);
  Boxes lower_sort(const FxNode& of);
  Boxes lower_arg_with_value(const FxNode& of);
  Box lower_bucketize(const FxNode& of);
  Box lower_flip(const FxNode& of);
  Box lower_pad(const FxNode& of);
  Box lower_repeat(const FxNode& of);
  Box lower_unfold(const FxNode& of);
  Box lower_as_strided(const FxNode& of);
  Box lower_select_scatter(const FxNode& of);
  Box lower_diagonal(const FxNode& of);
  Boxes lower_max_pool(const FxNode& of);
  Box lower_pool_positions(const FxNode& of);
  Box lower_average_pool(const FxNode& of);
  Box lower_average_pool_gradient(const FxNode& of);
  Boxes lower_adaptive_pool(const FxNode& of);
  // Calls `use` with each element of a window of an adaptive pool over `from`: the value that masks
  // elements outside the window, and the element's position.
  void for_each_in_window(Loops& made, const Box& from, const Sizes& windows,
                          const std::function<void(std::int16_t mask, const Positions& at)>& use);
  // Loops that read the windows of `from`. `ranges`: the shape of the result, which has one element
  // per window. Elements outside `from` are masked.
  Loops window_loops(const Box& from, const PoolWindows& windows, const Sizes& ranges);
  Box lower_random_seeds(const FxNode& of);
  Box lower_random_seed(const FxNode& of);
  Box lower_random(const FxNode& of);
  Boxes lower_softmax(const FxNode& of);
  Loops joined_softmax(const Loops& made, std::int64_t split, int dense);
  Boxes lower_moments(const FxNode& of);
  // `counts_joins`: concatenation and padding count as pointwise, too.
  [[nodiscard]] bool is_pointwise_use(FxId user, bool counts_joins) const;
  [[nodiscard]] Box& argument(FxId id) { return env[static_cast<std::size_t>(id)].front(); }
  [[nodiscard]] Boxes arguments(const FxNode& of, std::size_t from = 0);

  // --- Calls ---
  // The inputs of the node, with the strides that it demands of them.
  Boxes constrained(const FxNode& of);
  Box constrained_for_attention(Box& box, const FxTensor& meta);
  BufferIds call_inputs(Boxes& inputs);
  // The op of a call that is made for the node being lowered. `ir`, `target`: must outlive it.
  [[nodiscard]] OpState call_op(Op::Kind kind, std::string_view ir, std::string_view target) const;
  // The op of a call that communicates, or that waits for communication.
  [[nodiscard]] OpState communication_op(Op::Kind kind, std::string_view ir,
                                         std::string_view target, BufferIds reads) const;
  // Adds the op and the only buffer that it defines.
  Box add_call(OpState op, BufferState result);
  Box lower_matmul(const FxNode& of);
  Boxes lower_fallback(const FxNode& of);
  Boxes call_library(const FxNode& of, Boxes inputs);
  // An external kernel that changes its first input.
  void call_in_place(std::string_view ir, std::string_view target, Boxes inputs);
  static bool lacks_atomic_addition(DType type);
  Box lower_convolution(const FxNode& of);
  Boxes lower_convolution_gradient(const FxNode& of);
  Box lower_collective(const FxNode& of);
  Box lower_all_reduce(const FxNode& of, bool is_in_place);
  Box lower_wait(const FxNode& of);
  Box lower_device_copy(const FxNode& of);
  Box empty(const FxTensor& tensor);
  Boxes lower_flex_attention(const FxNode& of);
  Boxes lower_flex_gradient(const FxNode& of);
  // Adds a kernel of a template, which returns `result` and fills the tensors `written`.
  Box add_template(std::string_view target, const FxTensor& result, Boxes inputs,
                   const Boxes& written);
  BufferId add_mutation(OpState& op, BufferId mutated);
  BufferState result_buffer(const FxTensor& tensor) const;

 private:
  const FxGraph& fx_;
  TorchVersion version_;
};

}  // namespace jointer::kernels

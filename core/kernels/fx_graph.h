#pragma once

// A graph of the operators that Inductor lowers. Decomposition makes it, and the passes that run
// before lowering change it.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/id.h"
#include "core/base/small_vector.h"
#include "core/graph/dtype.h"
#include "core/kernels/ir.h"

namespace jointer::kernels {

using FxId = std::int32_t;  // position in FxGraph::nodes; -1: none
using FxIds = SmallVector<FxId, 4>;
using Numbers = SmallVector<double, 2>;

// The tensor that a node returns.
struct FxTensor {
  DType dtype = DType::float32;
  bool is_on_gpu = true;
  Sizes shape, stride;
};

}  // namespace jointer::kernels

template <>
inline constexpr bool jointer::kMovesAsBytes<jointer::kernels::FxTensor> = true;

namespace jointer::kernels {

enum class FxKind : std::uint8_t {
  placeholder,
  constant,  // a tensor with known values; a scalar if it has no dimensions
  output,    // inputs: the values that the graph returns
  alias,     // the input itself
  reshape,   // numbers: the sizes
  permute,   // numbers: the order of dimensions
  expand,    // numbers: the sizes
  slice,     // numbers: dimension, start, end, step
  split,     // numbers: dimension, then the size of each part; a tuple
  getitem,   // numbers: the index in the tuple
  // op: the operation; each input and each scalar is an operand. numbers: for "pow", 1 if the
  // exponent is an integer
  pointwise,
  // op: same as pointwise, for each tensor of a list; inputs: the first operands, then the second
  // ones, ...; numbers: length of the list, 1 if it changes the first operands; scalars: for all
  // elements, or one for each; a tuple
  foreach_,
  convert,  // to the type of the result
  clone,
  full,  // scalars: the value
  iota,
  empty,
  cat,             // numbers: dimension
  reduce,          // op: "sum", "max", ...; numbers: 1 if dimensions are kept, then the dimensions
  mean,            // numbers: same as reduce
  online_softmax,  // numbers: dimension; a tuple of the maximum and the sum
  // op: "var" if nothing needs the mean; numbers: dimensions; scalars: the number of their
  // elements, less a correction, then 1 if the dimensions are dropped; a tuple of variance and mean
  moments,
  arg_with_value,  // op: "argmax_with_value", ...; numbers: same as reduce; a tuple
  scan,            // numbers: dimension
  sort,            // numbers: dimension; a tuple of the values and their positions
  bucketize,       // inputs: values, and the sorted boundaries between which they are looked up
  flip,            // numbers: dimensions
  pad,             // numbers: before and after, by dimension; scalars: the value
  repeat,          // numbers: repeat counts, by dimension
  unfold,          // numbers: dimension, size, step
  as_strided,      // numbers: the offset, then sizes and strides
  select_scatter,  // numbers: dimension, index; inputs: the tensor, the source
  diagonal,        // numbers: offset, the two dimensions
  max_pool,        // numbers: PoolWindows; a tuple of the maxima and their positions in the window
  pool_positions,  // numbers: PoolWindows, then the sizes of the pooled dimensions
  // numbers: 1 if padding counts, then PoolWindows; scalars: the divisor, if it is given
  average_pool,
  average_pool_gradient,  // numbers, scalars: same as average_pool
  // Windows of different sizes. numbers: the maximum sizes of a window; averages, or a tuple of the
  // maxima and their positions
  adaptive_pool,
  random_seeds,  // numbers: the number of seeds
  random_seed,   // numbers: its index; inputs: the seeds
  random,        // op: "rand", "randn", "randint64"; inputs: the seed
  index,         // inputs: the tensor, then an index (-1: none) for each of its first dimensions
  index_put,     // inputs: the tensor, the values, the indices; numbers: 1 if it adds
  index_put_in_place,
  masked_index_add,  // inputs: the tensor, the values, the mask, the indices
  embedding,         // inputs: weights, indices
  gather,            // numbers: dimension; inputs: the tensor, the index
  // numbers: dimension, 1 if it adds; op: a reduction other than a sum; inputs: the tensor, the
  // index, the source
  scatter,
  scatter_in_place,
  slice_scatter,  // numbers: same as slice; inputs: the tensor, the source
  copy_in_place,  // inputs: the destination, the source
  matmul,         // a library's matrix product (ExternKernelOut)
  alloc_call,     // a call that allocates its result (ExternKernelAlloc)
  // numbers: groups; inputs: the input, the weight, a bias if there is one
  convolution,
  // numbers: groups, 1 for each of the gradients of input and weight that is computed; inputs: the
  // gradient, the input, the weight; a tuple of the gradients that are computed
  convolution_gradient,
  fallback,    // any other call
  all_reduce,  // out of place
  all_reduce_in_place,
  collective,
  wait,
  device_copy,
  // inputs: query, key, value, then the eight tensors of the block mask (-1: none), then the
  // values that the score and the mask read; a tuple
  flex_attention,
  // inputs: query, key, value, result, logsumexp, gradient, gradient of logsumexp, then as above
  flex_attention_gradient,
};

// The strides that a call demands of its inputs.
enum class Constraint : std::uint8_t { none, contiguous, order, exact, attention, dense };

struct FxNode {
  FxKind kind = FxKind::pointwise;
  std::string_view target;  // as in torch: "aten.mm.default"
  std::string_view op;      // the operation, for kinds that have one
  std::string_view name;    // of placeholders and constants
  NodeId origin;            // the node of the graph that it comes from; none if a pattern made it
  NodeId product;           // for a sum merged with a matrix product: the origin of the product
  FxIds inputs;
  Sizes numbers;
  Numbers scalars;
  std::uint8_t reals = 0;  // bit i: scalar i is a real number in the call (1.0, not 1)
  SmallVector<FxTensor, 1> results;
  bool is_tuple = false;  // returns a tuple, whose elements getitem selects
  bool is_view = false;   // returns the storage of its first input
  bool has_side_effects = false;
  Constraint constraint = Constraint::none;
  SmallVector<bool, 16> written;  // for fallbacks, by input: true if the call writes to it
  FxIds users;                    // distinct, in order

  [[nodiscard]] const FxTensor& result() const { return results.front(); }
  [[nodiscard]] bool is_product_and_sum() const {
    return target == "aten.addmm.default" || target == "aten.baddbmm.default";
  }
  // Source: torch._inductor.lowering (`needs_realized_inputs`).
  [[nodiscard]] bool needs_realized_inputs() const {
    return (kind == FxKind::matmul && !is_product_and_sum()) || kind == FxKind::alloc_call ||
           kind == FxKind::convolution || kind == FxKind::convolution_gradient ||
           kind == FxKind::average_pool || kind == FxKind::average_pool_gradient ||
           (kind == FxKind::fallback && !is_complex_fallback);
  }
  // A call on complex numbers, for which Inductor generates no code.
  bool is_complex_fallback = false;
};

struct FxGraph {
  std::vector<FxNode> nodes;  // in order; the last one is the output
  bool is_backward = false;
};

bool is_contiguous(const Sizes& shape, const Sizes& stride);
Sizes dense_strides(const Sizes& shape);
// Dimensions or loops, innermost first.
using DimOrder = SmallVector<std::size_t, 6>;
// Sorts dimensions by stride, smallest first; among equal strides, the inner one comes first.
DimOrder fill_order(const Sizes& stride);
// The strides of a dense tensor whose dimensions have this order.
Sizes filled_strides(const Sizes& shape, const DimOrder& order);
bool is_low_precision(DType type);  // float16, bfloat16

// Fills `users`. Cost: linear.
void count_users(FxGraph& graph);

}  // namespace jointer::kernels

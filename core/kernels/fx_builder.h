#pragma once

// Appends nodes to an FxGraph, with the tensors that they return.

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kernels/fx_graph.h"

namespace jointer::kernels {

// A node that returns one tensor.
FxNode node_of(FxKind kind, std::string_view target, FxIds inputs, Sizes numbers, FxTensor result);

class FxBuilder {
 public:
  FxGraph graph;
  NodeId origin;  // the origin of the nodes that are added next

  [[nodiscard]] const FxNode& node(FxId id) const {
    return graph.nodes[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const FxTensor& tensor(FxId id) const { return node(id).result(); }
  [[nodiscard]] const Sizes& shape(FxId id) const { return tensor(id).shape; }
  [[nodiscard]] DType dtype(FxId id) const { return tensor(id).dtype; }
  [[nodiscard]] std::int64_t rank(FxId id) const {
    return static_cast<std::int64_t>(shape(id).size());
  }

  FxId add(FxNode made);
  // An element-wise operation, whose result has the common shape of the inputs.
  FxId pointwise(std::string_view op, FxIds inputs, Numbers scalars, DType dtype);
  // The same, with the type to which the inputs are promoted.
  FxId pointwise(std::string_view op, FxIds inputs, Numbers scalars = {});
  // Returns the input itself if it already has the type.
  FxId convert(FxId input, DType dtype);
  // A copy with dense strides.
  FxId dense_copy(FxId input);
  // The input, converted to computation_type; -1 for -1.
  FxId to_computation_type(FxId input);
  // The input itself if its strides are dense, otherwise a copy with dense strides.
  FxId contiguous(FxId input);
  // The elements [start, end) along a dimension, as a view.
  FxId slice(FxId input, std::int64_t dim, std::int64_t start, std::int64_t end);
  FxId full(const Sizes& shape, DType dtype, bool is_on_gpu, double value);
  FxId reduce(std::string_view op, FxId input, Sizes dims, bool keeps, DType dtype,
              bool is_mean = false);
  // The variance and the mean over these dimensions, which are kept with the size 1.
  std::array<FxId, 2> moments(FxId input, const Sizes& dims);
  FxId reshape(FxId input, Sizes shape, std::string_view target = "aten.reshape.default");
  FxId unsqueeze(FxId input, std::int64_t dim);
  FxId permute(FxId input, Sizes order);
  FxId getitem(FxId tuple, std::int64_t which, FxTensor result);
  // Adds a call that returns two tensors, its `results`, and selects both.
  std::array<FxId, 2> add_two(FxNode made);
  // The tensor with the seeds of all random numbers on a device, and the index of the next seed
  // (`fuse_seed_creation_pass`).
  FxId seeds(bool is_on_gpu);
  std::int64_t next_seed(bool is_on_gpu);

 private:
  FxId seeds_[2] = {-1, -1};  // for the CPU, for the GPU
  [[nodiscard]] FxTensor like(const FxIds& inputs, DType dtype) const;
};

// The result type of an element-wise operation on tensors of these types, both with dimensions.
DType promoted(DType left, DType right);
DType computation_type(DType type);  // float32 for float16 and bfloat16, otherwise the type

// A dimension of a tensor of this rank, or an index into this many elements: a negative one counts
// from the end.
inline std::int64_t wrapped_dim(std::int64_t dim, std::int64_t rank) {
  return dim < 0 ? dim + rank : dim;
}
// The elements [first, second) that a slice from `start` to `end` selects of `size` elements, as in
// Python.
std::pair<std::int64_t, std::int64_t> slice_bounds(std::int64_t start, std::int64_t end,
                                                   std::int64_t size);
// The last dimensions, `inner`, over which a norm is computed, and the others.
struct NormDims {
  NormDims(const Sizes& shape, std::int64_t normalized);
  Sizes inner, outer;
  double count = 1;  // number of elements in the inner dimensions
};

}  // namespace jointer::kernels

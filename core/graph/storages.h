#pragma once

// Derives storages for graphs that lack them. Text captures and literals describe each tensor, but
// not the tensor that it is a view of; that follows from the operator's schema.

#include <functional>
#include <span>
#include <vector>

#include "core/base/checked.h"
#include "core/graph/graph.h"

namespace jointer {

// Derives the storages of an operator's outputs from its tensor arguments.
class StorageDeriver {
 public:
  StorageDeriver(Graph& graph, PartId part) : graph_(graph), part_(part) {}

  // The storage of the operator's output number `output`. A getitem returns that of the element, a
  // silent_alias that of its first argument, and an output that aliases an argument according to
  // the schema (`Tensor(a)`, `Tensor(a!)`, `Tensor(a -> *)`) has that argument's storage. Any other
  // output gets a new storage of `bytes`.
  StorageId storage_of(const OperatorInfo& op, const Argument& args, const Argument& kwargs,
                       std::size_t output, Dim bytes);
  // As above, but returns none if the output does not share an argument's memory.
  [[nodiscard]] StorageId shared_storage(const OperatorInfo& op, const Argument& args,
                                         const Argument& kwargs, std::size_t output) const;

  // Adds a storage. Call `grow` if a later view needs more space.
  StorageId fresh(Dim bytes) { return graph_.add_storage(part_, bytes); }
  // Grows the storage to at least `bytes`, unless its size is symbolic.
  void grow(StorageId storage, std::int64_t bytes);

 private:
  [[nodiscard]] StorageId first_storage(const Argument& argument) const;

  Graph& graph_;
  PartId part_;
};

// The number of bytes from the start of the storage to the end of the tensor's last element: the
// minimum size of the storage. 0 for a tensor without elements.
std::int64_t storage_extent(std::span<const Dim> shape, std::span<const Dim> stride, Dim offset,
                            DType dtype);

// True if the tensor is dense with its dimensions in the order `order`, slowest first; row-major by
// default. A tensor without elements is dense.
template <class Order = std::identity>
bool is_dense(std::span<const Dim> shape, std::span<const Dim> stride, Order order = {}) {
  bool fits = true;
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::size_t d = order(i);
    if (shape[d].value == 0) return true;
    if (shape[d].value == 1) continue;
    fits = fits && stride[d].value == step;
    step = saturating_mul(step, shape[d].value);
  }
  return fits;
}

// The strides of a dense row-major tensor.
std::vector<Dim> contiguous_strides(std::span<const Dim> shape);
std::vector<std::int64_t> contiguous_strides(std::span<const std::int64_t> shape);

}  // namespace jointer

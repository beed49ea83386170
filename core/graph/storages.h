#pragma once

// Storages of graphs that come without: text captures and literals say what each tensor looks like,
// not what it is a view of. The operator's schema does.

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The tensors among a node's arguments that an operator's outputs may share storage with.
class StorageDeriver {
 public:
  StorageDeriver(Graph& graph, PartId part) : graph_(graph), part_(part) {}

  // The storage that output number `output` of an operator lives in: that of the argument which the
  // schema says it aliases (`Tensor(a)`, `Tensor(a!)`, `Tensor(a -> *)`), of the tuple element that
  // a getitem takes, else a new one of `bytes`.
  StorageId storage_of(const OperatorInfo& op, const Argument& args, const Argument& kwargs,
                       std::size_t output, Dim bytes);
  // The same, but none where the output is not in memory that an argument has.
  [[nodiscard]] StorageId shared_storage(const OperatorInfo& op, const Argument& args,
                                         const Argument& kwargs, std::size_t output) const;

  // A new storage. A later view may turn out to need more of it: see grow.
  StorageId fresh(Dim bytes) { return graph_.add_storage(part_, bytes); }
  // Makes the storage at least as large.
  void grow(StorageId storage, std::int64_t bytes);

 private:
  [[nodiscard]] StorageId first_storage(const Argument& argument) const;

  Graph& graph_;
  PartId part_;
};

// Bytes from a storage's start to the end of the last element: what it must hold at least.
std::int64_t storage_extent(std::span<const Dim> shape, std::span<const Dim> stride, Dim offset,
                            DType dtype);

// Strides of a dense row-major tensor.
std::vector<Dim> contiguous_strides(std::span<const Dim> shape);
std::vector<std::int64_t> contiguous_strides(std::span<const std::int64_t> shape);

}  // namespace jointer

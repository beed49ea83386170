#pragma once

// Derives the strides and storage offsets, in elements, that the text lacks. Private to
// core/capture/fx_*.cpp.

#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace jointer::fx {

struct Layout {
  std::vector<Dim> stride;
  std::optional<Dim> offset;  // nullopt if unknown
  bool is_exact = true;       // if false, the strides assume a dense tensor
};

// Derives the layout of an operator's output in its storage. The layout of a view follows from the
// layout of its base and the operator's arguments, or is assumed dense (Layout::is_exact). The
// result of an in-place operator has the layout of its base. Any other output is dense and has
// offset 0.
class LayoutDeriver {
 public:
  LayoutDeriver(Graph& graph, PartId part) : graph_(graph), part_(part) {}

  // `node` must have its target, args and kwargs set, but need not be in the graph. `output` is an
  // index into the tensors that the operator returns; `shape` and `dtype` describe that tensor.
  Layout derive(const Node& node, std::size_t output, std::span<const Dim> shape, DType dtype);

  // Row-major strides; symbolic if any size is symbolic.
  std::vector<Dim> dense(std::span<const Dim> shape);
  // The size in bytes of the smallest storage that holds this tensor. If a number is symbolic, the
  // tensor is assumed dense.
  Dim storage_bytes(std::span<const Dim> shape, std::span<const Dim> stride, Dim offset,
                    DType dtype);
  // True if storage_bytes assumes a dense tensor, because a number is symbolic, although the tensor
  // may not be dense or may not start at offset 0.
  bool is_assumed_dense(std::span<const Dim> shape, std::span<const Dim> stride, Dim offset);

 private:
  struct Base {
    const Tensor* tensor = nullptr;
    std::span<const Dim> shape, stride;
    std::optional<Dim> offset;
  };
  using Derived = std::optional<Layout>;

  [[nodiscard]] Base base_of(const Node& node) const;
  Derived view(const Node& node, const Base& base, std::size_t output, std::span<const Dim> shape,
               DType dtype);
  Derived permuted(const Node& node, const Base& base, std::string_view packet);
  Derived sliced(const Node& node, const Base& base, std::size_t output, std::string_view packet);
  static Derived expanded(const Base& base, std::span<const Dim> shape);
  Derived reshaped(const Base& base, std::span<const Dim> shape);
  Derived reinterpreted(const Base& base, std::string_view packet, DType dtype);

  // The argument as a number; `fallback` if it is missing or None; nullopt if it is not an integer.
  [[nodiscard]] std::optional<std::int64_t> integer(const Node& node, std::string_view name,
                                                    std::int64_t fallback) const;
  // The argument as an axis of a tensor with `rank` axes, from 0; a negative argument counts from
  // the end. nullopt if there is no such axis.
  [[nodiscard]] std::optional<std::size_t> axis(const Node& node, std::string_view name,
                                                std::int64_t fallback, std::size_t rank) const;
  std::optional<Dim> multiply(Dim a, Dim b);
  // True if the strides are those of a dense tensor whatever the symbols stand for.
  bool is_dense(std::span<const Dim> shape, std::span<const Dim> stride);

  Graph& graph_;
  PartId part_;
};

}  // namespace jointer::fx

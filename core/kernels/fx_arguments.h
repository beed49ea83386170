#pragma once

// The values of a call's arguments, and the tensors of a capture, as decomposition and lowering
// need them.

#include "core/graph/graph.h"
#include "core/kernels/fx_graph.h"

namespace jointer::kernels {

class FxArguments {
 public:
  explicit FxArguments(const Graph& graph) : graph_(graph) {}

  [[nodiscard]] bool is_number(const Argument& argument) const;
  // 0 for an argument that is not a number. A number that is computed at run time has the value
  // that the capture assumes.
  [[nodiscard]] std::int64_t integer(const Argument& argument) const;
  [[nodiscard]] double real(const Argument& argument) const;
  [[nodiscard]] bool is_true(const Argument& argument) const { return integer(argument) != 0; }
  // The numbers of a list, or the number itself.
  [[nodiscard]] Sizes integers(const Argument& argument) const;

 private:
  const Graph& graph_;
};

// The value of an argument; -1 if it is not a node with one value. `env`: by node, the values of
// the nodes so far.
FxId argument_value(const std::vector<FxIds>& env, const Argument& argument);

FxTensor captured_tensor(const Graph& graph, const Tensor& tensor);

// The strides that an operator without its own rule demands of its inputs.
// Source: the calls of `make_fallback` in torch/_inductor/lowering.py, GraphLowering.call_function.
Constraint call_constraint(const OperatorInfo& info, bool is_backward);

}  // namespace jointer::kernels

#pragma once

// Arguments of a captured call as LibTorch takes them, by the type that the operator's schema
// gives.

#include <ATen/core/function_schema.h>

#include "app/runner/program.h"
#include "core/base/result.h"
#include "core/graph/symbolic_float.h"

namespace jointer::runner {

// Appends to a program under construction.
class ArgumentConverter {
 public:
  // `slot_of`: where a node's value lies. `device`: what takes the place of the graph's main
  // device.
  ArgumentConverter(const Graph& graph, Program& program, at::Device device,
                    std::function<SlotId(NodeId)> slot_of)
      : graph_(graph), program_(program), device_(device), slot_of_(std::move(slot_of)) {}

  // One operand for each parameter of the schema, in its order, from where the capture has it: by
  // position, by keyword, else the default. `skip`: how many leading arguments are not the
  // operator's (a higher-order operator's own). Error (input): one is missing, one is too many, or
  // does not fit its type.
  //
  // `captured`: the operator as the torch of the capture has it; null where it is not known, or
  // another takes its place. Arguments by position are then found by their names: another version
  // may have them in another order. A parameter `captured_by`, of kernels of our own, is given the
  // torch of the capture.
  Result<void> convert(const Node& node, const c10::FunctionSchema& schema, std::size_t skip,
                       std::string_view ignored_keyword, const OperatorInfo* captured);

  // One operand as Python has it, for builtins.
  Result<Operand> convert_plain(const Argument& argument);

  // A symbolic size.
  Result<Operand> symbol(ExpressionId expression);

  at::Device map_device(std::string_view name) const;

  Operand add_constant(c10::IValue value);

 private:
  // `fixed_size`: of a list that one number may stand for.
  Result<Operand> convert(const Argument& argument, const c10::Type& type, int fixed_size = 0);
  Result<Operand> convert_list(const Argument& argument, const c10::ListType& type, int fixed_size);
  Result<c10::IValue> constant(const Argument& argument, const c10::Type& type);
  Result<Operand> of_node(NodeId node, const c10::Type& type);
  Result<Operand> of_float(const SymbolicFloat& number, const c10::Type& type);
  [[nodiscard]] std::string_view captured_by(const Node& node) const;
  static std::vector<std::string_view> names_of(std::size_t count,
                                                const c10::FunctionSchema& schema,
                                                const OperatorInfo* captured);
  c10::IValue number_as_tensor(const c10::IValue& number);

  const Graph& graph_;
  Program& program_;
  at::Device device_;
  std::function<SlotId(NodeId)> slot_of_;
};

// A number as the 0-dimensional tensor that takes part in type promotion as a Python number does.
at::Tensor wrapped_number(const c10::IValue& number);

// The type of that name. Error (input): LibTorch has none.
Result<at::ScalarType> scalar_type(DType type);

}  // namespace jointer::runner

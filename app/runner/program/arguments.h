#pragma once

// Converts the arguments of captured calls to LibTorch's values, according to the types in the
// operator's schema.

#include <ATen/core/function_schema.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/runner/program/program.h"
#include "core/base/result.h"
#include "core/graph/symbolic_float.h"

namespace jointer::runner {

// Appends operands to a program under construction.
class ArgumentConverter {
 public:
  // `slot_of`: the slot of a node's value. `device`: replaces the graph's main device.
  ArgumentConverter(const Graph& graph, Program& program, at::Device device,
                    std::function<SlotId(NodeId)> slot_of)
      : graph_(graph), program_(program), device_(device), slot_of_(std::move(slot_of)) {}

  // Appends one operand per parameter of the schema, in the schema's order: the argument given by
  // position or by keyword, or the default. `skip`, `ignored_keyword`: the number of leading
  // arguments, and a keyword argument, that belong to a higher-order operator instead. Error
  // (input): an argument is missing, superfluous, or does not fit its type.
  //
  // `captured`: the operator in the torch of the capture; null if it is unknown or replaced by
  // another operator. If it is given, positional arguments are matched by name, since versions may
  // order them differently. The parameter `captured_by` of Jointer's kernels receives the capture's
  // version of torch.
  Result<void> convert(const Node& node, const c10::FunctionSchema& schema, std::size_t skip,
                       std::string_view ignored_keyword, const OperatorInfo* captured);

  // Converts an argument of a builtin, which has no schema: each value keeps its own type.
  Result<Operand> convert_plain(const Argument& argument);

  // The operand for a symbolic size. Error (input): the size contains a symbol that the graph
  // lacks.
  Result<Operand> symbol(ExpressionId expression);

  Operand add_constant(c10::IValue value);

 private:
  // `fixed_size`: the length of a list that may be given as a single number.
  Result<Operand> convert(const Argument& argument, const c10::Type& type, int fixed_size = 0);
  Result<Operand> convert_list(const Argument& argument, const c10::ListType& type, int fixed_size);
  Operand add_list(const std::vector<Operand>& elements, Operand::Element type);
  Result<c10::IValue> constant(const Argument& argument, const c10::Type& type);
  Result<Operand> of_node(NodeId node, const c10::Type& type);
  const std::vector<NodeId>& nodes_of_float(const std::string& expression);
  Result<Operand> of_float(const SymbolicFloat& number, const c10::Type& type);
  [[nodiscard]] at::Device map_device(std::string_view name) const;
  [[nodiscard]] std::string_view captured_by(const Node& node) const;
  static std::vector<std::string_view> names_of(std::size_t count,
                                                const c10::FunctionSchema& schema,
                                                const OperatorInfo* captured);

  const Graph& graph_;
  Program& program_;
  at::Device device_;
  std::function<SlotId(NodeId)> slot_of_;
  // The nodes that compute a symbolic float, in program order, by its expression. Set when the
  // first one is needed, since few graphs have any.
  std::optional<std::unordered_map<std::string, std::vector<NodeId>>> floats_;
};

// A number as a 0-dimensional tensor that is promoted like a Python number.
at::Tensor wrapped_number(const c10::IValue& number);

// LibTorch's type of the same name. Error (input): there is no such type.
Result<at::ScalarType> scalar_type(DType type);

}  // namespace jointer::runner

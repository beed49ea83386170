#include "app/runner/program/opaque.h"

#include <string>

namespace jointer::runner {
namespace {

Result<c10::IValue> group_of_detail(const Graph& graph, StringId detail) {
  const std::string_view name = graph.text(detail);
  bool is_known = false;
  for (std::size_t g = 0; g < graph.group_count(); ++g)
    is_known |= graph.text(graph.group(GroupId(static_cast<std::uint32_t>(g))).name) == name;
  if (!is_known)
    return input_error(
        "the capture does not record which process group {} is; capture the graph again with a "
        "newer Jointer",
        name.empty() ? "this" : name);
  return c10::IValue(std::string(name));
}

}  // namespace

std::string_view opaque_type(const Graph& graph, const Value& value) {
  return value.kind == Value::Kind::opaque ? graph.text(value.text()) : std::string_view();
}

Result<c10::IValue> group_name(const Graph& graph, const Value& value) {
  return group_of_detail(graph, value.detail());
}

Result<c10::IValue> group_name(const Graph& graph, const Argument& argument) {
  return group_of_detail(graph, argument.detail());
}

}  // namespace jointer::runner

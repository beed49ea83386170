#pragma once

// Values that are neither tensors nor numbers, but Python objects. A capture contains only a
// description of them.

#include <ATen/core/ivalue.h>

#include <string_view>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer::runner {

inline constexpr std::string_view kProcessGroup = "ProcessGroup";

// The name of the Python object's type; empty if the value is not an object.
std::string_view opaque_type(const Graph& graph, const Value& value);

// The name of a process group, which is passed to operators instead of the group. Error (input):
// the capture does not identify the group.
Result<c10::IValue> group_name(const Graph& graph, const Value& value);
Result<c10::IValue> group_name(const Graph& graph, const Argument& argument);

}  // namespace jointer::runner

#pragma once

#include "core/base/json_text.h"
#include "core/pass/pass_table.h"

namespace jointer {

// A table as hosts send it: {"title","columns":[{"name","unit"}],"rows":[{"node","cells":[...]}]}.
OrderedJson to_json(const PassTable& table);
// Error (input): the JSON is not a table, or a row does not have one cell for each column.
Result<PassTable> read_pass_table(const OrderedJson& json);

}  // namespace jointer

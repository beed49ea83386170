#pragma once

#include "core/base/json_text.h"
#include "core/pass/pass_table.h"

namespace jointer {

// As hosts send it: {"title","columns":[{"name","unit"}],"rows":[{"node","cells":[...]}]}.
OrderedJson to_json(const PassTable& table);
// Error (input): not a table, or the number of cells of a row differs from the number of columns.
Result<PassTable> read_pass_table(const OrderedJson& json);

}  // namespace jointer

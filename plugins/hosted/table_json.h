#pragma once

#include "core/base/json_text.h"
#include "core/pass/pass_table.h"

namespace jointer {

// {"title","columns":[{"name","unit"}],"rows":[{"node","cells":[...]}]}, as hosts send it.
OrderedJson to_json(const PassTable& table);
// Error (input): it is none, or a row has more or fewer cells than there are columns.
Result<PassTable> read_pass_table(const OrderedJson& json);

}  // namespace jointer

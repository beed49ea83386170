#pragma once

// Reads and writes the declaration of a pass (its name and parameters) as JSON. Hosts declare their
// passes in this form, and plugin descriptions use it, too.

#include "core/base/json_text.h"
#include "core/pass/pass.h"

namespace jointer {

// {"name","summary","stage","keeps_numerics","is_idempotent","saves_memory","parameters":[{"name",
// "type","default","doc","least","most","choices","may_be_none","is_of_texts"}]}. Omits
// "saves_memory" and the members after "doc" if they are not set, and the pass's `source`, which
// the receiver knows.
OrderedJson to_json(const PassInfo& info);
// Ignores unknown members. Error (input): a member is invalid; the message names the member and the
// pass.
Result<PassInfo> read_pass_info(const OrderedJson& json);

// The value none becomes null; a number that JSON cannot represent becomes, for example, {"f":
// "inf"}.
OrderedJson to_json(const PassValue& value);
// Error (input): the value is an object of any other form, a list nested more than 16 levels deep,
// or an integer that does not fit in a signed 64-bit integer.
Result<PassValue> read_pass_value(const OrderedJson& json);

}  // namespace jointer

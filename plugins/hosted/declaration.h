#pragma once

// What a pass is called and can be told, as JSON: how a host declares its passes, and what the
// description of a plugin holds.

#include "core/base/json_text.h"
#include "core/pass/pass.h"

namespace jointer {

// {"name","summary","stage","keeps_numerics","is_idempotent","parameters":[{"name","type",
// "default","least","most","choices","doc"}]}. Who reads it knows the source.
OrderedJson to_json(const PassInfo& info);
// Members that are not known are passed over. Error (input): which member of which pass is not as
// it should be.
Result<PassInfo> read_pass_info(const OrderedJson& json);

// None is null; a number that JSON has no text for is {"f": "inf"}.
OrderedJson to_json(const PassValue& value);
// Error (input): an object, or a whole number beyond 64 bits.
Result<PassValue> read_pass_value(const OrderedJson& json);

}  // namespace jointer

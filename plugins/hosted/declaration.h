#pragma once

// Reads and writes the declaration of a pass (name and parameters) as JSON. Hosts declare their
// passes in this form, and descriptions of plugins contain it.

#include "core/base/json_text.h"
#include "core/pass/pass.h"

namespace jointer {

// {"name","summary","stage","keeps_numerics","is_idempotent","parameters":[{"name","type",
// "default","least","most","choices","doc"}]}. Without the source, which the reader knows.
OrderedJson to_json(const PassInfo& info);
// Unknown members are ignored. Error (input): the invalid member and its pass.
Result<PassInfo> read_pass_info(const OrderedJson& json);

// None is null; a number without a form in JSON is {"f": "inf"}.
OrderedJson to_json(const PassValue& value);
// Error (input): an object, or an integer beyond 64 bits.
Result<PassValue> read_pass_value(const OrderedJson& json);

}  // namespace jointer

#pragma once

// Operators as Python names them and as captures do: `torch.ops.aten.mm.default` is
// `aten.mm.default`, `torch.ops.higher_order.flex_attention` is `flex_attention`.

#include <string>
#include <string_view>

namespace jointer {

// A name without a dot is that of a higher-order operator.
std::string python_operator(std::string_view name);

// The operator, or the pattern of operators, without what Python puts before it; what follows `::`
// where there is one. Another text is left as it is.
std::string captured_operator(std::string_view python);

}  // namespace jointer

#pragma once

// Converts names of operators between Python and captures: `torch.ops.aten.mm.default` is
// `aten.mm.default`, `torch.ops.higher_order.flex_attention` is `flex_attention`.

#include <string>
#include <string_view>

namespace jointer {

// Converts a capture's name to Python. A name without a dot is a higher-order operator's.
std::string python_operator(std::string_view name);

// Removes Python's prefix from an operator or a pattern of operators, after `::` if the text
// contains it. Any other text is returned unchanged.
std::string captured_operator(std::string_view python);

}  // namespace jointer

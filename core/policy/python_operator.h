#pragma once

// Converts operator names between Python and captures: `torch.ops.aten.mm.default` in Python is
// `aten.mm.default` in a capture, and `torch.ops.higher_order.flex_attention` is `flex_attention`.

#include <string>
#include <string_view>

namespace jointer {

// Converts a name in a capture to Python. A name without a dot is that of a higher-order operator.
std::string python_operator(std::string_view name);

// Removes Python's prefix from an operator or operator pattern; if the text contains `::`, from the
// part after it. Any other text is returned unchanged.
std::string captured_operator(std::string_view python);

}  // namespace jointer

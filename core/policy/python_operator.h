#pragma once

// Converts operator names between their forms in Python and in captures:
// `torch.ops.aten.mm.default` in Python is `aten.mm.default` in a capture, and
// `torch.ops.higher_order.flex_attention` is `flex_attention`.

#include <string>
#include <string_view>

namespace jointer {

// Converts a name in a capture to Python. A name without a dot belongs to a higher-order operator.
std::string python_operator(std::string_view name);

// Removes Python's prefix, such as `torch.ops.`, from an operator or an operator pattern: from the
// part after the last `::`, if there is one. Returns text without such a prefix unchanged.
std::string captured_operator(std::string_view python);

}  // namespace jointer

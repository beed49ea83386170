#pragma once

// What Python prints of plain objects, as JSON.

#include <string>
#include <string_view>

namespace jointer {

// A dictionary, list, tuple, text, number, None, True, False, or a dataclass
// (`GradAOTOutput(grad_of=PlainAOTInput(idx=0))` becomes `{"type":"GradAOTOutput","grad_of":...}`).
// Anything else inside becomes its text. Empty if the text as a whole is none of these, or nested
// absurdly deep.
std::string python_to_json(std::string_view text);

}  // namespace jointer

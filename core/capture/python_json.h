#pragma once

// Converts the `repr` of plain Python objects to JSON.

#include <string>
#include <string_view>

namespace jointer {

// Accepts a dictionary, list, tuple, string, number, None, True, False, or a dataclass
// (`GradAOTOutput(grad_of=PlainAOTInput(idx=0))` becomes `{"type":"GradAOTOutput","grad_of":...}`).
// Any other nested value becomes its text. Returns an empty string for any other text, and for text
// that is nested too deeply.
std::string python_to_json(std::string_view text);

}  // namespace jointer

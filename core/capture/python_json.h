#pragma once

// Converts the `repr` of plain Python objects to JSON.

#include <string>
#include <string_view>

namespace jointer {

// Accepts a dictionary, list, tuple, string, number, None, True, False, or a dataclass
// (`GradAOTOutput(grad_of=PlainAOTInput(idx=0))` becomes `{"type":"GradAOTOutput","grad_of":...}`).
// A value of any other kind becomes a string with its text. Returns an empty string if the text is
// malformed or nested too deeply.
std::string python_to_json(std::string_view text);

}  // namespace jointer

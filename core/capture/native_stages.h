#pragma once

// Captures of kind `stages`: the graphs that one pipeline stage is split into (forward, backward,
// the halves of a backward for inputs and for weights, FSDP's unshard and reduce-grad), each a
// whole capture with a name and a role.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace jointer {

struct StageText {
  std::string name;
  std::string role;          // "backward_weight"
  std::string_view capture;  // its document, in the bytes that were read
};

// The graphs of a document of kind `stages`, in its order; none for another document. `bytes` is
// followed by simdjson's padding. Error (input): a stage without a capture, or of an unknown role.
Result<std::optional<std::vector<StageText>>> find_stages(std::string_view name,
                                                          std::string_view bytes);

}  // namespace jointer

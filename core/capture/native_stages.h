#pragma once

// Finds the graphs in a capture of kind `stages`: the graphs that one pipeline stage is split into
// (forward, backward, the backward's halves for inputs and for weights, FSDP's unshard and
// reduce-grad). Each is a complete capture with a name and a role.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace jointer {

struct StageText {
  std::string name;          // the role if the document gives none
  std::string role;          // "backward_weight"
  std::string_view capture;  // its document; points into the bytes that were read
};

// Returns the graphs of a document of kind `stages`, in document order, or nullopt for any other
// document, including one that is not valid JSON. `bytes` must be followed by simdjson's padding.
// Error (input): there are no stages, a stage has no capture, or its role is unknown.
Result<std::optional<std::vector<StageText>>> find_stages(std::string_view name,
                                                          std::string_view bytes);

}  // namespace jointer

#pragma once

// Finds the graphs of a capture of kind `stages`. These are the graphs into which one pipeline
// stage is split (forward, backward, the backward's halves for inputs and for weights, FSDP's
// unshard and reduce-grad). Each is a whole capture with a name and a role.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace jointer {

struct StageText {
  std::string name;
  std::string role;          // "backward_weight"
  std::string_view capture;  // its document; points into the bytes that were read
};

// The graphs of a document of kind `stages`, in its order; nullopt for any other document. `bytes`
// must be followed by simdjson's padding. Error (input): a stage has no capture or an unknown role.
Result<std::optional<std::vector<StageText>>> find_stages(std::string_view name,
                                                          std::string_view bytes);

}  // namespace jointer

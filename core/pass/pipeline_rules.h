#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/pass/pipeline_text.h"

namespace jointer {

// A step that stands where it must not.
struct OrderMistake {
  std::size_t step = 0;  // which one
  std::string message;   // one sentence
};

// Upstream's rules for the order of passes: cudagraph is the last one; the two bucketings exclude
// each other; full Inductor needs inductor_decomposition before it. Of the enabled steps. Source:
// torchtitan's validate_pass_names. The first rule that is broken; nothing if none is.
std::optional<OrderMistake> find_order_mistake(const Pipeline& pipeline);
// Error (usage): its sentence.
Result<void> check_order(const Pipeline& pipeline);

}  // namespace jointer

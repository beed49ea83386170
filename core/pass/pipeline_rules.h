#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/pass/pipeline_text.h"

namespace jointer {

// A step that stands where it must not.
struct OrderMistake {
  std::size_t step = 0;  // which one
  std::string message;   // one sentence
};

// Upstream's rules for the order of passes: cudagraph is the last one; the two bucketings exclude
// each other; full Inductor needs inductor_decomposition before it. Of the enabled steps. Source:
// torchtitan's validate_pass_names. One for each rule that is broken.
std::vector<OrderMistake> find_order_mistakes(const Pipeline& pipeline);
// Error (usage): the first one's sentence.
Result<void> check_order(const Pipeline& pipeline);

}  // namespace jointer

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/pass/pipeline_text.h"

namespace jointer {

// A pipeline step that breaks a rule about the order of passes.
struct OrderMistake {
  std::size_t step = 0;  // index in the pipeline
  std::string message;   // one sentence
};

// Checks upstream's rules about the order of the enabled pipeline steps: cudagraph must be last,
// automatic and block bucketing are mutually exclusive, and inductor_decomposition must precede
// full_inductor_compilation. Returns one mistake per broken rule. Source: torchtitan's
// validate_pass_names.
std::vector<OrderMistake> find_order_mistakes(const Pipeline& pipeline);
// Error (usage): the message of the first mistake.
Result<void> check_order(const Pipeline& pipeline);

}  // namespace jointer

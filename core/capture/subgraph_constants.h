#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace jointer {

// The targets of a part's constants (Part::constants) that are graphs: those that a higher-order
// call runs, such as the score_mod of flex_attention. Empty if the text is not a JSON object.
std::unordered_set<std::string> subgraph_constants(std::string_view constants);

}  // namespace jointer

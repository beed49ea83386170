#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace jointer {

// Returns the names of the constants in Part::constants that are graphs. Higher-order operators run
// these graphs; an example is the score_mod of flex_attention. Empty if the text is not a JSON
// object.
std::unordered_set<std::string> subgraph_constants(std::string_view constants);

}  // namespace jointer

#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace jointer {

// The names of the constants of a part (Part::constants) that are graphs. Higher-order operators
// run these graphs: the score_mod of flex_attention, for example. Empty if the text is not a JSON
// object.
std::unordered_set<std::string> subgraph_constants(std::string_view constants);

}  // namespace jointer

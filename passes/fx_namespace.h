#pragma once

// Names as torch.fx gives them: view, view_1, view_2. A name that was given stays taken, also when
// its node goes or is renamed.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/graph/graph.h"

namespace jointer {

class FxNamespace {
 public:
  // With the names of one half, as torch numbers on from a graph that was read from a file.
  FxNamespace(const Graph& graph, PartId part);

  // `candidate`, with another number where it is taken.
  std::string create(std::string_view candidate);
  // The name of a new call: aten.mm.default becomes mm_default.
  std::string create_for(std::string_view target);

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, std::int64_t> last_;  // by base: the number that was given last
};

}  // namespace jointer

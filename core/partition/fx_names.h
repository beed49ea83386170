#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/torch_version.h"
#include "core/graph/graph.h"
#include "core/graph/string_table.h"

namespace jointer {

// Names the new nodes of one graph as torch.fx does: takes a candidate, and appends a number if
// that name is taken, or is a keyword or builtin of Python (`max`). The number depends on the names
// that were assigned before and on their order.
class FxNames {
 public:
  // If a numbered name is taken, torch continues after the last number that it assigned; before
  // 2.13, it starts at 1.
  explicit FxNames(TorchVersion torch = {.major = 2, .minor = 11})
      : goes_on_(torch >= TorchVersion{.major = 2, .minor = 13}) {}

  // Returns a unique name derived from `candidate`, and takes it.
  std::string create(std::string_view candidate);
  // Takes the name of a node that the graph already has.
  void use(std::string_view name);

 private:
  // `avoids`: if true, the candidate itself must not be the name.
  std::string take(std::string_view candidate, bool avoids);
  [[nodiscard]] long long last_number(std::string_view base) const;

  bool goes_on_;
  StringTable used_;
  StringTable bases_;                    // names without their numbers
  std::vector<long long> last_numbers_;  // by base
};

// The names of one part, registered in order, so that numbering continues as in torch for a graph
// that was read from a file.
FxNames names_of(const Graph& graph, PartId part);

// The name that torch.fx gives to a call that a pass adds with Graph.call_function, before it is
// made unique: `wait_tensor_default` for ao.wait_tensor.default.
std::string fx_call_name(std::string_view target);
// The same for a constant that a pass reads with Graph.get_attr.
std::string fx_attribute_name(std::string_view target);

}  // namespace jointer

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/torch_version.h"
#include "core/graph/graph.h"
#include "core/graph/string_table.h"

namespace jointer {

// Names that torch.fx gives to new nodes of one graph: the operator's, with the next number where
// it is taken, or where Python itself has that name (`max`). What is next depends on the names
// given before, in order.
class FxNames {
 public:
  // Where a numbered name is taken, torch goes on behind the last number that was given, and before
  // 2.13 from 1 on.
  explicit FxNames(TorchVersion torch = {.major = 2, .minor = 11})
      : goes_on_(torch >= TorchVersion{.major = 2, .minor = 13}) {}

  // A unique name like this one.
  std::string create(std::string_view candidate);

 private:
  [[nodiscard]] long long last_number(std::string_view base) const;

  bool goes_on_;
  StringTable used_;
  StringTable bases_;                    // names without their numbers
  std::vector<long long> last_numbers_;  // by base
};

// With the names of one half, as torch numbers on from a graph that was read from a file.
FxNames names_of(const Graph& graph, PartId part);

// What torch.fx names a call of an operator before it is made unique, where a pass adds it with
// Graph.call_function: `wait_tensor_default` of ao.wait_tensor.default.
std::string fx_call_name(std::string_view target);
// The same of a constant that Graph.get_attr reads.
std::string fx_attribute_name(std::string_view target);

}  // namespace jointer

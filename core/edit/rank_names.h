#pragma once

// Names that differ between the ranks of a program: process group names and device indices. A
// recipe records a node for each name. On another rank, the same node has the name that applies
// there.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/edit/recipe.h"
#include "core/graph/canonical.h"
#include "core/graph/graph.h"

namespace jointer {

// Fills in `groups` and `devices` from a part of the graph for which the recipe is made.
void record_names(const Graph& graph, PartId part, RecipeGraph& recorded);

class RankNames {
 public:
  RankNames() = default;
  // Looks up the recorded nodes in the graph. Leaves out nodes that do not exist there, or that
  // lack a group or a device.
  RankNames(const Graph& graph, PartId part, const RecipeGraph& recorded);

  // True if every recorded name is the same in this graph.
  [[nodiscard]] bool are_equal() const { return are_equal_; }
  // The recorded names, keyed by the names in this graph.
  [[nodiscard]] NamesElsewhere recorded() const;

  // These functions replace recorded names in a call's positional arguments, keyword arguments, and
  // value. A group name keeps a suffix `_...`, which passes append to name a twin: another group
  // with the same ranks. Unknown names stay unchanged; the functions then return an error text,
  // otherwise an empty one.
  std::string rename_args(const OperatorInfo& op, ArgumentRecords& args) const;
  std::string rename_kwargs(ArgumentRecords& kwargs) const;
  std::string rename_value(ValueRecord& value) const;

 private:
  [[nodiscard]] std::optional<std::string> group(std::string_view recorded) const;
  void rename_group(std::string& name, std::string& unknown) const;
  void rename_device(std::string& name, std::string& unknown) const;
  // `parameter`: the argument's name in the schema; empty if it has none.
  void rename(ArgumentRecord& argument, std::string_view parameter, std::string& unknown) const;
  void rename(ValueRecord& value, std::string& unknown) const;

  std::map<std::string, std::string, std::less<>> groups_, devices_;  // here, by recorded name
  bool are_equal_ = true;
};

}  // namespace jointer

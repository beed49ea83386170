#pragma once

// Names that differ between the ranks of a program: process group names and device indices. A
// recipe records a node for each of them. On another rank, the same node gives the name
// there.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/edit/recipe.h"
#include "core/graph/canonical.h"
#include "core/graph/graph.h"

namespace jointer {

// Fills `groups` and `devices` from the graph that the recipe is made on.
void record_names(const Graph& graph, PartId part, RecipeGraph& recorded);

class RankNames {
 public:
  RankNames() = default;
  // Looks up the recorded nodes in the graph. Leaves out those that are missing, and those that do
  // not communicate or have no value there.
  RankNames(const Graph& graph, PartId part, const RecipeGraph& recorded);

  // True if every recorded name is the same here.
  [[nodiscard]] bool are_equal() const { return are_equal_; }
  // The recorded names, by the names here.
  [[nodiscard]] NamesElsewhere recorded() const;

  // Replaces recorded names in a call's positional arguments, keyword arguments, and value. A name
  // made from a group's name and a suffix `_...`, as passes name its twin, keeps the suffix.
  // Returns an error text if a name is not known here, and empty otherwise; such names stay.
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

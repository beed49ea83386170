#pragma once

// What passes over flat training steps have in common: a graph that holds the forward, the loss and
// the backward one behind the other.

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Error (usage): it is a pair, or half of one.
Result<void> check_flat(const Graph& graph);

// What calls are named once a pass is through; a name that is not in it stays. Arguments and values
// as recipes hold them.
class Renames {
 public:
  void add(std::string from, std::string to) { names_[std::move(from)] = std::move(to); }
  [[nodiscard]] const std::string& of(const std::string& name) const {
    const auto it = names_.find(name);
    return it == names_.end() ? name : it->second;
  }
  // `{"n": NAME}` of an argument, and `{"of": NAME}` of a value's storages.
  [[nodiscard]] nlohmann::ordered_json in_arguments(const std::string& json) const;
  [[nodiscard]] nlohmann::ordered_json in_value(const std::string& json) const;

 private:
  void rename(nlohmann::ordered_json& json, const char* key) const;

  std::unordered_map<std::string, std::string> names_;
};

// A name that no node of the graph has: the base, or the base and a number.
std::string unused_name(const Graph& graph, const std::string& base);

}  // namespace jointer

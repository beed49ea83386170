#pragma once

// Shared by the passes that transform flat training steps, whose graph contains forward, loss and
// backward in this order.

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Error (usage): the graph is a pair, or half of one.
Result<void> check_flat(const Graph& graph);

// Maps old names of calls to new ones in arguments and values in the JSON form of recipes. Names
// that are not in the map stay.
class Renames {
 public:
  void add(std::string from, std::string to) { names_[std::move(from)] = std::move(to); }
  [[nodiscard]] const std::string& of(const std::string& name) const {
    const auto it = names_.find(name);
    return it == names_.end() ? name : it->second;
  }
  // Renames `{"n": NAME}` in an argument, and `{"of": NAME}` in the storages of a value.
  [[nodiscard]] nlohmann::ordered_json in_arguments(const std::string& json) const;
  [[nodiscard]] nlohmann::ordered_json in_value(const std::string& json) const;

 private:
  void rename(nlohmann::ordered_json& json, const char* key) const;

  std::unordered_map<std::string, std::string> names_;
};

// A name that no node of the graph has: the base, or the base with a number.
std::string unused_name(const Graph& graph, const std::string& base);

}  // namespace jointer

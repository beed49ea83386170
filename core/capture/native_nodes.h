#pragma once

// Reads the `nodes` of a native capture into a graph. Private to core/capture.

#include <string>
#include <unordered_set>
#include <vector>

#include "core/capture/native_json.h"
#include "core/graph/graph.h"

namespace jointer::native {

// The part's tables, which nodes refer to. Each range gives the index of the table's first entry in
// the graph, and the number of entries.
struct Tables {
  struct Range {
    std::size_t first = 0, count = 0;
  };
  Range storages, modules, stacks;
};

class NodeReader {
 public:
  NodeReader(Graph& graph, PartId part, const Tables& tables)
      : graph_(graph), part_(part), tables_(tables), first_node_(graph.node_count()) {}

  // Appends the node to the graph. Throws Failure or simdjson_error.
  void read(json::object object);
  // Throws Failure if a node reads a name that no earlier node has. Call it after the last node.
  void check_references() const;
  // The node and member being read, as a prefix of messages: "node mm: `args`: ". Empty between
  // nodes.
  [[nodiscard]] std::string place() const;

 private:
  Node parse(json::object object);
  void read_member(Node& node, std::string_view key, json::value value);
  Argument read_argument(json::value value, int depth);
  Argument read_object_argument(json::value value, int depth);
  Argument read_children(Argument::Kind kind, json::array array, int depth);
  Argument read_dict(json::object object, int depth);
  Argument read_number(std::string_view token);
  Value read_value(json::value value, int depth);
  Value read_list(json::array array, int depth);
  Value read_value_dict(json::object object, int depth);
  Value read_tensor(json::object object);
  Dim read_dim(json::value value);
  void read_dims(json::array array, std::vector<Dim>& dims);
  NodeId resolve(std::string_view name);
  [[nodiscard]] bool is_float(std::string_view expression) const {
    return graph_.part(part_).symbols.is_float_expression(expression);
  }
  StringId intern(json::value value) { return graph_.intern(get_text(value)); }
  StringId intern_raw(json::value value);
  template <class Id>
  Id table_entry(json::value value, Tables::Range range, const char* table);

  Graph& graph_;
  PartId part_;
  const Tables& tables_;
  std::size_t first_node_;  // of this part
  std::string name_;
  std::string_view member_;
  std::vector<Argument> arguments_;       // stack of the children of the arguments being read
  std::vector<Value> values_;             // stack of the children of the values being read
  std::vector<Dim> shape_, stride_;       // of the tensor being read
  std::unordered_set<StringId> checked_;  // raw texts that are known to be valid JSON
  std::string missing_, missing_reader_;  // the first name that could not be resolved
};

}  // namespace jointer::native

#pragma once

// Builds the calls that edits insert, in the form that recipes use.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/edit/change.h"
#include "core/graph/graph.h"

namespace jointer {

using OrderedJson = nlohmann::ordered_json;

// A dense tensor, or a slice of one. Sizes, strides and offset count elements.
struct TensorRecord {
  std::vector<std::int64_t> shape, stride;  // no stride: dense
  std::int64_t offset = 0;
  DType dtype = DType::float32;
  std::string device;
  std::string of;  // the node whose first tensor it views; empty: a new storage
};
OrderedJson to_json(const TensorRecord& tensor);

// Inserts calls into one half of a graph. Numbers their names as FX does: view, view_1, view_2.
class CallBuilder {
 public:
  CallBuilder(const Graph& graph, PartId part) : graph_(graph), part_(part) {}

  // Adds the change and returns the new node's name. `target` is a full operator name, `val` one
  // tensor or `{"list": ...}`, `like` the node that the call replaces, `before` a node's name in
  // edits. `in_backward`: the call computes a forward node's value in the backward.
  std::string insert(std::string_view target, OrderedJson args, OrderedJson kwargs, OrderedJson val,
                     NodeId like, std::string_view before, bool in_backward = false);
  // Replaces the call of a node. The value that the node returns stays the same.
  void replace(NodeId node, std::string_view target, const OrderedJson& args,
               const OrderedJson& kwargs = OrderedJson::object());
  void add(Change change) { changes_.push_back(std::move(change)); }
  [[nodiscard]] std::size_t count() const { return changes_.size(); }
  // Returns the changes added since the last call. Names stay taken.
  [[nodiscard]] std::vector<Change> take() { return std::exchange(changes_, {}); }

  static OrderedJson node(std::string_view name) {
    OrderedJson json;
    json["n"] = std::string(name);
    return json;
  }
  // [items...]. An initializer list in braces could be read as an object or as a copy.
  template <class... Items>
  static OrderedJson list(Items&&... items) {
    OrderedJson json = OrderedJson::array();
    (json.emplace_back(std::forward<Items>(items)), ...);
    return json;
  }

 private:
  std::string fresh_name(std::string_view base);

  const Graph& graph_;
  PartId part_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // by base
  std::vector<Change> changes_;
};

}  // namespace jointer

#pragma once

// Builds values from types as written in the text, and derives the storages, strides and devices
// that the text lacks. Private to core/capture/fx_*.cpp.

#include <string>
#include <string_view>
#include <unordered_map>

#include "core/capture/fx_layout.h"
#include "core/capture/fx_statements.h"
#include "core/graph/graph.h"
#include "core/graph/python_text.h"
#include "core/graph/storages.h"

namespace jointer::fx {

class ValueBuilder {
 public:
  ValueBuilder(Graph& graph, PartId part, const Body& body);

  // Returns the value of the node called `name`; the node's target and arguments must be set. If
  // the text gives no type, assembles a tuple from the elements that later statements read.
  Value build(const Node& node, std::string_view name, std::string_view type);
  // Records in the graph's facts what was derived.
  void add_facts();

 private:
  Value from_type(const Node& node, std::string_view type, std::size_t output);
  Value from_elements(const Node& node, std::string_view name, int depth);
  Value from_symbol(std::string_view text);
  Value element_of(const Node& node) const;
  TensorId add_tensor(const Node& node, const TensorText& type, std::size_t output);
  TensorId add_like(const Tensor& source, const TensorText& type);
  // Returns `node` or, if it calls a Python function or method, `twin`: a copy of the node, with
  // the equivalent ATen operator if the call usually returns a view.
  const Node& with_schema(const Node& node, Node& twin);
  std::string_view device_for(const Node& node);

  Graph& graph_;
  PartId part_;
  const Body& body_;
  StorageDeriver storages_;
  LayoutDeriver layouts_;
  std::string default_device_;
  std::unordered_map<OperatorId, OperatorId> twins_;
  std::size_t next_output_ = 0;

  struct Counts {
    std::size_t views = 0, without_stride = 0, guessed_stride = 0, assumed_bytes = 0,
                unknown_offset = 0, without_device = 0, unknown_inputs = 0, unknown_calls = 0,
                tuples = 0, unread_elements = 0;
  } counts_;
};

}  // namespace jointer::fx

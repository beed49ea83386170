#pragma once

// Builds nodes from statements. Private to core/capture/fx_*.cpp.

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/text_hash.h"
#include "core/capture/fx_comment.h"
#include "core/capture/fx_statements.h"
#include "core/capture/fx_values.h"
#include "core/capture/progress.h"
#include "core/graph/graph.h"
#include "core/graph/python_text.h"

namespace jointer::fx {

struct Cancelled {};

class NodeBuilder {
 public:
  NodeBuilder(Graph& graph, PartId part, const Body& body, const Progress& progress)
      : graph_(graph), part_(part), body_(body), progress_(progress), values_(graph, part, body) {}

  // Adds all nodes. Throws TextMistake or Cancelled.
  void run();
  // The number of the line being read, for messages.
  [[nodiscard]] std::size_t number() const { return number_; }
  // Records in the graph's facts what the text lacks.
  void add_facts();

 private:
  struct Place {  // what the nodes below one comment share
    StackId stack;
    StringId custom, partitioner_tag;
    Comment comment;
  };

  void placeholder(const Placeholder& placeholder);
  void statement(const Statement& statement);
  void output();
  void parse_expression(const Statement& statement, Node& node);
  void parse_change(const Statement& statement, Node& node);
  void parse_named(PythonText& text, std::string_view expression, Node& node);
  void parse_attribute(PythonText& text, std::string_view expression, Node& node);
  void parse_infix(PythonText& text, Argument left, Node& node);
  Argument output_elements(PythonText& text, std::string& descriptors);
  void call(Node& node, std::string_view target, std::span<const Argument> args);
  void call_with(Node& node, std::string_view target, PythonText& text,
                 std::optional<Argument> first);
  void put(const Node& node, std::string_view name);
  OperatorId target_of(std::string_view name);
  void annotate(Node& node, std::size_t comment);
  const Place& place_of(std::size_t comment);
  [[noreturn]] void explain(const TextMistake& mistake) const;

  Graph& graph_;
  PartId part_;
  const Body& body_;
  const Progress& progress_;
  ValueBuilder values_;
  std::size_t number_ = 0;
  std::string_view current_;  // the node being read
  std::unordered_map<std::string, OperatorId, TextHash, std::equal_to<>> targets_;
  std::unordered_map<std::string, StackId> stacks_;
  std::vector<std::optional<Place>> places_;  // indexed by comment
  std::size_t python_calls_ = 0, assumed_overloads_ = 0;
};

}  // namespace jointer::fx

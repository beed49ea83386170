#include "core/capture/fx_nodes.h"

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/utf8.h"
#include "core/capture/python_json.h"

namespace jointer::fx {

void NodeBuilder::run() {
  try {
    for (const Placeholder& p : body_.placeholders) placeholder(p);
    std::size_t count = 0;
    for (const Statement& s : body_.statements) {
      if (progress_ && count++ % kNodesPerProgress == 0 &&
          !progress_(static_cast<double>(count) / static_cast<double>(body_.statements.size()),
                     "reading nodes"))
        throw Cancelled{};
      statement(s);
    }
    current_ = {};
    if (body_.output.text.empty())
      text_mistake("the graph has no `return` after its last statement; is the text truncated?");
    output();
  } catch (const TextMistake& mistake) {
    explain(mistake);
  }
}

void NodeBuilder::put(const Node& node, std::string_view name) {
  if (graph_.find(part_, name))
    text_mistake("another node has the same name; names must be unique");
  graph_.add_node(node);
}

// Rethrows the mistake with the node's name. If the node reads a value that is defined later, adds
// the line of its definition.
void NodeBuilder::explain(const TextMistake& mistake) const {
  const auto maker = body_.makers.find(mistake.unknown_name);
  if (mistake.unknown_name.empty() || maker == body_.makers.end()) {
    if (current_.empty()) throw mistake;
    text_mistake("node {}: {}", current_, mistake.message);
  }
  if (mistake.unknown_name == current_)
    text_mistake("node {} reads itself: the graph is cyclic", current_);
  text_mistake(
      "node {} reads {}, which is defined later, on line {}: the graph is cyclic or out of order",
      current_, mistake.unknown_name, body_.statements[maker->second].number);
}

void NodeBuilder::placeholder(const Placeholder& p) {
  number_ = p.number;
  current_ = p.name;
  Node node;
  node.part = part_;
  node.kind = NodeKind::placeholder;
  node.name = graph_.intern(p.name);
  node.target = graph_.intern_operator(p.target);
  if (p.desc.find('(') != std::string_view::npos) node.desc = graph_.intern(python_to_json(p.desc));
  node.value = values_.build(node, p.name, p.type);
  node.set(Node::has_value, node.value.kind != Value::Kind::none);
  put(node, p.name);
}

void NodeBuilder::statement(const Statement& s) {
  number_ = s.number;
  current_ = s.name;
  Node node;
  node.part = part_;
  node.kind = NodeKind::call;
  node.name = graph_.intern(s.name);
  if (s.inplace.empty())
    parse_expression(s, node);
  else
    parse_change(s, node);
  node.set(Node::has_args, node.kind == NodeKind::call);
  node.set(Node::has_kwargs, node.kwargs.count > 0);
  annotate(node, s.comment);
  node.value = values_.build(node, s.name, s.type);
  node.set(Node::has_value, node.value.kind != Value::Kind::none);
  put(node, s.name);
}

void NodeBuilder::output() {
  number_ = body_.output.number;
  current_ = "output";
  PythonText text(graph_, part_, body_.output.text, PythonText::Style::fx);
  text.word();  // return
  const bool unflatten = text.take("pytree.tree_unflatten(");
  std::string descriptors;
  const bool described = body_.output.text.find('#') != std::string_view::npos;
  if (text.at_end()) text_mistake("nothing is returned; is the text truncated?");
  const std::array<Argument, 1> values{described ? output_elements(text, descriptors)
                                                 : text.argument()};
  if (unflatten) {
    text.expect(',');
    text.rest();
  }
  if (!text.at_end() && !text.take(';'))
    text_mistake("unexpected `{}` after the outputs", first_characters(text.rest(), 40));
  Node node;
  node.part = part_;
  node.kind = NodeKind::output;
  // If a value is named `output`, FX adds a number to the name of the output node. The text does
  // not say which number.
  std::string name = "output";
  for (int i = 1; graph_.find(part_, name); ++i) name = fmt::format("output_{}", i);
  node.name = graph_.intern(name);
  node.target = graph_.intern_operator("output");
  node.args = graph_.make_children(Argument::Kind::list, values);
  node.set(Node::has_args);
  if (!descriptors.empty()) node.desc = graph_.intern(descriptors);
  put(node, name);
}

// Reads a list with one element per line, each followed by a comment with its descriptor: `[add,  #
// PlainAOTOutput(idx=0)`.
Argument NodeBuilder::output_elements(PythonText& text, std::string& descriptors) {
  const char open = text.peek();
  if (open != '[' && open != '(') return text.argument();
  text.take(open);
  const char close = open == '[' ? ']' : ')';
  std::vector<Argument> elements;
  descriptors = "[";
  bool any = false;
  while (!text.take(close)) {
    text.take_comment();
    elements.push_back(text.argument());
    const bool more = text.take(',');
    text.peek();
    const std::string json = python_to_json(text.take_comment());
    any = any || json.starts_with('{');
    descriptors += (elements.size() > 1 ? "," : "") + (json.empty() ? "null" : json);
    if (!more) text.expect(close);
    if (!more) break;
  }
  descriptors = any ? descriptors + "]" : std::string();
  return graph_.make_children(open == '[' ? Argument::Kind::list : Argument::Kind::tuple, elements);
}

const NodeBuilder::Place& NodeBuilder::place_of(std::size_t comment) {
  if (places_.size() <= comment) places_.resize(body_.comments.size());
  std::optional<Place>& place = places_[comment];
  if (place) return *place;
  place.emplace();
  place->comment = parse_comment(body_.comments[comment]);
  const Comment& c = place->comment;
  // If torch did not write the comment, the previous comment applies instead, provided that a node
  // directly follows that one.
  if (!c.is_known && comment > 0 && places_[comment - 1]) return *(place = places_[comment - 1]);
  if (!c.stack.empty()) {
    const auto [known, is_new] = stacks_.try_emplace(c.stack);
    if (is_new) known->second = graph_.add_stack(part_, c.stack);
    place->stack = known->second;
  }
  if (!c.custom.empty()) place->custom = graph_.intern(c.custom);
  if (!c.partitioner_tag.empty()) place->partitioner_tag = graph_.intern(c.partitioner_tag);
  return *place;
}

void NodeBuilder::annotate(Node& node, std::size_t comment) {
  const Place& place = place_of(comment);
  const Comment& c = place.comment;
  node.stack = place.stack;
  node.custom = place.custom;
  node.partitioner_tag = place.partitioner_tag;
  node.policy = c.policy;
  node.set(Node::has_ac_graph_id, c.ac_graph_id.has_value());
  node.ac_graph_id = c.ac_graph_id.value_or(0);
  node.set(Node::has_seq_nr, c.seq_nr.has_value());
  node.seq_nr = c.seq_nr.value_or(0);
  if (!c.autograd_backward) return;
  node.set(Node::has_autograd_backward);
  node.set(Node::autograd_backward, *c.autograd_backward);
}

void NodeBuilder::add_facts() {
  values_.add_facts();
  if (!stacks_.empty())
    graph_.add_fact(
        Fact::Kind::derived,
        "the text has only the innermost line of each stack trace, and no module stacks");
  if (python_calls_ > 0)
    graph_.add_fact(Fact::Kind::warning,
                    fmt::format("{} Python functions or methods, not ATen operators: "
                                "what they compute and alias is only partly known",
                                counted(python_calls_, "call uses", "calls use")));
  if (assumed_overloads_ > 0)
    graph_.add_fact(Fact::Kind::derived,
                    fmt::format("{} no overload in the text: `default` is assumed, "
                                "or `Tensor` if there is no `default`",
                                counted(assumed_overloads_, "operator has", "operators have")));
}

}  // namespace jointer::fx

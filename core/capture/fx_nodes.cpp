#include "core/capture/fx_nodes.h"

#include <array>
#include <nlohmann/json.hpp>

#include "core/capture/python_json.h"

namespace jointer::fx {
namespace {

constexpr std::size_t kNodesPerProgress = 1024;

// Operators between and before operands, longest first.
struct Infix {
  std::string_view token, name;
};
constexpr std::array<Infix, 18> kInfix{{
    {"**", "pow"},
    {"//", "floordiv"},
    {"<<", "lshift"},
    {">>", "rshift"},
    {"==", "eq"},
    {"!=", "ne"},
    {"<=", "le"},
    {">=", "ge"},
    {"<", "lt"},
    {">", "gt"},
    {"+", "add"},
    {"-", "sub"},
    {"*", "mul"},
    {"/", "truediv"},
    {"%", "mod"},
    {"@", "matmul"},
    {"&", "and_"},
    {"|", "or_"},
}};

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// What stands before `getattr`'s parenthesis or `self.`: `getattr(self.layers, "0").weight` is
// layers.0.weight of self.
struct Path {
  std::string first, rest;
};
constexpr int kMostPathDepth = 32;

Path parse_path(PythonText& text, int depth) {
  if (depth > kMostPathDepth) text_mistake("attributes are nested more than {} deep", depth - 1);
  const std::string_view word = text.word();
  Path path;
  if (word == "getattr" && text.take('(')) {
    path = parse_path(text, depth + 1);
    text.expect(',');
    path.rest += (path.rest.empty() ? "" : ".") + text.quoted();
    text.expect(')');
    if (text.peek() == '.') path.rest += text.word();
  } else {
    const auto dot = word.find('.');
    path.first = word.substr(0, dot);
    if (dot != std::string_view::npos) path.rest = word.substr(dot + 1);
  }
  return path;
}

}  // namespace

void NodeBuilder::run() {
  for (const Placeholder& p : body_.placeholders) placeholder(p);
  std::size_t count = 0;
  for (const Statement& s : body_.statements) {
    if (progress_ && count++ % kNodesPerProgress == 0 &&
        !progress_(static_cast<double>(count) / static_cast<double>(body_.statements.size()),
                   "reading nodes"))
      throw Cancelled{};
    statement(s);
  }
  if (body_.output.text.empty())
    text_mistake("the graph has no `return` after its last statement; is the text cut off?");
  output();
}

void NodeBuilder::put(const Node& node, std::string_view name) {
  if (graph_.find(part_, name))
    text_mistake("another node has the same name; names must be unique");
  graph_.add_node(node);
}

// A name that is read before it is made gets a message that says so.
void NodeBuilder::explain(const TextMistake& mistake) const {
  const auto maker = body_.makers.find(mistake.unknown_name);
  if (mistake.unknown_name.empty() || maker == body_.makers.end()) {
    if (current_.empty()) throw mistake;
    text_mistake("node {}: {}", current_, mistake.message);
  }
  if (mistake.unknown_name == current_)
    text_mistake("node {} reads itself: the graph is cyclic", current_);
  text_mistake(
      "node {} reads {}, which is made later, in line {}: the graph is cyclic or out of order",
      current_, mistake.unknown_name, body_.statements[maker->second].number);
}

void NodeBuilder::placeholder(const Placeholder& p) {
  number_ = p.number;
  current_ = p.name;
  try {
    Node node;
    node.part = part_;
    node.kind = NodeKind::placeholder;
    node.name = graph_.intern(p.name);
    node.target = graph_.intern_operator(p.target);
    if (p.desc.find('(') != std::string_view::npos)
      node.desc = graph_.intern(python_to_json(p.desc));
    node.value = values_.build(node, p.name, p.type);
    node.set(Node::has_value, node.value.kind != Value::Kind::none);
    put(node, p.name);
  } catch (const TextMistake& mistake) {
    explain(mistake);
  }
}

void NodeBuilder::statement(const Statement& s) {
  number_ = s.number;
  current_ = s.name;
  try {
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
  } catch (const TextMistake& mistake) {
    explain(mistake);
  }
}

void NodeBuilder::parse_change(const Statement& s, Node& node) {
  std::vector<Argument> args;
  const auto read = [&](std::string_view text) {
    PythonText operand(graph_, part_, text, PythonText::Style::fx);
    args.push_back(operand.argument());
    if (!operand.at_end()) text_mistake("`{}` is no single value", text.substr(0, 40));
  };
  read(s.changed);
  if (!s.key.empty()) read(s.key);
  read(s.expression);
  call(node, fmt::format("_operator.{}", s.inplace), args);
}

void NodeBuilder::parse_expression(const Statement& s, Node& node) {
  PythonText text(graph_, part_, s.expression, PythonText::Style::fx);
  const std::string_view e = s.expression;
  const bool unary = e.size() > 1 && (e[0] == '-' || e[0] == '+' || e[0] == '~') &&
                     is_letter(e[1]) && !e.starts_with("-inf");
  if (unary) {
    text.take(e[0]);
    const std::array<Argument, 1> operand{text.argument()};
    call(node,
         e[0] == '-'   ? "_operator.neg"
         : e[0] == '+' ? "_operator.pos"
                       : "_operator.invert",
         operand);
  } else if (is_letter(text.peek())) {
    parse_named(text, e, node);
  } else {
    const Argument left = text.argument();
    parse_infix(text, left, node);
  }
  if (!text.at_end() && !text.take(';'))
    text_mistake("unexpected `{}` after the expression", text.rest().substr(0, 40));
}

void NodeBuilder::parse_named(PythonText& text, std::string_view expression, Node& node) {
  if (expression.starts_with("getattr(") || expression.starts_with("self.")) {
    parse_attribute(text, expression, node);
    return;
  }
  const std::string_view word = text.word();
  const auto dot = word.find('.');
  const NodeId base = graph_.find(part_, word.substr(0, dot));
  if (base && dot != std::string_view::npos) {
    const std::string_view attribute = word.substr(dot + 1);
    if (text.take('(')) {
      call_with(node, fmt::format("call_method.{}", attribute), text, Argument::of_node(base));
    } else {
      const std::array<Argument, 2> args{
          Argument::of_node(base),
          Argument::of_text(Argument::Kind::string, graph_.intern(attribute))};
      call(node, "builtins.getattr", args);
    }
  } else if (base && text.take('[')) {
    const std::array<Argument, 2> args{Argument::of_node(base), text.argument()};
    text.expect(']');
    call(node, "_operator.getitem", args);
  } else if (base) {
    parse_infix(text, Argument::of_node(base), node);
  } else if (text.take('(')) {
    call_with(node, word, text, std::nullopt);
  } else {
    // A symbol, a constant, or a name that stands for nothing.
    text.rewind();
    const Argument left = text.argument();
    parse_infix(text, left, node);
  }
}

// `self.weight`, `getattr(self.layers, "0")(x)`, `getattr(x, 'shape', None)`.
void NodeBuilder::parse_attribute(PythonText& text, std::string_view expression, Node& node) {
  if (expression.starts_with("getattr(") && expression.find("self") == std::string_view::npos) {
    text.take("getattr(");
    call_with(node, "builtins.getattr", text, std::nullopt);
    return;
  }
  const Path path = parse_path(text, 0);
  if (path.first != "self") {
    const NodeId base = graph_.find(part_, path.first);
    if (!base)
      throw TextMistake{fmt::format("`{}` is no node before this one", path.first), path.first};
    const std::array<Argument, 2> args{
        Argument::of_node(base),
        Argument::of_text(Argument::Kind::string, graph_.intern(path.rest))};
    call(node, "builtins.getattr", args);
  } else if (path.rest.empty()) {
    text_mistake("`self` is no value");
  } else if (text.take('(')) {
    call_with(node, fmt::format("call_module.{}", path.rest), text, std::nullopt);
  } else {
    node.kind = NodeKind::get_attr;
    node.target = graph_.intern_operator(path.rest);
  }
}

void NodeBuilder::parse_infix(PythonText& text, Argument left, Node& node) {
  for (const auto& [token, name] : kInfix) {
    if (!text.take(token)) continue;
    const std::array<Argument, 2> args{left, text.argument()};
    call(node, fmt::format("_operator.{}", name), args);
    return;
  }
  if (text.take('^')) {
    const std::array<Argument, 2> args{left, text.argument()};
    call(node, "_operator.xor", args);
    return;
  }
  if (text.take('[')) {
    const std::array<Argument, 2> args{left, text.argument()};
    text.expect(']');
    call(node, "_operator.getitem", args);
    return;
  }
  text_mistake("a call is expected, not a plain value");
}

void NodeBuilder::call(Node& node, std::string_view target, std::span<const Argument> args) {
  node.target = target_of(target);
  node.args = graph_.make_children(Argument::Kind::list, args);
}

// The arguments up to the closing parenthesis, after `first` if there is one.
void NodeBuilder::call_with(Node& node, std::string_view target, PythonText& text,
                            std::optional<Argument> first) {
  node.target = target_of(target);
  if (graph_.target(node).starts_with("call_")) ++python_calls_;
  const PythonText::Call call = text.call_arguments();
  node.args = call.args;
  node.kwargs = call.kwargs;
  if (!first) return;
  std::vector<Argument> args{*first};
  const auto rest = graph_.children(call.args);
  args.insert(args.end(), rest.begin(), rest.end());
  node.args = graph_.make_children(Argument::Kind::list, args);
}

// A function as the text names it, under the name that captures use.
OperatorId NodeBuilder::target_of(std::string_view name) {
  const auto found = targets_.find(name);
  if (found != targets_.end()) return found->second;
  const auto known = [](const std::string& candidate) {
    return describe_operator(candidate).known;
  };
  std::string target(name);
  if (name.starts_with("torch.ops.")) {
    target.erase(0, std::string_view("torch.ops.").size());
    if (target.starts_with("higher_order."))
      target.erase(0, std::string_view("higher_order.").size());
    // A packet without its overload: which one torch takes is up to the arguments.
    if (std::count(target.begin(), target.end(), '.') == 1 && !known(target))
      for (const char* overload : {".default", ".Tensor"})
        if (known(target + overload)) {
          target += overload;
          ++assumed_overloads_;
          break;
        }
  } else if (name.starts_with("operator.")) {
    target = fmt::format("_{}", name);
  } else if (!known(target) && !name.starts_with("call_")) {
    // A function that torch knows nothing of is printed without dots: math_ceil, max.
    std::string dotted = target;
    if (dotted.starts_with("math_")) dotted[4] = '.';
    if (dotted.starts_with("_operator_")) dotted[9] = '.';
    if (known(dotted)) {
      target = dotted;
    } else if (known("builtins." + target)) {
      target = "builtins." + target;
    } else {
      target = "call_function." + target;
    }
  }
  const OperatorId id = graph_.intern_operator(target);
  // What `validate` would say, while the line is known.
  if (!graph_.op(id).known && !is_custom_operator(target))
    text_mistake(
        "unknown operator {}, not among those of torch {}; if a newer torch has it, regenerate "
        "resources/ops/operators.tsv",
        target, operator_table_version());
  targets_.emplace(name, id);
  return id;
}

void NodeBuilder::output() {
  number_ = body_.output.number;
  current_ = "output";
  try {
    PythonText text(graph_, part_, body_.output.text, PythonText::Style::fx);
    text.word();  // return
    const bool unflatten = text.take("pytree.tree_unflatten(");
    std::string descriptors;
    const bool described = body_.output.text.find('#') != std::string_view::npos;
    if (text.at_end()) text_mistake("nothing is returned; is the text cut off?");
    const std::array<Argument, 1> values{described ? output_elements(text, descriptors)
                                                   : text.argument()};
    if (unflatten) {
      text.expect(',');
      text.rest();
    }
    if (!text.at_end() && !text.take(';'))
      text_mistake("unexpected `{}` after the outputs", text.rest().substr(0, 40));
    Node node;
    node.part = part_;
    node.kind = NodeKind::output;
    // Where a value is called `output`, FX counts on; the text does not say how far.
    std::string name = "output";
    for (int i = 1; body_.makers.contains(name); ++i) name = fmt::format("output_{}", i);
    node.name = graph_.intern(name);
    node.target = graph_.intern_operator("output");
    node.args = graph_.make_children(Argument::Kind::list, values);
    node.set(Node::has_args);
    if (!descriptors.empty()) node.desc = graph_.intern(descriptors);
    put(node, name);
  } catch (const TextMistake& mistake) {
    explain(mistake);
  }
}

// `[add,  # PlainAOTOutput(idx=0)`, a line each.
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
  // A person's comment says nothing: what stood before it holds on.
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
    graph_.add_fact(Fact::Kind::derived,
                    "stack traces are not in the text: of each, its comments have the innermost "
                    "line, and modules are not in it at all");
  if (python_calls_ > 0)
    graph_.add_fact(Fact::Kind::warning,
                    fmt::format("{} calls are Python functions and methods, as before ATen: what "
                                "they compute and alias is not known in full",
                                python_calls_));
  if (assumed_overloads_ > 0)
    graph_.add_fact(Fact::Kind::derived,
                    fmt::format("{} operators have no overload in the text: `default`, else "
                                "`Tensor`, is taken",
                                assumed_overloads_));
}

}  // namespace jointer::fx

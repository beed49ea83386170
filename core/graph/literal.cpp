#include "core/graph/literal.h"

#include <algorithm>
#include <array>

#include "core/base/take_part.h"
#include "core/graph/complete.h"
#include "core/graph/python_text.h"
#include "core/graph/storages.h"

namespace jointer {
namespace {

class LiteralParser {
 public:
  explicit LiteralParser(Graph& graph)
      : graph_(graph),
        part_(graph.add_part({.kind = CaptureKind::joint, .name = "literal"})),
        storages_(graph, part_) {
    graph_.set_title("literal");
  }

  void statement(std::string_view text) {
    PythonText line(graph_, part_, text);
    if (line.at_end()) return;
    const std::string first{line.word()};
    if (first == "kind") {
      set_kind(line.word());
    } else if (first == "device") {
      device_ = line.rest();
    } else if (first == "group") {
      add_group(line);
    } else if (first == "return") {
      add_output(line);
    } else {
      line.expect(':');
      assign(first, line);
    }
    if (!line.at_end()) text_mistake("unexpected text at column {}", line.column());
  }

 private:
  void set_kind(std::string_view name) {
    for (const CaptureKind kind : {CaptureKind::joint, CaptureKind::forward, CaptureKind::backward,
                                   CaptureKind::train_step}) {
      if (to_string(kind) != name) continue;
      graph_.part(part_).kind = kind;
      return;
    }
    text_mistake("unknown kind `{}`; expected joint, forward, backward or train_step", name);
  }

  void add_group(PythonText& line) {
    ProcessGroup group;
    group.name = graph_.intern(line.word());
    line.expect(':');
    while (!line.at_end()) group.ranks.push_back(static_cast<std::int32_t>(line.integer()));
    const GroupId id = graph_.add_group(std::move(group));
    graph_.part(part_).groups.push_back(id);
  }

  void add_output(PythonText& line) {
    const std::array<Argument, 1> values{line.argument()};
    Node node = make_node("output", "output", NodeKind::output);
    node.args = graph_.make_children(Argument::Kind::list, values);
    node.partitioner_tag = graph_.intern("is_backward");
    graph_.add_node(node);
  }

  void assign(const std::string& name, PythonText& line) {
    std::vector<TensorText> types;
    const bool is_tuple = line.take('(');
    if (is_tuple) {
      do types.push_back(line.tensor_type());
      while (line.take(','));
      line.expect(')');
    } else if (!line.take("none")) {
      types.push_back(line.tensor_type());
    }
    line.expect('=');
    const std::string target{line.word()};

    PythonText::Call call;
    Node node;
    if (line.take('(')) {
      call = line.call_arguments();
      node = make_node(name, full_target(target), NodeKind::call);
      if (!graph_.op(node).known && !is_custom_operator(graph_.target(node)))
        text_mistake("unknown operator `{}`", target);
    } else if (line.take('[')) {
      const NodeId tuple = graph_.find(part_, target);
      if (!tuple) text_mistake("`{}` is not the name of an earlier node", target);
      const std::array<Argument, 2> arguments{Argument::of_node(tuple), line.argument()};
      line.expect(']');
      call.args = graph_.make_children(Argument::Kind::list, arguments);
      node = make_node(name, "_operator.getitem", NodeKind::call);
    } else {
      node = make_node(name, name, role_kind(target));
      set_role(node, target);
    }
    node.args = call.args;
    node.kwargs = call.kwargs;
    node.set(Node::has_args, node.kind == NodeKind::call);
    node.set(Node::has_kwargs, call.has_kwargs);
    node.set(Node::has_value);
    node.value = make_value(node, types, is_tuple);
    read_attributes(node, line);
    graph_.add_node(node);
  }

  Node make_node(std::string_view name, std::string_view target, NodeKind kind) {
    Node node;
    node.part = part_;
    node.name = graph_.intern(name);
    node.target = graph_.intern_operator(target);
    node.kind = kind;
    node.partitioner_tag = graph_.intern("is_forward");
    node.set(Node::has_args, kind == NodeKind::output);
    return node;
  }

  // `aten.mm` stands for `aten.mm.default`.
  static std::string full_target(const std::string& target) {
    const bool has_overload = std::ranges::count(target, '.') != 1;
    const std::string full = target + ".default";
    return !has_overload && describe_operator(full).known ? full : target;
  }

  static NodeKind role_kind(std::string_view role) {
    return role == "constant" ? NodeKind::get_attr : NodeKind::placeholder;
  }

  void set_role(Node& node, std::string_view role) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kDescriptors{{
        {"parameter", R"({{"type":"ParamAOTInput","target":"{}"}})"},
        {"buffer", R"({{"type":"BufferAOTInput","target":"{}"}})"},
        {"input", R"({{"type":"PlainAOTInput"}})"},
        {"tangent", R"({{"type":"TangentAOTInput"}})"},
        {"saved", ""},
        {"constant", ""},
    }};
    for (const auto& [name, descriptor] : kDescriptors) {
      if (name != role) continue;
      if (role == "tangent") node.partitioner_tag = graph_.intern("is_backward");
      if (!descriptor.empty())
        node.desc = graph_.intern(fmt::format(fmt::runtime(descriptor), graph_.text(node.name)));
      return;
    }
    text_mistake(
        "`{}` is neither a call nor a role (parameter, buffer, input, tangent, saved, "
        "constant)",
        role);
  }

  Value make_value(const Node& node, const std::vector<TensorText>& types, bool is_tuple) {
    std::vector<Value> values;
    values.reserve(types.size());
    for (const TensorText& type : types)
      values.push_back(Value::of_tensor(make_tensor(node, type, values.size())));
    if (is_tuple) return graph_.make_children(Value::Kind::list, values);
    return values.empty() ? Value{} : values.front();
  }

  TensorId make_tensor(const Node& node, const TensorText& type, std::size_t output) {
    const std::vector<Dim> stride = type.has_stride ? type.stride : contiguous_strides(type.shape);
    const std::int64_t bytes = storage_extent(type.shape, stride, {}, type.dtype);
    Tensor tensor;
    tensor.dtype = type.dtype;
    tensor.device = graph_.intern_device(type.device.empty() ? device_ : type.device);
    tensor.storage = node.kind == NodeKind::call
                         ? storages_.storage_of(graph_.op(node), node.args, node.kwargs, output,
                                                storage_bytes(type, bytes))
                         : storages_.fresh(storage_bytes(type, bytes));
    tensor.set(Tensor::has_stride);
    tensor.set(Tensor::has_offset);
    tensor.set(Tensor::has_storage);
    return graph_.add_tensor(tensor, type.shape, stride, {});
  }

  // A tensor with a symbolic shape gets a storage of symbolic size: the product of its sizes and
  // its element size.
  Dim storage_bytes(const TensorText& type, std::int64_t bytes) {
    std::string product = std::to_string(item_size(type.dtype));
    bool symbolic = false;
    for (const Dim& size : type.shape) {
      symbolic = symbolic || size.expression;
      product += size.expression ? fmt::format("*({})", graph_.expression_text(size.expression))
                                 : fmt::format("*{}", size.value);
    }
    if (!symbolic) return {.value = bytes};
    const auto expression = graph_.intern_expression(part_, product, {});
    if (!expression) text_mistake("{}", expression.error().message);
    return {.value = 0, .expression = *expression};
  }

  void read_attributes(Node& node, PythonText& line) {
    if (!line.take('{')) return;
    while (!line.take('}')) {
      const std::string word{line.word()};
      if (const auto policy = parse_memory_policy(word)) {
        node.policy = *policy;
      } else if (word == "backward") {
        node.partitioner_tag = graph_.intern("is_backward");
      } else if (word == "recomputed") {
        node.set(Node::recomputed);
      } else {
        const std::array<ModuleFrame, 1> frame{
            {{.path = graph_.intern("L['self']." + word), .type = graph_.intern("Module")}}};
        node.module = graph_.add_module_stack(part_, frame);
      }
    }
  }

  Graph& graph_;
  PartId part_;
  StorageDeriver storages_;
  std::string device_ = "cuda:0";
};

}  // namespace

Result<Graph> parse_literal(std::string_view text) {
  Graph graph;
  LiteralParser parser(graph);
  std::size_t number = 0;
  while (!text.empty()) {
    std::string_view line = take_part(text, '\n');
    line = line.substr(0, line.find('#'));
    ++number;
    try {
      parser.statement(line);
    } catch (const TextMistake& mistake) {
      return input_error("line {}: {}", number, mistake.message);
    }
  }
  JOINTER_CHECK(complete(graph));
  return graph;
}

}  // namespace jointer

// Writes a graph as GraphModule.print_readable(include_stride=True, include_device=True) prints it.
//
// If a placeholder or the output has descriptors, each argument or result is on its own line, as in
// torch's logs. The last node that reads a value is followed by `; x = None`, as FX's code
// generator writes it. Deviations: classes are named after the kind of graph; phases are printed as
// additional metadata, so that reading the text restores them.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/characters.h"
#include "core/base/json_text.h"
#include "core/base/take_part.h"
#include "core/base/utf8.h"
#include "core/capture/native_reader.h"
#include "core/report/export.h"
#include "core/report/python_repr.h"

namespace jointer {
namespace {

constexpr int kMaxSubgraphDepth = 16;

std::string identifier(std::string_view text, std::string_view fallback) {
  std::string name;
  for (const char c : text) name += is_name_character(c) ? c : '_';
  if (name.empty()) name = fallback;
  if (is_digit(name.front())) name.insert(0, "_");
  return name;
}

// `File: m.py:12 in forward, code: x + y` for the innermost frame of a traceback, as torch prints
// it.
std::string stack_summary(std::string_view stack) {
  std::vector<std::string_view> lines;
  while (!stack.empty()) {
    std::string_view line = take_part(stack, '\n');
    while (line.starts_with(' ')) line.remove_prefix(1);
    lines.push_back(line);
  }
  for (std::size_t i = lines.size(); i-- > 1;) {
    const std::string_view line = lines[i - 1];
    const auto quote = line.find("\", line ");
    const auto in = line.find(", in ", quote == std::string_view::npos ? 0 : quote);
    if (!line.starts_with("File \"") || quote == std::string_view::npos ||
        in == std::string_view::npos)
      continue;
    return fmt::format("File: {}:{} in {}, code: {}", line.substr(6, quote - 6),
                       line.substr(quote + 8, in - quote - 8), line.substr(in + 5), lines[i]);
  }
  return "No stacktrace found for following nodes";
}

class FxTextWriter {
 public:
  FxTextWriter(const Graph& graph, PartId part, std::string& out)
      : graph_(graph), part_(part), out_(out), repr_(graph) {
    for (const NodeId id : graph.order())
      if (graph.node(id).part == part) nodes_.push_back(id);
    find_last_uses();
  }

  void write(std::string_view name, std::size_t indent, int depth) {
    indent_ = std::string(indent, ' ');
    line(0, fmt::format("class {}(torch.nn.Module):", name));
    head();
    for (const NodeId id : nodes_) {
      const Node& n = graph_.node(id);
      if (n.kind == NodeKind::placeholder) continue;
      if (n.kind == NodeKind::output) {
        output(n);
      } else {
        comment(n);
        statement(id, n);
      }
    }
    if (depth < kMaxSubgraphDepth) subgraphs(indent, depth);
  }

 private:
  void line(std::size_t indent, std::string_view text) {
    out_ += indent_;
    out_.append(indent, ' ');
    out_ += text;
    out_ += '\n';
  }

  // For each node, finds the values that it is the last to read, in the order of its arguments. A
  // value that is never read is assigned to its own node.
  void find_last_uses() {
    std::vector<bool> is_used(graph_.node_count(), false);
    last_uses_.resize(graph_.node_count());
    for (std::size_t i = nodes_.size(); i-- > 0;)
      for (const NodeId input : graph_.inputs(nodes_[i])) {
        if (is_used[input.index()]) continue;
        is_used[input.index()] = true;
        last_uses_[nodes_[i].index()].push_back(input);
      }
    for (const NodeId id : nodes_)
      if (!is_used[id.index()] && graph_.node(id).kind != NodeKind::output)
        last_uses_[id.index()].push_back(id);
  }

  void head() {
    bool expanded = false;
    std::vector<std::string> parameters, renamed;
    std::vector<const Node*> nodes;
    for (const NodeId id : nodes_) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::placeholder) continue;
      expanded = expanded || n.desc;
      const std::string target = identifier(graph_.target(n), "input");
      const std::string type = repr_.type(n.value);
      parameters.push_back(type.empty() ? target : fmt::format("{}: \"{}\"", target, type));
      nodes.push_back(&n);
      if (target != graph_.name(id))
        renamed.push_back(fmt::format("{} = {}", graph_.name(id), target));
    }
    if (expanded) {
      line(4, "def forward(");
      line(8, "self,");
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::string desc = json_repr(graph_.text(nodes[i]->desc));
        line(8, parameters[i] + (desc.empty() ? "," : ",  # " + desc));
      }
      line(4, "):");
    } else {
      parameters.insert(parameters.begin(), "self");
      line(4, fmt::format("def forward({}):", fmt::join(parameters, ", ")));
    }
    for (const std::string& each : renamed) line(8, each);
  }

  void comment(const Node& n) {
    std::string text = "#";
    if (n.phase == Phase::backward && graph_.part(part_).kind != CaptureKind::backward)
      text = "# partitioner_tag: is_backward #";
    if (const std::string annotation = annotation_of(n); !annotation.empty())
      text += " Annotation: " + annotation;
    const std::string_view policy = to_string(n.policy);
    if (n.has(Node::has_ac_graph_id))
      text +=
          fmt::format(" ac_graph_id: {}{}{}", n.ac_graph_id, policy.empty() ? "" : " - ", policy);
    else if (!policy.empty())
      text += fmt::format(" recompute: {}", policy);
    text += ' ';
    text += n.stack ? stack_summary(graph_.text(graph_.stack(n.stack).text)) : stack_summary({});
    if (text == last_comment_) return;
    if (!last_comment_.empty()) out_ += '\n';
    line(8, text);
    last_comment_ = std::move(text);
  }

  // Truncates long values, as torch does.
  [[nodiscard]] std::string annotation_of(const Node& n) const {
    constexpr std::size_t kMax = 40;  // characters
    const std::string_view custom = graph_.text(n.custom);
    if (custom.empty()) return {};
    OrderedJson json = OrderedJson::parse(custom, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || json.empty()) return {};
    for (auto& [key, value] : json.items()) {
      const std::string text = value.is_string() ? value.get<std::string>() : json_repr(value);
      if (const std::string_view shown = first_characters(text, kMax); shown.size() < text.size())
        value = std::string(shown) + "...";
    }
    return json_repr(json);
  }

  void statement(NodeId id, const Node& n) {
    const std::string type = repr_.type(n.value);
    const std::string name = type.empty() ? std::string(graph_.name(id))
                                          : fmt::format("{}: \"{}\"", graph_.name(id), type);
    std::string text;
    if (n.kind == NodeKind::get_attr)
      text = fmt::format("{} = {}", name, attribute_path("self", graph_.target(n)));
    else
      text = repr_.call(n, name);
    const std::vector<NodeId>& dead = last_uses_[id.index()];
    if (!dead.empty()) {
      text += ";  ";
      for (const NodeId input : dead) text += fmt::format("{} = ", graph_.name(input));
      text += "None";
    }
    line(8, text);
  }

  void output(const Node& n) {
    const auto args = graph_.args(n);
    const OrderedJson descriptors =
        OrderedJson::parse(graph_.text(n.desc), nullptr, /*allow_exceptions=*/false);
    const bool is_list = args.size() == 1 && (args[0].kind == Argument::Kind::list ||
                                              args[0].kind == Argument::Kind::tuple);
    if (!is_list || !descriptors.is_array()) {
      line(8, "return " + (args.empty() ? "None" : repr_.argument(args[0])));
      return;
    }
    const bool tuple = args[0].kind == Argument::Kind::tuple;
    line(8, fmt::format("return {}", tuple ? '(' : '['));
    const auto elements = graph_.children(args[0]);
    for (std::size_t i = 0; i < elements.size(); ++i)
      line(12, fmt::format("{},  # {}", repr_.argument(elements[i]),
                           i < descriptors.size() ? json_repr(descriptors[i]) : "None"));
    line(8, tuple ? ")" : "]");
  }

  // Writes the subgraphs, which are stored as JSON in the part's constants. Reads each like a
  // capture.
  void subgraphs(std::size_t indent, int depth) {
    const std::string_view text = graph_.part(part_).constants;
    if (text.find("\"subgraph\"") == std::string_view::npos) return;
    OrderedJson constants = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!constants.is_object()) return;
    for (auto& [name, constant] : constants.items()) {
      if (!constant.is_object() || !constant.contains("subgraph")) continue;
      OrderedJson& subgraph = constant["subgraph"];
      if (!subgraph.is_object() || !subgraph.contains("nodes")) continue;
      for (OrderedJson& node : subgraph["nodes"])
        if (node.is_object()) {
          node.erase("stack");
          node.erase("module");
        }
      OrderedJson document = {{"format", "jointer-capture"},
                              {"version", 1},
                              {"kind", "subgraph"},
                              {"storages", std::vector<int>(graph_.storage_count(), 0)}};
      document.update(subgraph);
      const auto inner = read_native(name, PaddedBytes(write_json(document)));
      if (!inner) continue;
      out_ += '\n';
      FxTextWriter(*inner, PartId(0), out_)
          .write(identifier(name, "subgraph"), indent + 4, depth + 1);
    }
  }

  const Graph& graph_;
  PartId part_;
  std::string& out_;
  PythonRepr repr_;
  std::string indent_, last_comment_;
  std::vector<NodeId> nodes_;
  std::vector<std::vector<NodeId>> last_uses_;  // by node id
};

}  // namespace

std::string export_fx_text(const Graph& graph, const Analysis& /*analysis*/) {
  return export_fx_text(graph);
}

std::string export_fx_text(const Graph& graph) {
  std::string out;
  for (std::size_t p = 0; p < graph.part_count(); ++p) {
    if (p > 0) out += '\n';
    const std::string_view kind = to_string(graph.part(PartId(p)).kind);
    FxTextWriter(graph, PartId(p), out).write(kind, 0, 0);
  }
  return out;
}

}  // namespace jointer

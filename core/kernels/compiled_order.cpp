#include "core/kernels/compiled_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "core/base/checked.h"
#include "core/base/index.h"
#include "core/base/json_text.h"

namespace jointer::kernels {

namespace {

constexpr int kFormatVersion = 1;
constexpr int kIndentWidth = 2;

bool starts_collective(const Graph& graph, NodeId id) {
  return graph.is_collective_start(graph.node(id));
}

// Writes the collectives and the moves of one part.
class OrderWriter {
 public:
  explicit OrderWriter(const PartMoves& of)
      : of_(of), graph_(of.graph), numbers_(of.graph.node_count()) {
    std::unordered_map<std::uint32_t, std::int64_t> counts;
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.part == of.part && node.kind == NodeKind::call)
        numbers_[id.index()] = counts[node.target.value()]++;
    }
    for (const Kernel& kernel : of.kernels.kernels) {
      if (kernel.kind != Kernel::Kind::collective) continue;
      const NodeId start = main_node(graph_, kernel);
      if (start) sequence_.emplace(start.value(), static_cast<std::int64_t>(starts_.size()));
      starts_.push_back(start);
    }
    std::unordered_map<std::int64_t, std::int64_t> waits;
    for (const Kernel& kernel : of.kernels.kernels) {
      if (kernel.kind != Kernel::Kind::wait) continue;
      const std::int64_t collective = collective_of(kernel);
      if (const NodeId wait = main_node(graph_, kernel); wait && collective >= 0)
        wait_numbers_.emplace(wait.value(), waits[collective]++);
    }
  }

  [[nodiscard]] OrderedJson part() const {
    OrderedJson json;
    json["torch"] = fmt::format("{}.{}", of_.torch.major, of_.torch.minor);
    json["kernels"] = of_.kernels.kernels.size();
    json["peak_bytes"] = of_.peak_before;
    json["moved_peak_bytes"] = of_.peak_after;
    json["collectives"] = collectives();
    OrderedJson moves = OrderedJson::array();
    for (const KernelMove& move : of_.moves) {
      OrderedJson& written = moves.emplace_back(OrderedJson::object());
      written["move"] = reference(move.kernel);
      written[move.before ? "before" : "after"] = reference(move.anchor);
    }
    json["moves"] = std::move(moves);
    return json;
  }

 private:
  [[nodiscard]] std::int64_t collective_of(const Kernel& kernel) const {
    for (const NodeId id : kernel.nodes) {
      if (!graph_.is_wait(graph_.node(id))) continue;
      const NodeId start = graph_.collective_of_wait(graph_.node(id));
      const auto found = start ? sequence_.find(start.value()) : sequence_.end();
      if (found != sequence_.end()) return found->second;
    }
    return -1;
  }

  [[nodiscard]] OrderedJson collectives() const {
    OrderedJson list = OrderedJson::array();
    std::vector<GroupId> groups;  // in the order of their first collective
    for (const NodeId start : starts_) {
      OrderedJson& each = list.emplace_back(OrderedJson::object());
      if (!start) continue;
      const Node& node = graph_.node(start);
      each["target"] = std::string(graph_.target(node));
      if (node.group) {
        auto at = std::find(groups.begin(), groups.end(), node.group);
        if (at == groups.end()) at = groups.insert(groups.end(), node.group);
        each["group"] = at - groups.begin();
      }
      // group_size is also 1 if the number of ranks is unknown.
      if (const std::int64_t ranks = graph_.group_size(node); ranks > 1) each["ranks"] = ranks;
      add_size(node, each);
    }
    return list;
  }

  // The data type and the number of elements that the call sends. Left out if a size is symbolic,
  // since it may differ in the run.
  void add_size(const Node& node, OrderedJson& json) const {
    const bool is_of_many = graph_.target(node).find("coalesced") != std::string_view::npos;
    std::int64_t numel = 0;
    const Tensor* first = nullptr;
    for (const NodeId input : graph_.inputs(node)) {
      for (const Tensor& tensor : graph_.tensors(input)) {
        if (first != nullptr && !is_of_many) continue;
        if (first == nullptr) first = &tensor;
        for (const Dim& size : graph_.shape(tensor))
          if (size.expression) return;
        numel = saturating_add(numel, graph_.numel(tensor));
      }
    }
    if (first == nullptr) return;
    json["dtype"] = std::string(jointer::to_string(first->dtype));
    json["numel"] = numel;
  }

  [[nodiscard]] OrderedJson reference(std::int32_t index) const {
    const Kernel& kernel = of_.kernels.kernels[as_index(index)];
    OrderedJson json;
    json["kind"] = std::string(to_string(kernel.kind));
    if (kernel.kind == Kernel::Kind::collective) {
      const auto before = of_.kernels.kernels.begin();
      json["collective"] = std::count_if(before, before + index, [](const Kernel& each) {
        return each.kind == Kernel::Kind::collective;
      });
    } else if (kernel.kind == Kernel::Kind::wait) {
      if (const std::int64_t collective = collective_of(kernel); collective >= 0) {
        json["collective"] = collective;
        const auto number = wait_numbers_.find(main_node(graph_, kernel).value());
        if (number != wait_numbers_.end() && number->second > 0) json["wait"] = number->second;
      }
    }
    OrderedJson nodes = OrderedJson::array();
    for (const NodeId id : kernel.nodes)
      nodes.push_back({{"name", std::string(graph_.name(id))},
                       {"target", std::string(graph_.target(graph_.node(id)))},
                       {"number", numbers_[id.index()]}});
    json["nodes"] = std::move(nodes);
    return json;
  }

  const PartMoves& of_;
  const Graph& graph_;
  std::vector<std::int64_t> numbers_;  // by node: number of calls of its operator before it
  std::vector<NodeId> starts_;         // collectives, in order
  std::unordered_map<std::uint32_t, std::int64_t> sequence_, wait_numbers_;  // by node
};

// Writes each collective and each move on its own line.
void print(const OrderedJson& json, int depth, std::string& out) {
  constexpr int kDeepest = 4;  // document, graphs, graph, list
  if (!json.is_structured() || json.empty() || depth == kDeepest) {
    out += write_json(json);
    return;
  }
  const auto indent = [&](int level) {
    out += '\n' + std::string(static_cast<std::size_t>(kIndentWidth * level), ' ');
  };
  out += json.is_array() ? '[' : '{';
  bool is_first = true;
  for (const auto& item : json.items()) {
    if (!std::exchange(is_first, false)) out += ',';
    indent(depth + 1);
    if (json.is_object()) out += quoted_json(item.key()) + ": ";
    print(item.value(), depth + 1, out);
  }
  indent(depth);
  out += json.is_array() ? ']' : '}';
}

std::string_view key_of(const Graph& graph, PartId part) {
  const CaptureKind kind = graph.part(part).kind;
  return kind == CaptureKind::forward || kind == CaptureKind::backward ? to_string(kind) : "graph";
}

}  // namespace

NodeId main_node(const Graph& graph, const Kernel& kernel) {
  if (kernel.kind == Kernel::Kind::collective)
    for (const NodeId id : kernel.nodes)
      if (starts_collective(graph, id)) return id;
  return kernel.nodes.empty() ? NodeId() : kernel.nodes.front();
}

std::string kernel_label(const Graph& graph, const Kernels& kernels, std::int32_t kernel,
                         std::size_t before) {
  const NodeId node = main_node(graph, kernels.kernels[as_index(kernel)]);
  return node ? std::string(graph.name(node))
              : fmt::format("kernel {}", before + as_index(kernel) + 1);
}

Result<std::string> write_compiled_order(std::string_view title, std::span<const PartMoves> parts) {
  OrderedJson json;
  json["format"] = std::string(kCompiledOrderFormat);
  json["version"] = kFormatVersion;
  if (!title.empty()) json["name"] = std::string(title);
  OrderedJson graphs = OrderedJson::object();
  for (const PartMoves& part : parts) {
    if (part.graph.part(part.part).kind == CaptureKind::joint)
      return fail(Error::Kind::usage,
                  "torch compiles the halves of a joint graph separately; partition the graph, and "
                  "move kernels of the pair");
    graphs[std::string(key_of(part.graph, part.part))] = OrderWriter(part).part();
  }
  json["graphs"] = std::move(graphs);
  std::string text;
  print(json, 0, text);
  text += '\n';
  return text;
}

}  // namespace jointer::kernels

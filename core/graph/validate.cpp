#include "core/graph/validate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/graph/derive.h"
#include "core/graph/unused_entries.h"

namespace jointer {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 62;

std::string where(const Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  return fmt::format("node {} ({}{})", graph.name(id), graph.target(n),
                     graph.is_pair() ? (n.part.index() == 0 ? ", forward" : ", backward") : "");
}

class Validator {
 public:
  explicit Validator(const Graph& graph) : graph_(graph) {}

  Result<void> run() {
    JOINTER_CHECK(check_order());
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      JOINTER_CHECK(check_name(id, n));
      JOINTER_CHECK(check_inputs(id, n));
    }
    JOINTER_CHECK(check_sizes());
    return check_outputs();
  }

  Result<void> check_sizes() {
    JOINTER_CHECK(check_storages());
    for (const NodeId id : graph_.order()) JOINTER_CHECK(check_tensors(id, graph_.node(id)));
    return {};
  }

 private:
  Result<void> check_order() {
    std::size_t live = 0;
    for (std::size_t i = 0; i < graph_.node_count(); ++i) live += graph_.is_live(NodeId(i)) ? 1 : 0;
    if (graph_.order().size() != live)
      return input_error("the program order contains {} of {} live nodes", graph_.order().size(),
                         live);
    std::vector<bool> seen(graph_.node_count(), false);
    for (const NodeId id : graph_.order()) {
      if (id.index() >= seen.size())
        return input_error("the program order names node {}, which does not exist", id.index());
      if (seen[id.index()]) return input_error("the program order names node {} twice", id.index());
      if (!graph_.is_live(id) || graph_.order()[graph_.position(id)] != id)
        return input_error("node {}: the position does not match the program order",
                           graph_.name(id));
      seen[id.index()] = true;
    }
    return {};
  }

  Result<void> check_storages() {
    std::int64_t sum = 0;
    const std::vector<bool> is_unused = find_unused_storages(graph_);
    for (std::size_t i = 0; i < graph_.storage_count(); ++i) {
      if (is_unused[i]) continue;
      const std::int64_t bytes = graph_.storage(StorageId(i)).bytes.value;
      if (bytes < 0) return input_error("storage {} has a negative size of {} bytes", i, bytes);
      const auto next = checked_add(sum, bytes);
      if (!next || *next > kMaxBytes)
        return input_error("storage {} of {} bytes: the storages add up to more than 4 EiB", i,
                           bytes);
      sum = *next;
    }
    return {};
  }

  Result<void> check_name(NodeId id, const Node& n) {
    if (graph_.name(id).empty()) return input_error("node {} has no name", id.index());
    if (!names_.insert((std::uint64_t{n.part.value()} << 32) | n.name.value()).second)
      return input_error("{}: another node has the same name; names must be unique",
                         where(graph_, id));
    return {};
  }

  // Checks the producers first: determining which argument is wrong is slow and rarely needed.
  Result<void> check_inputs(NodeId id, const Node& n) {
    const auto inputs = graph_.inputs(n);
    if (std::ranges::all_of(inputs, [&](NodeId input) {
          return graph_.node(input).part == n.part && graph_.is_live(input) &&
                 graph_.position(input) < graph_.position(id);
        }))
      return {};
    JOINTER_CHECK(check_argument(id, n, n.args, "argument"));
    return check_keywords(id, n);
  }

  Result<void> check_argument(NodeId id, const Node& n, const Argument& argument,
                              std::string_view path) {
    if (argument.kind == Argument::Kind::node) {
      const NodeId input = argument.node();
      if (graph_.node(input).part != n.part)
        return input_error("{}: {} reads {}, which is in the other half", where(graph_, id), path,
                           graph_.name(input));
      if (!graph_.is_live(input))
        return input_error("{}: {} reads {}, which was removed", where(graph_, id), path,
                           graph_.name(input));
      if (graph_.position(input) >= graph_.position(id))
        return input_error("{}: {} reads {}, {}; the graph is cyclic or out of order",
                           where(graph_, id), path, graph_.name(input),
                           input == id ? "the node itself" : "which comes later");
      return {};
    }
    const auto children = graph_.children(argument);
    for (std::size_t i = 0; i < children.size(); ++i) {
      const bool leaf = children[i].kind != Argument::Kind::node && !children[i].has_children();
      if (leaf) continue;
      JOINTER_CHECK(check_argument(id, n, children[i], fmt::format("{}[{}]", path, i)));
    }
    return {};
  }

  Result<void> check_keywords(NodeId id, const Node& n) {
    const auto pairs = graph_.children(n.kwargs);
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
      JOINTER_CHECK(check_argument(id, n, pairs[i + 1],
                                   fmt::format("argument `{}`", graph_.text(pairs[i].text()))));
    return {};
  }

  Result<void> check_tensors(NodeId id, const Node& n) {
    for (const Tensor& t : graph_.tensors(n)) {
      for (const Dim& size : graph_.shape(t))
        if (size.value < 0)
          return input_error(
              "{}: size {} is negative{}", where(graph_, id), size.value,
              size.expression
                  ? fmt::format(" (`{}` under the assumed sizes; change them with --assume)",
                                graph_.expression_text(size.expression))
                  : std::string());
      if (t.storage && t.storage.index() >= graph_.storage_count())
        return input_error("{}: storage {} is out of range: the table has size {}",
                           where(graph_, id), t.storage.index(), graph_.storage_count());
      tensor_bytes_ = saturating_add(tensor_bytes_, graph_.bytes(t));
      if (tensor_bytes_ > kMaxBytes)
        return input_error(
            "{}: tensor {} brings the graph's tensors to more than 4 EiB; check its shape",
            where(graph_, id), shape_text(t));
    }
    return {};
  }

  std::string shape_text(const Tensor& t) const {
    std::string text = fmt::format("{}[", short_name(t.dtype));
    for (const Dim& size : graph_.shape(t))
      text += fmt::format("{}{}", text.ends_with('[') ? "" : ", ", size.value);
    return text + "]";
  }

  Result<void> check_outputs() {
    std::vector<NodeId> last(graph_.part_count());
    std::vector<std::size_t> outputs(graph_.part_count(), 0);
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      last[n.part.index()] = id;
      outputs[n.part.index()] += n.kind == NodeKind::output ? 1 : 0;
    }
    for (std::size_t part = 0; part < last.size(); ++part) {
      if (outputs[part] != 1)
        return input_error("the graph has {} output nodes instead of one; is the file truncated?",
                           outputs[part]);
      if (graph_.node(last[part]).kind != NodeKind::output)
        return input_error("{} comes after the output", where(graph_, last[part]));
      JOINTER_CHECK(check_descriptors(last[part]));
    }
    return {};
  }

  // Descriptors are matched to outputs by position: if one is missing, all later ones are wrong.
  Result<void> check_descriptors(NodeId output) {
    const std::string_view text = graph_.text(graph_.node(output).desc);
    const auto descriptors =
        nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    const std::size_t values = output_arguments(graph_, output).size();
    if (!descriptors.is_array() || descriptors.size() == values) return {};
    return input_error("{} returns {}, but `desc` describes {}", where(graph_, output),
                       counted(values, "value"), descriptors.size());
  }

  const Graph& graph_;
  std::unordered_set<std::uint64_t> names_;
  std::int64_t tensor_bytes_ = 0;  // of the tensors checked so far
};

// The number of bytes from the start of the storage to the end of the tensor's last element.
// nullopt if the number overflows.
std::optional<std::int64_t> extent(const Graph& graph, const Tensor& t) {
  const auto shape = graph.shape(t), stride = graph.stride(t);
  std::int64_t last = graph.offset(t).value;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].value == 0) return 0;
    const auto step = checked_mul(shape[i].value - 1, stride[i].value);
    const auto next = step ? checked_add(last, *step) : std::nullopt;
    if (!next) return std::nullopt;
    last = *next;
  }
  const auto elements = checked_add(last, 1);
  return elements ? checked_mul(*elements, item_size(t.dtype)) : std::nullopt;
}

}  // namespace

Result<void> validate(const Graph& graph) {
  return Validator(graph).run();
}

Result<void> validate_sizes(const Graph& graph) {
  return Validator(graph).check_sizes();
}

std::vector<std::string> find_warnings(const Graph& graph) {
  std::vector<std::string> warnings;
  std::size_t beyond = 0, groupless = 0, idle_waits = 0;
  std::vector<bool> is_opaque(graph.operator_count(), false);
  std::size_t opaque_calls = 0;
  NodeId first_beyond, first_groupless, first_idle;
  const auto count = [](std::size_t& counter, NodeId& first, NodeId id) {
    if (counter++ == 0) first = id;
  };
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind == NodeKind::call && graph.op(n).is_opaque()) {
      is_opaque[n.target.index()] = true;
      ++opaque_calls;
    }
    if (graph.is_collective_start(n) && !n.group) count(groupless, first_groupless, id);
    // A wait on a placeholder is valid: the forward may have started the collective.
    if (graph.is_wait(n) && !graph.collective_of_wait(n) && n.input_count > 0 &&
        graph.node(graph.inputs(n).front()).kind != NodeKind::placeholder)
      count(idle_waits, first_idle, id);
    for (const Tensor& t : graph.tensors(n)) {
      if (!t.storage || !t.has(Tensor::has_stride)) continue;
      const auto bytes = extent(graph, t);
      if (!bytes || *bytes > graph.storage(t.storage).bytes.value) count(beyond, first_beyond, id);
    }
  }
  if (beyond > 0)
    warnings.push_back(fmt::format("{} beyond the end of the storage, first {}",
                                   counted(beyond, "tensor reaches", "tensors reach"),
                                   graph.name(first_beyond)));
  if (groupless > 0)
    warnings.push_back(fmt::format("{} no process group, first {}",
                                   counted(groupless, "collective names", "collectives name"),
                                   graph.name(first_groupless)));
  if (idle_waits > 0)
    warnings.push_back(fmt::format("{} not wait for a collective or a copy of this graph, first {}",
                                   counted(idle_waits, "wait does", "waits do"),
                                   graph.name(first_idle)));
  if (const auto first = std::ranges::find(is_opaque, true); first != is_opaque.end())
    warnings.push_back(fmt::format(
        "{} of {} without a schema, first {}: aliasing and writes are known only from the file, "
        "and times are estimated from the bytes read and written",
        counted(opaque_calls, "call"),
        counted(static_cast<std::size_t>(std::ranges::count(is_opaque, true)), "operator"),
        graph.op(OperatorId(static_cast<std::size_t>(first - is_opaque.begin()))).name));
  return warnings;
}

}  // namespace jointer

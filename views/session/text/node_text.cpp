#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

#include <QCoreApplication>

#include "core/cost/collective_model.h"

namespace jointer::views {
namespace {

QString words(const char* text) {
  return QCoreApplication::translate("Node", text);
}

}  // namespace

QString tensor_text(const Graph& graph, const Tensor& tensor) {
  QString text = to_qstring(short_name(tensor.dtype)) + '[';
  bool first = true;
  for (const Dim& size : graph.shape(tensor)) {
    if (!first) text += ", ";
    first = false;
    text += QString::number(size.value);
  }
  return text + ']';
}

QString value_text(const Graph& graph, const Node& node) {
  if (const Tensor* t = graph.single_tensor(node)) return tensor_text(graph, *t);
  if (node.tensor_count > 0)
    return words("%1, %2").arg(
        node.tensor_count == 1 ? words("1 tensor") : words("%1 tensors").arg(node.tensor_count),
        bytes_text(graph.output_bytes(node)));
  if (node.value.kind == Value::Kind::symbol)
    return words("%1 = %2")
        .arg(to_qstring(graph.expression_text(node.value.expression())))
        .arg(graph.expression_value(node.value.expression()));
  return {};
}

QString phase_text(const Node& node) {
  if (node.has(Node::recomputed)) return words("backward (recomputed)");
  return node.phase == Phase::forward ? words("forward") : words("backward");
}

QString policy_text(MemoryPolicy policy) {
  switch (policy) {
    case MemoryPolicy::none:
      return {};
    case MemoryPolicy::must_save:
      return words("must save");
    case MemoryPolicy::prefer_save:
      return words("prefer save");
    case MemoryPolicy::prefer_recompute:
      return words("prefer recompute");
    case MemoryPolicy::must_recompute:
      return words("must recompute");
    case MemoryPolicy::must_cpu_offload:
      return words("must offload");
  }
  return {};
}

QString role_text(Role role) {
  switch (role) {
    case Role::none:
      return {};
    case Role::parameter:
      return words("parameter");
    case Role::buffer:
      return words("buffer");
    case Role::input:
      return words("input");
    case Role::tangent:
      return words("tangent");
    case Role::saved:
      return words("saved for backward");
    case Role::gradient:
      return words("gradient");
    case Role::result:
      return words("result");
    case Role::mutation:
      return words("input mutation");
    case Role::other:
      return words("other");
  }
  return {};
}

QStringList hover_lines(const Snapshot& snapshot, NodeId id) {
  const Graph& graph = snapshot.graph;
  const Node& n = graph.node(id);
  const NodeTiming& timing = snapshot.analysis.simulation.timing(id);
  QStringList lines;
  lines << to_qstring(graph.name(id)) << to_qstring(graph.target(n));
  if (const QString value = value_text(graph, n); !value.isEmpty()) {
    const std::int64_t bytes = graph.output_bytes(n);
    lines << (bytes > 0 && n.tensor_count == 1
                  ? words("%1   output %2").arg(value, bytes_text(bytes))
                  : value);
  }
  if (timing.end > timing.start)
    lines << words("%1 at %2, estimated (%3)")
                 .arg(time_text(timing.end - timing.start), time_text(timing.start),
                      to_qstring(to_string(snapshot.analysis.costs[id.index()].limit)));
  const Module& module = snapshot.analysis.modules.module(snapshot.analysis.modules.of(id));
  if (!module.path.empty()) lines << QString::fromStdString(module.path);
  const std::int32_t collective = snapshot.analysis.simulation.collective_of(id);
  if (collective >= 0) {
    const CollectiveTiming& c =
        snapshot.analysis.simulation.collectives()[static_cast<std::size_t>(collective)];
    if (!c.is_transfer)
      lines << words("message %1").arg(bytes_text(collective_bytes(graph, graph.node(c.start))));
    lines << (c.exposed_ns > 1
                  ? words("exposed %1: %2")
                        .arg(time_text(c.exposed_ns), QString::fromStdString(reason_text(graph, c)))
                  : words("hidden"));
  }
  return lines;
}

}  // namespace jointer::views

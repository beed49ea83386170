#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

#include "core/cost/collective_model.h"
#include "views/session/translation/tr.h"

namespace jointer::views {

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
    return tr("%1, %2").arg(
        node.tensor_count == 1 ? tr("1 tensor") : tr("%1 tensors").arg(node.tensor_count),
        bytes_text(graph.output_bytes(node)));
  if (node.value.kind == Value::Kind::symbol)
    return tr("%1 = %2").arg(to_qstring(graph.expression_text(node.value.expression())),
                             QString::number(graph.expression_value(node.value.expression())));
  return {};
}

QString phase_text(const Node& node) {
  if (node.has(Node::recomputed)) return tr("backward (recomputed)");
  return node.phase == Phase::forward ? tr("forward") : tr("backward");
}

QString policy_text(MemoryPolicy policy) {
  switch (policy) {
    case MemoryPolicy::none:
      return {};
    case MemoryPolicy::must_save:
      return tr("must save");
    case MemoryPolicy::prefer_save:
      return tr("prefer save");
    case MemoryPolicy::prefer_recompute:
      return tr("prefer recompute");
    case MemoryPolicy::must_recompute:
      return tr("must recompute");
    case MemoryPolicy::must_cpu_offload:
      return tr("must offload");
  }
  return {};
}

QString role_text(Role role) {
  switch (role) {
    case Role::none:
      return {};
    case Role::parameter:
      return tr("parameter");
    case Role::buffer:
      return tr("buffer");
    case Role::input:
      return tr("input");
    case Role::tangent:
      return tr("tangent");
    case Role::saved:
      return tr("saved for backward");
    case Role::gradient:
      return tr("gradient");
    case Role::result:
      return tr("result");
    case Role::mutation:
      return tr("input mutation");
    case Role::other:
      return tr("other");
  }
  return {};
}

QString limit_text(NodeCost::Limit limit) {
  const bool is_known = limit != NodeCost::Limit::none && limit != NodeCost::Limit::given;
  return is_known ? to_qstring(to_string(limit)) : QString();
}

QStringList hover_lines(const Snapshot& snapshot, NodeId id) {
  const Graph& graph = snapshot.graph;
  const Node& n = graph.node(id);
  const NodeTiming& timing = snapshot.analysis.simulation.timing(id);
  QStringList lines;
  lines << to_qstring(graph.name(id)) << to_qstring(graph.target(n));
  if (const QString value = value_text(graph, n); !value.isEmpty()) {
    const std::int64_t bytes = graph.output_bytes(n);
    lines << (bytes > 0 && n.tensor_count == 1 ? tr("%1   output %2").arg(value, bytes_text(bytes))
                                               : value);
  }
  if (timing.end > timing.start) {
    const QString when = tr("%1 starting at %2, estimated")
                             .arg(time_text(timing.end - timing.start), time_text(timing.start));
    const QString limit = limit_text(snapshot.analysis.costs[id.index()].limit);
    lines << (limit.isEmpty() ? when : tr("%1 (bound by %2)").arg(when, limit));
  }
  const Module& module = snapshot.analysis.modules.module(snapshot.analysis.modules.of(id));
  if (!module.path.empty()) lines << to_qstring(module.path);
  const std::int32_t collective = snapshot.analysis.simulation.collective_of(id);
  if (collective >= 0) {
    const CollectiveTiming& c =
        snapshot.analysis.simulation.collectives()[static_cast<std::size_t>(collective)];
    if (!c.is_transfer)
      lines << tr("message %1").arg(bytes_text(collective_bytes(graph, graph.node(c.start))));
    lines << (c.is_exposed() ? tr("exposed %1: %2")
                                   .arg(time_text(c.exposed_ns), to_qstring(reason_text(graph, c)))
                             : tr("hidden"));
  }
  return lines;
}

}  // namespace jointer::views

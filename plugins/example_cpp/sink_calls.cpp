#include "sink_calls.h"

#include <algorithm>

#include "core/base/glob.h"
#include "core/schedule/legal_range.h"

namespace example {

using namespace jointer;

namespace {

// The calls of matching operators, in reverse program order.
std::vector<NodeId> calls_of(const Graph& graph, const std::vector<std::string>& patterns) {
  std::vector<NodeId> calls;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const bool is_wanted = node.kind == NodeKind::call &&
                           std::ranges::any_of(patterns, [&](const std::string& pattern) {
                             return glob_matches(pattern, graph.target(node));
                           });
    if (is_wanted) calls.push_back(id);
  }
  std::ranges::reverse(calls);
  return calls;
}

// The reason why a call cannot move beyond its range.
std::string why_here(const Graph& graph, const LegalRange& range) {
  if (!range.before) return "Nothing before the output reads it.";
  if (range.before_kind != DependencyKind::data) return latest_reason(graph, range);
  return fmt::format("{} is the first call that reads it.", graph.name(range.before));
}

}  // namespace

Result<void> sink_calls(Graph& graph, const Arguments& arguments, PassContext& context) {
  const std::vector<NodeId> calls = calls_of(graph, arguments.texts("operators"));
  const Dependencies dependencies(graph);
  std::int64_t left =
      arguments.optional_integer("most").value_or(static_cast<std::int64_t>(calls.size()));
  double done = 0;
  for (const NodeId call : calls) {
    // Error (cancelled): the user cancelled the pass.
    JOINTER_CHECK(context.report(done++ / static_cast<double>(calls.size())));
    JOINTER_TRY(const LegalRange range, legal_range(graph, dependencies, std::span(&call, 1)));
    if (left == 0 || range.last == range.current) {
      context.decide(
          graph, call, "kept",
          left == 0 ? "The maximum number of calls has been moved." : latest_reason(graph, range));
      continue;
    }
    // `range.last` is a gap: a position in the order without the call. In the graph's order,
    // positions after the call are one higher.
    const NodeId before = graph.order()[range.last + 1];
    graph.move(std::span(&call, 1), before);
    context.decide(graph, call, "moved", why_here(graph, range));
    --left;
  }
  return {};
}

}  // namespace example

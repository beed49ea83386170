// A program as a pass on torch.fx sees it: each node's position, inputs and users. A node that
// writes to a value in place is not an input of the nodes that read the value later. Passes that
// move nodes in this list must therefore check the result against the dependencies in
// core/graph/dependencies.h.
//
// Sorting. A node whose arguments come later in the list waits for the last of them. Once this
// argument has been placed, the nodes that wait for it follow, in the order in which they started
// to wait. A stretch that is already sorted does not change. Outputs stay at the end.
//
// Source: torch/fx/graph.py; torch/_dynamo/graph_deduplication.py, _stable_topological_sort, of
// which core/schedule/stable_order.h is a version that respects all dependencies.
// Cost: sorting is linear in the length of the stretch, and building the list is linear in the
// number of nodes.

#include "passes/bucketing/fx_program.h"

#include <algorithm>

#include "core/graph/replace_inputs.h"
#include "core/pass/pass.h"
#include "core/schedule/stable_order.h"

namespace jointer {

FxProgram::FxProgram(Graph& graph, PartId part)
    : graph_(graph),
      part_(part),
      next_(graph.node_count()),
      previous_(graph.node_count()),
      users_(graph.node_count()) {
  for (const NodeId id : graph.order()) {
    if (graph.node(id).part != part) continue;
    link(id, last_, {});
    for (const NodeId input : graph.inputs(id)) users_[input.index()].push_back(id);
  }
}

void FxProgram::link(NodeId node, NodeId after, NodeId before) {
  previous_[node.index()] = after;
  next_[node.index()] = before;
  (after ? next_[after.index()] : first_) = node;
  (before ? previous_[before.index()] : last_) = node;
}

void FxProgram::unlink(NodeId node) {
  const NodeId after = previous_[node.index()], before = next_[node.index()];
  (after ? next_[after.index()] : first_) = before;
  (before ? previous_[before.index()] : last_) = after;
}

std::vector<std::uint32_t> FxProgram::places() const {
  std::vector<std::uint32_t> places(graph_.node_count());
  std::uint32_t place = 0;
  for (NodeId id = first_; id; id = next(id)) places[id.index()] = place++;
  return places;
}

void FxProgram::insert(NodeId node, NodeId before) {
  next_.resize(graph_.node_count());
  previous_.resize(graph_.node_count());
  users_.resize(graph_.node_count());
  link(node, previous_[before.index()], before);
  for (const NodeId input : graph_.inputs(node)) users_[input.index()].push_back(node);
}

void FxProgram::move_before(NodeId node, NodeId before) {
  if (node == before) return;
  unlink(node);
  link(node, previous_[before.index()], before);
}

void FxProgram::move_after(NodeId node, NodeId behind) {
  if (node == behind) return;
  unlink(node);
  link(node, behind, next_[behind.index()]);
}

void FxProgram::set_call(NodeId node, const Argument& args, const Argument& kwargs) {
  for (const NodeId input : graph_.inputs(node)) std::erase(users_[input.index()], node);
  graph_.node(node).args = args;
  graph_.node(node).kwargs = kwargs;
  graph_.refresh(node);
  for (const NodeId input : graph_.inputs(node)) users_[input.index()].push_back(node);
}

void FxProgram::replace_use(NodeId user, NodeId node, NodeId by) {
  const auto now = [&](NodeId input) { return input == node ? by : input; };
  const Argument args = replace_inputs(graph_, graph_.node(user).args, now);
  const Argument kwargs = replace_inputs(graph_, graph_.node(user).kwargs, now);
  set_call(user, args, kwargs);
  if (graph_.node(user).kind != NodeKind::output) return;
  for (OutputEntry& entry : graph_.part(part_).outputs)
    if (entry.node == node) entry.node = by;
}

void FxProgram::replace_uses(NodeId node, NodeId by) {
  for (const NodeId user : users_[node.index()]) {
    redirect_inputs(graph_, user, [&](NodeId input) { return input == node ? by : input; });
    auto& readers = users_[by.index()];
    if (std::ranges::find(readers, user) == readers.end()) readers.push_back(user);
  }
  users_[node.index()].clear();
  for (OutputEntry& entry : graph_.part(part_).outputs)
    if (entry.node == node) entry.node = by;
}

void FxProgram::erase(NodeId node) {
  unlink(node);
  for (const NodeId input : graph_.inputs(node)) std::erase(users_[input.index()], node);
  erased_.push_back(node);
}

Result<void> FxProgram::sort(NodeId first, NodeId last) {
  std::vector<NodeId> pending, placed;
  std::vector<bool> is_open(graph_.node_count(), false);
  for (NodeId id = first; id; id = next(id)) {
    if (graph_.node(id).kind == NodeKind::output) break;
    pending.push_back(id);
    is_open[id.index()] = true;
    if (id == last) break;
  }
  if (pending.empty()) return {};
  const NodeId before = next(pending.back()), after = previous_[pending.front().index()];
  const std::size_t count = pending.size();
  std::ranges::reverse(pending);
  std::vector<std::vector<NodeId>> waiting(graph_.node_count());
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    const auto inputs = graph_.inputs(id);
    const auto missing = std::find_if(inputs.rbegin(), inputs.rend(),
                                      [&](NodeId input) { return is_open[input.index()]; });
    if (missing != inputs.rend()) {
      waiting[missing->index()].push_back(id);
      continue;
    }
    is_open[id.index()] = false;
    placed.push_back(id);
    auto& released = waiting[id.index()];
    pending.insert(pending.end(), released.rbegin(), released.rend());
    released.clear();
  }
  if (placed.size() != count) {
    const auto open_input = [&](NodeId id) {
      const auto inputs = graph_.inputs(id);
      return *std::ranges::find_if(inputs, [&](NodeId input) { return is_open[input.index()]; });
    };
    // An open node may only depend on a cycle; following open inputs leads to a node of the cycle.
    const auto found = std::find(is_open.begin(), is_open.end(), true);
    NodeId stuck(static_cast<std::size_t>(found - is_open.begin()));
    for (std::vector<bool> seen(graph_.node_count(), false); !seen[stuck.index()];
         stuck = open_input(stuck))
      seen[stuck.index()] = true;
    return fail(Error::Kind::usage, "{} would have to run before {}, which it reads",
                graph_.name(stuck), graph_.name(open_input(stuck)));
  }
  NodeId end = after;
  for (const NodeId id : placed) {
    previous_[id.index()] = end;
    (end ? next_[end.index()] : first_) = id;
    end = id;
  }
  next_[end.index()] = before;
  (before ? previous_[before.index()] : last_) = end;
  return {};
}

Result<void> FxProgram::sort_if_needed(std::span<const NodeId> changed) {
  const std::vector<std::uint32_t> places = this->places();
  const auto is_wrong = [&](NodeId id) {
    const auto inputs = graph_.inputs(id);
    const std::uint32_t place = places[id.index()];
    return std::ranges::any_of(inputs,
                               [&](NodeId input) { return places[input.index()] > place; }) ||
           std::ranges::any_of(users(id),
                               [&](NodeId user) { return places[user.index()] < place; });
  };
  return std::ranges::any_of(changed, is_wrong) ? sort() : Result<void>();
}

void FxProgram::apply() {
  graph_.erase(erased_);
  erased_.clear();
  std::vector<NodeId> order;
  order.reserve(graph_.order().size());
  bool is_done = false;
  for (const NodeId id : graph_.order()) {
    if (graph_.node(id).part != part_) {
      order.push_back(id);
      continue;
    }
    if (is_done) continue;
    is_done = true;
    // Keep the output last, even if calls without readers were placed after it.
    NodeId output;
    for (NodeId each = first_; each; each = next(each))
      if (graph_.node(each).kind == NodeKind::output)
        output = each;
      else
        order.push_back(each);
    if (output) order.push_back(output);
  }
  graph_.set_order(std::move(order));
}

Result<NodeId> FxProgram::apply(const Dependencies& dependencies) {
  apply();
  const auto is_wrong = [&](NodeId id) {
    const auto before = dependencies.before(id);
    return std::ranges::any_of(
        before, [&](const Dependency& d) { return graph_.position(d.node) > graph_.position(id); });
  };
  const auto wrong = std::ranges::find_if(graph_.order(), is_wrong);
  if (wrong == graph_.order().end()) return NodeId{};
  const NodeId first = *wrong;
  JOINTER_TRY(std::vector<NodeId> order, stable_order(graph_, dependencies, graph_.order()));
  graph_.set_order(std::move(order));
  return first;
}

void report_corrected(PassContext& context, const Graph& graph, NodeId node) {
  context.decide(graph, node, "corrected",
                 "It would have run before a node that it must follow because of a write to memory "
                 "or another effect.");
}

}  // namespace jointer

// Applies edits.
//
// An edit is applied as a whole or not at all. Its changes are applied in order, and each is
// checked separately: nodes exist, a new name is free, no node reads a removed node. The result is
// then checked for legality:
//   - every node reads only nodes before it, and the graph is valid (core/graph/validate.h);
//   - two nodes keep their order if one writes to memory that the other uses, or if their effects
//     must keep their order (core/graph/dependencies.h, for the graph before the edit). They need
//     not if the edit replaced the call of one of them, changed calls so that neither writes to
//     memory that the other uses, or, if a symbol keeps them in order, added a node before both
//     that may now define the symbol;
//   - placeholders, constants and outputs stay, and nothing moves across a placeholder or an
//     output.
// If the edit is not legal, the inverses of the applied changes are applied in reverse.
//
// A replaced call keeps its value unless the edit specifies one; only its storages may change
// (core/graph/storage_rules.h).
//
// The inverse of a move puts the nodes back run by run, where a run is a sequence of nodes that
// were next to each other: first the runs that came from the left, from left to right, then the
// runs that came from the right, from right to left. In this order, no node ever precedes a node
// that it reads.
//
// Cost: for the first move, the dependencies of the graph; for every move, the distance and the
// dependencies of the moved nodes; for a removal, the distance to the end; for a run of insertions,
// the graph. An edit that changes more than the order, policies and annotations also costs one scan
// of the graph.

#include "core/edit/edit.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/base/characters.h"
#include "core/base/counted.h"
#include "core/edit/from_record.h"
#include "core/edit/half_name.h"
#include "core/edit/refuse.h"
#include "core/edit/select.h"
#include "core/edit/tag_list.h"
#include "core/graph/dependencies.h"
#include "core/graph/derive.h"
#include "core/graph/effects.h"
#include "core/graph/memory_access.h"
#include "core/graph/replace_inputs.h"
#include "core/graph/storage_rules.h"
#include "core/graph/validate.h"

namespace jointer {
struct Editor::State {
  explicit State(Graph& g) : graph(g) {}

  Result<Edit> apply(const Edit& edit);

  Result<void> perform(const Change& change);
  // Returns the changes that undo what has been applied so far.
  std::vector<Change> take_undo();
  void place_inserted();
  Result<void> perform_kind(const MoveNodes& move);
  Result<void> perform_kind(const SetPolicy& set);
  Result<void> perform_kind(const InsertNode& insert);
  Result<void> perform_kind(const RemoveNode& remove);
  Result<void> perform_kind(const ReplaceCall& replace);
  Result<void> perform_kind(const RestoreNode& restore);
  Result<void> perform_kind(const RestoreCall& restore);

  // `custom` is a JSON object or `null`.
  Result<void> annotate(NodeId id, const std::string& custom);
  Result<NodeId> find(std::string_view name) const;
  // Returns the node before which to place a new node.
  Result<NodeId> find_place(std::string_view before) const;
  Result<std::vector<NodeId>> tagged_by(const SetPolicy& set) const;
  Result<void> check_operator(const Node& n) const;
  Result<void> check_unread(NodeId id, const std::string& name);
  void count_reads(NodeId id, bool is_added);
  // True if a node other than `but` reads the same constant; the constant is then part of the
  // graph.
  bool is_constant_read(const Node& n, NodeId but) const;
  void add_inverse_of_move(std::span<const NodeId> nodes, NodeId before);
  Result<void> update_outputs(NodeId output);
  void correct_values();
  Result<void> judge();
  Result<void> check_reads() const;
  Result<void> check_kept_orders(NodeId id);
  Result<void> check_kept_orders(NodeId id, bool before);
  bool brings_symbols_before(NodeId a, NodeId b) const;
  void roll_back();
  void forget_dependencies() {
    dependencies = nullptr;
    own_dependencies.reset();
  }

  Graph& graph;
  const Dependencies* dependencies = nullptr;  // valid while only the order changes
  std::optional<Dependencies> own_dependencies;
  // State of the edit that is being applied. `undo` holds the inverses of the applied changes: one
  // run of inverses per change, which begins at an index in `undo_begins`. Undoing applies the runs
  // from last to first, and the inverses within a run from first to last.
  std::vector<Change> undo;
  std::vector<std::size_t> undo_begins;
  std::vector<NodeId> moved, added;
  // Nodes that were inserted but are still at the end of the program order, each with the node
  // before which it belongs.
  std::vector<std::pair<NodeId, NodeId>> inserted;
  std::unordered_map<NodeId, Node> replaced;  // as they were before the edit
  std::unordered_set<NodeId> keeps_value;     // replaced without a new value
  // Indexed by node: the number of its readers. Empty until a node is removed.
  std::vector<std::int32_t> readers;
  std::size_t known = 0;            // number of nodes before the edit; new nodes have higher ids
  std::size_t first = 0, last = 0;  // the range of positions that moves changed
  bool is_structural = false;       // more than the order, policies and annotations changed
};

Editor::Editor(Graph& graph) : state_(std::make_unique<State>(graph)) {}
Editor::Editor(Graph& graph, const Dependencies& dependencies) : Editor(graph) {
  state_->dependencies = &dependencies;
}
Editor::~Editor() = default;

Result<Edit> Editor::apply(const Edit& edit) {
  return state_->apply(edit);
}

Result<Edit> apply(Graph& graph, const Edit& edit) {
  return Editor(graph).apply(edit);
}

Result<Edit> apply(Graph& graph, const Edit& edit, const Dependencies& dependencies) {
  return Editor(graph, dependencies).apply(edit);
}

std::string edit_name(const Graph& graph, NodeId id) {
  std::string name(graph.node(id).part.index() == 1 ? kBackward : "");
  return name.append(graph.name(id));
}

Result<Edit> Editor::State::apply(const Edit& edit) {
  undo.clear();
  undo_begins.clear();
  moved.clear();
  added.clear();
  replaced.clear();
  keeps_value.clear();
  readers.clear();
  known = graph.node_count();
  first = graph.order().size();
  last = 0;
  is_structural = false;
  // The dependencies before the edit determine which pairs of nodes must keep their order.
  const bool moves = std::ranges::any_of(
      edit.changes, [](const Change& change) { return std::holds_alternative<MoveNodes>(change); });
  if (moves && dependencies == nullptr) dependencies = &own_dependencies.emplace(graph);
  // Most changes have one inverse; a replaced call has a second one if its value is corrected.
  undo.reserve(2 * edit.changes.size());
  undo_begins.reserve(edit.changes.size());
  Result<void> done;
  for (const Change& change : edit.changes) {
    // Replacements do not depend on the order, so a run of insertions may continue across them.
    if (!std::holds_alternative<InsertNode>(change) && !std::holds_alternative<ReplaceCall>(change))
      place_inserted();
    done = perform(change);
    if (!done) break;
  }
  place_inserted();
  if (done) done = judge();
  if (!done) {
    roll_back();
    return tl::unexpected(std::move(done).error());
  }
  if (is_structural) forget_dependencies();
  return Edit{.title = edit.title, .by = edit.by, .changes = take_undo()};
}

std::vector<Change> Editor::State::take_undo() {
  // Reverses everything, then each run.
  std::reverse(undo.begin(), undo.end());
  auto run = undo.begin();
  std::size_t end = undo.size();
  for (std::size_t i = undo_begins.size(); i-- > 0;) {
    const auto next = run + static_cast<std::ptrdiff_t>(end - undo_begins[i]);
    std::reverse(run, next);
    run = next;
    end = undo_begins[i];
  }
  undo_begins.clear();
  return std::exchange(undo, {});
}

Result<void> Editor::State::perform(const Change& change) {
  undo_begins.push_back(undo.size());
  return std::visit([&](const auto& kind) { return perform_kind(kind); }, change);
}

// Places consecutive insertions together: placing them one at a time would shift the rest of the
// order each time.
void Editor::State::place_inserted() {
  if (inserted.empty()) return;
  const auto order = graph.order();
  std::vector<NodeId> previous(graph.node_count()), next(graph.node_count());
  NodeId first_node = order.front();
  NodeId last_node;
  for (const NodeId id : order.first(order.size() - inserted.size())) {
    previous[id.index()] = last_node;
    if (last_node) next[last_node.index()] = id;
    last_node = id;
  }
  for (const auto& [id, before] : inserted) {
    const NodeId ahead = previous[before.index()];
    previous[id.index()] = ahead;
    next[id.index()] = before;
    previous[before.index()] = id;
    (ahead ? next[ahead.index()] : first_node) = id;
  }
  std::vector<NodeId> placed;
  placed.reserve(order.size());
  for (NodeId id = first_node; id; id = next[id.index()]) placed.push_back(id);
  graph.set_order(std::move(placed));
  inserted.clear();
}

void Editor::State::roll_back() {
  for (const Change& change : take_undo())
    if (!perform(change)) return;  // cannot happen: an applied change can be undone
  if (!is_structural) return;
  forget_dependencies();
  // Cannot fail: finish() has succeeded for this graph before.
  [[maybe_unused]] const auto finished = graph.finish();
}

// --- Names, positions, operators ---

Result<NodeId> Editor::State::find(std::string_view name) const {
  if (const NodeId id = graph.find(name)) return id;
  return refuse("there is no node {}", name);
}

Result<NodeId> Editor::State::find_place(std::string_view before) const {
  JOINTER_TRY(const NodeId id, find(before));
  const Node& n = graph.node(id);
  if (n.kind != NodeKind::placeholder) return id;
  // A placeholder among the calls, such as a tangent, accepts nodes before it.
  const std::size_t at = graph.position(id);
  const Node* previous = at == 0 ? nullptr : &graph.node(graph.order()[at - 1]);
  if (previous == nullptr || is_wall(*previous))
    return refuse("{} is a placeholder: no node can be placed before it", before);
  return id;
}

Result<void> Editor::State::check_operator(const Node& n) const {
  const OperatorInfo& op = graph.op(n);
  if (op.known || op.has_schema || is_custom_operator(op.name)) return {};
  // A capture may call unknown operators, and edits may add more calls of the same operators.
  const auto calls_it = [&](NodeId id) { return graph.node(id).target == n.target; };
  if (std::ranges::any_of(graph.order(), calls_it)) return {};
  return refuse("{} would call {}, which torch {} does not have", graph.text(n.name), op.name,
                operator_table_version());
}

bool Editor::State::is_constant_read(const Node& n, NodeId but) const {
  const auto reads_it = [&](NodeId id) {
    const Node& other = graph.node(id);
    return id != but && other.kind == NodeKind::get_attr && other.part == n.part &&
           other.target == n.target;
  };
  // The node is usually a copy of a node that reads the constant.
  if (n.origin && graph.is_live(n.origin) && reads_it(n.origin)) return true;
  return std::ranges::any_of(graph.order(), reads_it);
}

// --- Changes ---

Result<void> Editor::State::perform_kind(const MoveNodes& move) {
  JOINTER_TRY(const NodeId before, find(move.before));
  std::vector<NodeId> nodes;
  for (const std::string& name : move.nodes) {
    JOINTER_TRY(const NodeId id, find(name));
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call)
      return refuse("{} is {}: placeholders, constants and outputs stay where they are", name,
                    kind_text(n.kind));
    if (n.part != graph.node(before).part)
      return refuse("{} cannot be placed before {}, which is in the other half of the pair", name,
                    move.before);
    nodes.push_back(id);
  }
  if (nodes.empty()) return refuse("no nodes to move before {}", move.before);
  auto sorted = nodes;
  sorted.push_back(before);
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    return refuse("{} {}", graph.name(*twice),
                  *twice == before ? "cannot be moved before itself"
                                   : "is listed twice among the nodes to move");
  add_inverse_of_move(nodes, before);
  const auto grow = [&](NodeId id, std::size_t size) {
    first = std::min(first, graph.position(id));
    last = std::max(last, graph.position(id) + size);
  };
  grow(before, 0);
  for (const NodeId id : nodes) grow(id, 1);
  graph.move(nodes, before);
  moved.insert(moved.end(), nodes.begin(), nodes.end());
  return {};
}

void Editor::State::add_inverse_of_move(std::span<const NodeId> nodes, NodeId before) {
  std::vector<NodeId> sorted(nodes.begin(), nodes.end());
  std::ranges::sort(sorted, {}, [&](NodeId id) { return graph.position(id); });
  std::vector<Change> from_left, from_right;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() &&
           graph.position(sorted[end]) == graph.position(sorted[end - 1]) + 1)
      ++end;
    MoveNodes back;
    for (std::size_t i = begin; i < end; ++i) back.nodes.push_back(edit_name(graph, sorted[i]));
    const std::size_t next = graph.position(sorted[end - 1]) + 1;
    back.before = edit_name(graph, graph.order()[next]);
    (next <= graph.position(before) ? from_left : from_right).emplace_back(std::move(back));
    begin = end;
  }
  std::move(from_left.begin(), from_left.end(), std::back_inserter(undo));
  std::move(from_right.rbegin(), from_right.rend(), std::back_inserter(undo));
}

Result<void> Editor::State::perform_kind(const SetPolicy& set) {
  JOINTER_TRY(const std::vector<NodeId> nodes, tagged_by(set));
  for (const NodeId id : nodes)
    if (const Node& n = graph.node(id); n.kind != NodeKind::call)
      return refuse("{} is {}: only calls have a policy", graph.name(id), kind_text(n.kind));
  TagList was;
  for (const NodeId id : nodes) {
    Node& n = graph.node(id);
    const Tag before{n.policy, region_change(n, set.region.kind)};
    const Tag after{set.policy, set.region};
    if (before == after) continue;
    was.add(edit_name(graph, id), before);
    n.policy = set.policy;
    if (set.region.kind == RegionChange::Kind::keep) continue;
    const bool has_region = set.region.kind == RegionChange::Kind::set;
    n.set(Node::has_ac_graph_id, has_region);
    n.ac_graph_id = has_region ? set.region.id : 0;
  }
  std::ranges::move(was.take(), std::back_inserter(undo));
  return {};
}

Result<std::vector<NodeId>> Editor::State::tagged_by(const SetPolicy& set) const {
  if (set.nodes.empty()) return select(graph, set.select);
  std::vector<NodeId> nodes;
  nodes.reserve(set.nodes.size());
  for (const std::string& name : set.nodes) {
    JOINTER_TRY(nodes.emplace_back(), find(name));
  }
  return nodes;
}

Result<void> Editor::State::perform_kind(const InsertNode& insert) {
  JOINTER_TRY(const NodeId before, find_place(insert.before));
  const PartId part = graph.node(before).part;
  auto read = node_of(graph, part, *insert.node);
  if (!read)
    return refuse("cannot insert a node before {}: {}", insert.before, read.error().message);
  const Node& node = *read;
  const std::string name(graph.text(node.name));
  if (!is_identifier(name)) return refuse("`{}` is not a valid name for a node", name);
  if (graph.find(part, name))
    return refuse("{} cannot be inserted: a node with that name already exists", name);
  if (node.kind == NodeKind::get_attr) {
    if (!is_constant_read(node, NodeId{}))
      return refuse("{} cannot be inserted: no other node reads the constant {}", name,
                    graph.target(node));
  } else if (node.kind == NodeKind::call) {
    JOINTER_CHECK(check_operator(node));
  } else {
    return refuse("{} is {}: only calls and constants can be inserted", name, kind_text(node.kind));
  }
  is_structural = true;
  const NodeId id = graph.add_node(node);
  inserted.emplace_back(id, before);
  count_reads(id, true);
  added.push_back(id);
  undo.emplace_back(RemoveNode{.node = edit_name(graph, id)});
  return {};
}

Result<void> Editor::State::perform_kind(const RemoveNode& remove) {
  JOINTER_TRY(const NodeId id, find(remove.node));
  const Node& node = graph.node(id);
  if (node.kind == NodeKind::get_attr && !is_constant_read(node, id))
    return refuse("{} cannot be removed: no other node reads the constant {}", remove.node,
                  graph.target(node));
  if (node.kind != NodeKind::call && node.kind != NodeKind::get_attr)
    return refuse("{} is {}: only calls and constants can be removed", remove.node,
                  kind_text(node.kind));
  JOINTER_CHECK(check_unread(id, remove.node));
  is_structural = true;
  const NodeId next = graph.order()[graph.position(id) + 1];
  undo.emplace_back(RestoreNode{.node = id, .before = edit_name(graph, next)});
  count_reads(id, false);
  graph.erase(id);
  return {};
}

Result<void> Editor::State::check_unread(NodeId id, const std::string& name) {
  if (readers.empty()) {
    readers.resize(graph.node_count());
    for (const NodeId other : graph.order()) count_reads(other, true);
  }
  const std::int32_t count = readers[id.index()];
  if (count == 0) return {};
  // In a valid graph all readers come later, but in the middle of an edit they may be anywhere.
  const auto order = graph.order();
  const NodeId reader = *std::ranges::find_if(order, [&](NodeId other) {
    const auto inputs = graph.inputs(other);
    return std::ranges::find(inputs, id) != inputs.end();
  });
  if (count == 1) return refuse("{} cannot be removed: {} reads it", name, graph.name(reader));
  return refuse("{} cannot be removed: {} and {} more read it", name, graph.name(reader),
                count - 1);
}

// Keeps `readers` up to date. Call this for a node that was added or is about to be removed, and
// before and after a node's inputs change.
void Editor::State::count_reads(NodeId id, bool is_added) {
  if (readers.empty()) return;
  readers.resize(graph.node_count());
  for (const NodeId input : graph.inputs(id)) readers[input.index()] += is_added ? 1 : -1;
}

Result<void> Editor::State::perform_kind(const ReplaceCall& replace) {
  JOINTER_TRY(const NodeId id, find(replace.node));
  if (replace.custom) JOINTER_CHECK(annotate(id, *replace.custom));
  if (replace.custom && !replace.is_of_call()) return {};
  const Node was = graph.node(id);
  if (was.kind == NodeKind::placeholder || was.kind == NodeKind::get_attr)
    return refuse("{} is {}: it has no call to replace", replace.node, kind_text(was.kind));
  if (was.kind == NodeKind::output && (replace.target || replace.kwargs || replace.val))
    return refuse("{} is the output: only its arguments can be replaced", replace.node);
  Node now = was;
  if (!replace.inputs.empty()) {
    JOINTER_TRY(const CallArguments arguments, replace_inputs(graph, was, replace.inputs));
    now.args = arguments.args;
    now.kwargs = arguments.kwargs;
  }
  const auto given = replaced_call(graph, now, replace);
  if (!given) return refuse("{}: {}", replace.node, given.error().message);
  now = *given;
  if (was.kind == NodeKind::call) {
    if (replace.target) JOINTER_CHECK(check_operator(now));
    if (replace.val)
      keeps_value.erase(id);
    else
      keeps_value.insert(id);
  }
  return perform_kind(RestoreCall{.node = id, .was = now});
}

Result<void> Editor::State::annotate(NodeId id, const std::string& custom) {
  Node& n = graph.node(id);
  if (n.kind == NodeKind::output)
    return refuse("{} is the output: it has no annotations", graph.name(id));
  ReplaceCall back{.node = edit_name(graph, id)};
  back.custom = n.custom ? std::string(graph.text(n.custom)) : "null";
  undo.emplace_back(std::move(back));
  n.custom = custom == "null" ? StringId() : graph.intern(custom);
  return {};
}

Result<void> Editor::State::perform_kind(const RestoreCall& restore) {
  is_structural = true;
  Node& n = graph.node(restore.node);
  replaced.try_emplace(restore.node, n);
  undo.emplace_back(RestoreCall{.node = restore.node, .was = n});
  count_reads(restore.node, false);
  n.target = restore.was.target;
  n.args = restore.was.args;
  n.kwargs = restore.was.kwargs;
  n.value = restore.was.value;
  for (const auto flag : {Node::has_args, Node::has_kwargs, Node::has_value})
    n.set(flag, restore.was.has(flag));
  n.group = {};  // `finish` derives it from the arguments
  graph.refresh(restore.node);
  count_reads(restore.node, true);
  return n.kind == NodeKind::output ? update_outputs(restore.node) : Result<void>();
}

Result<void> Editor::State::perform_kind(const RestoreNode& restore) {
  JOINTER_TRY(const NodeId before, find(restore.before));
  if (graph.is_live(restore.node))
    return refuse("{} is already in the graph", graph.name(restore.node));
  if (graph.find(graph.node(restore.node).part, graph.name(restore.node)))
    return refuse("{} cannot be restored: another node has that name", graph.name(restore.node));
  is_structural = true;
  graph.restore(restore.node, before);
  count_reads(restore.node, true);
  added.push_back(restore.node);
  undo.emplace_back(RemoveNode{.node = edit_name(graph, restore.node)});
  return {};
}

// Updates the part's outputs. They may come from other nodes, but their number must stay the same.
Result<void> Editor::State::update_outputs(NodeId output) {
  const PartId part = graph.node(output).part;
  auto outputs = derive_outputs(graph, part);
  if (outputs.size() != graph.part(part).outputs.size())
    return refuse("{} would return {} instead of {}", graph.name(output),
                  counted(outputs.size(), "value"), graph.part(part).outputs.size());
  graph.part(part).outputs = std::move(outputs);
  return {};
}

// --- Legality ---

Result<void> Editor::State::judge() {
  if (is_structural) {
    correct_values();
    JOINTER_CHECK(graph.finish());
    if (auto sound = validate(graph); !sound) return refuse("{}", sound.error().message);
  } else {
    JOINTER_CHECK(check_reads());
  }
  for (const NodeId id : moved)
    if (graph.is_live(id) && id.index() < known) JOINTER_CHECK(check_kept_orders(id));
  return {};
}

// A replaced call may return different memory than before: a copy has a new storage, a view has the
// storage of its argument.
void Editor::State::correct_values() {
  if (keeps_value.empty()) return;
  undo_begins.push_back(undo.size());
  correct_replaced(graph, keeps_value, replaced, [&](NodeId id) {
    undo.emplace_back(RestoreCall{.node = id, .was = graph.node(id)});
  });
}

// Checks that every node reads only nodes before it. If the relative order of two nodes changed, at
// least one of them moved, and both are within the changed range.
Result<void> Editor::State::check_reads() const {
  for (std::size_t i = first; i < last; ++i) {
    const NodeId id = graph.order()[i];
    for (const NodeId input : graph.inputs(id))
      if (graph.position(input) > i)
        return refuse("{} reads {} and would come before it", graph.name(id), graph.name(input));
  }
  return {};
}

Result<void> Editor::State::check_kept_orders(NodeId id) {
  const std::size_t position = graph.position(id);
  if (const NodeId wall = dependencies->wall_before(id); wall && graph.position(wall) > position)
    return refuse("{} cannot be placed before {}, {}", graph.name(id), graph.name(wall),
                  kind_text(graph.node(wall).kind));
  if (const NodeId wall = dependencies->wall_after(id); wall && graph.position(wall) < position)
    return refuse("{} cannot be placed after {}, {}", graph.name(id), graph.name(wall),
                  kind_text(graph.node(wall).kind));
  JOINTER_CHECK(check_kept_orders(id, true));
  return check_kept_orders(id, false);
}

// True if both nodes come after an inserted or restored node that returns a symbol or a tensor with
// symbolic sizes.
bool Editor::State::brings_symbols_before(NodeId a, NodeId b) const {
  const std::size_t both = std::min(graph.position(a), graph.position(b));
  return std::ranges::any_of(added, [&](NodeId id) {
    if (!graph.is_live(id) || graph.position(id) > both) return false;
    if (graph.node(id).value.kind == Value::Kind::symbol) return true;
    const auto tensors = graph.tensors(id);
    return std::ranges::any_of(tensors, [&](const Tensor& t) {
      const auto shape = graph.shape(t);
      return std::ranges::any_of(
          shape, [](const Dim& size) { return static_cast<bool>(size.expression); });
    });
  });
}

// Checks the position of the node relative to the nodes that must stay on one side of it.
// Dependencies are recorded between neighbors only. If the edit removed or replaced a neighbor so
// that it no longer constrains this node, the search continues with the nodes that constrained the
// neighbor. These include the nodes that the neighbor read: only one dependency is recorded per
// pair of nodes, and a data dependency hides others.
Result<void> Editor::State::check_kept_orders(NodeId id, bool before) {
  const Effects effects = effects_of(graph, graph.node(id));
  const auto holds = [&](const Dependency& d, bool is_neighbor) {
    if (!is_structural) return true;
    if (replaced.contains(id) || replaced.contains(d.node)) return false;
    if (d.kind != DependencyKind::control && write_conflict(graph, id, d.node)) return true;
    if (d.kind == DependencyKind::write) return false;
    const Effects others = effects_of(graph, graph.node(d.node));
    if (effects.conflict(others)) return true;
    // A symbol that the earlier node defines keeps the two in order, unless an added node may now
    // define it.
    return is_neighbor && (effects.has(Effects::checks) || others.has(Effects::checks) ||
                           !brings_symbols_before(id, d.node));
  };
  const auto is_changed = [&](NodeId node) {
    return !graph.is_live(node) || replaced.contains(node);
  };
  std::vector<NodeId> through{id};
  std::unordered_set<NodeId> met{id};
  while (!through.empty()) {
    const NodeId at = through.back();
    through.pop_back();
    for (const Dependency& d : before ? dependencies->before(at) : dependencies->after(at)) {
      // The inputs of the node itself are checked elsewhere.
      if (d.kind == DependencyKind::data && (at == id || !is_changed(at))) continue;
      if (!graph.is_live(d.node) || !holds(d, at == id)) {
        if (met.insert(d.node).second) through.push_back(d.node);
        continue;
      }
      if ((graph.position(d.node) < graph.position(id)) == before) continue;
      return refuse("{} must stay {} {}: {}", graph.name(id), before ? "after" : "before",
                    graph.name(d.node),
                    d.kind == DependencyKind::write || write_conflict(graph, id, d.node)
                        ? "one of them writes to memory that the other uses"
                        : "their effects must keep their order");
    }
  }
  return {};
}

}  // namespace jointer

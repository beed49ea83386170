// Compares two graphs, and computes the edit that turns one into the other.
//
// Nodes are matched by name, unless a match is given (core/edit/node_match.h). If the common nodes
// are listed in the order of `after`, the nodes of a longest subsequence with increasing positions
// in `before` stay; the others move, and those between two nodes that stay move together.
// Placeholders, constants and outputs cannot move, so another node can belong to the subsequence
// only if the same number of common placeholders, constants and outputs precede it in both graphs.
//
// The edit lists moves first, each to the position right before the next node that stays; then
// insertions and replacements, in the order of `after`, with each insertion before the next common
// node; then removals, readers first; then policies. The edit identifies the storage of an added
// node by a node that holds it in `after`. If a call differs only in its inputs from its previous
// form, or from the call that it was made from, the edit lists only these inputs; the other
// arguments are then those of the graph on which the edit is replayed. If a common node is a view
// of a different storage than before, or has a new storage, its replacement records that
// (core/edit/storage_changes.h).

#include "core/edit/difference.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/base/json_text.h"
#include "core/base/longest_increasing.h"
#include "core/edit/make_record.h"
#include "core/edit/node_comparer.h"
#include "core/edit/storage_changes.h"
#include "core/edit/tag_list.h"

namespace jointer {
namespace {

// The node's checkpointed region, as a change that sets or removes it.
RegionChange region_of(const Node& n) {
  return region_change(n, RegionChange::Kind::set);
}

bool stays(const Node& n) {
  return n.kind != NodeKind::call;
}

// Compares the nodes of one part.
class HalfComparer {
 public:
  HalfComparer(const Graph& before, const Graph& after, const NodeMatch& match, PartId part,
               GraphDifference& out)
      : before_(before),
        after_(after),
        match_(match),
        part_(part),
        comparer_(before, after, &match),
        out_(out) {}

  void run() {
    for (const NodeId id : before_.order())
      if (before_.node(id).part == part_ && !match_.in_after(id)) out_.removed.push_back(id);
    std::vector<NodeId> common;  // in the order of `after`
    for (const NodeId id : after_.order()) {
      if (after_.node(id).part != part_) continue;
      if (const NodeId was = match_.in_before(id)) {
        common.push_back(id);
        compare(was, id);
      } else {
        out_.added.push_back(id);
      }
    }
    out_.common += common.size();
    find_moved(common);
  }

 private:
  void compare(NodeId was, NodeId is) {
    const Node& a = before_.node(was);
    const Node& b = after_.node(is);
    if (a.kind != b.kind || !comparer_.same_target(was, is) || !comparer_.same_args(was, is) ||
        !comparer_.same_kwargs(was, is) || !comparer_.same_value(was, is))
      out_.changed.push_back(is);
    // Only calls have a policy. Graphs from Python may have tags on other nodes, which are ignored.
    if (b.kind == NodeKind::call && (a.policy != b.policy || region_of(a) != region_of(b)))
      out_.retagged.push_back(is);
  }

  void find_moved(const std::vector<NodeId>& common) {
    // Indexed by position in `before`: the number of earlier nodes of the part that are in both
    // graphs and cannot move.
    std::vector<std::size_t> fixed(before_.order().size() + 1, 0);
    for (std::size_t i = 0; i < before_.order().size(); ++i) {
      const NodeId id = before_.order()[i];
      const Node& n = before_.node(id);
      const bool counts = n.part == part_ && stays(n) && match_.in_after(id);
      fixed[i + 1] = fixed[i] + (counts ? 1 : 0);
    }
    std::vector<std::size_t> places;
    std::vector<NodeId> candidates;
    std::size_t passed = 0;
    for (const NodeId id : common) {
      const std::size_t place = before_.position(match_.in_before(id));
      if (fixed[place] == passed) {
        places.push_back(place);
        candidates.push_back(id);
      }
      if (stays(after_.node(id))) ++passed;
    }
    std::vector<bool> is_kept(after_.node_count(), false);
    for (const std::size_t i : longest_increasing(places)) is_kept[candidates[i].index()] = true;
    for (const NodeId id : common)
      if (!is_kept[id.index()]) out_.moved.push_back(id);
  }

  const Graph& before_;
  const Graph& after_;
  const NodeMatch& match_;
  PartId part_;
  NodeComparer comparer_;
  GraphDifference& out_;
};

class EditWriter {
 public:
  EditWriter(const Graph& before, const Graph& after, const GraphDifference& d)
      : before_(before), after_(after), difference_(d), owners_(after), comparer_(before, after) {}

  Result<Edit> run() {
    JOINTER_CHECK(check());
    write_moves();
    write_calls();
    for (std::size_t i = difference_.removed.size(); i-- > 0;)
      add(RemoveNode{.node = edit_name(before_, difference_.removed[i])});
    write_tags();
    return std::move(edit_);
  }

 private:
  void add(Change change) { edit_.changes.push_back(std::move(change)); }

  void write_tags() {
    TagList tags;
    for (const NodeId id : difference_.retagged) {
      const Node &a = before_.node(was(id)), &b = after_.node(id);
      tags.add(edit_name(after_, id),
               {b.policy, region_of(a) == region_of(b) ? RegionChange{} : region_of(b)});
    }
    for (Change& change : tags.take()) add(std::move(change));
  }

  Result<void> check() const {
    const auto refuse = [](const Graph& graph, NodeId id, std::string_view what) {
      return fail(Error::Kind::usage, "{}, {}, {}, which no edit can express", graph.name(id),
                  kind_text(graph.node(id).kind), what);
    };
    for (const NodeId id : difference_.added)
      if (stays(after_.node(id)) && !is_read_in(before_, after_, id))
        return refuse(after_, id, "is not in the first graph");
    for (const NodeId id : difference_.removed)
      if (stays(before_.node(id)) && !is_read_in(after_, before_, id))
        return refuse(before_, id, "is not in the second graph");
    for (const NodeId id : difference_.moved)
      if (stays(after_.node(id))) return refuse(after_, id, "is at a different position");
    for (const NodeId id : difference_.changed) {
      const NodeKind kind = after_.node(id).kind;
      if (kind == NodeKind::placeholder || kind == NodeKind::get_attr ||
          kind != before_.node(was(id)).kind)
        return refuse(after_, id, "differs between the graphs");
    }
    return {};
  }

  // True if the other graph has a node that reads the same constant.
  static bool is_read_in(const Graph& other, const Graph& graph, NodeId id) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::get_attr) return false;
    const auto order = other.order();
    return std::ranges::any_of(order, [&](NodeId at) {
      const Node& o = other.node(at);
      return o.kind == NodeKind::get_attr && o.part == n.part && other.target(o) == graph.target(n);
    });
  }

  [[nodiscard]] NodeId was(NodeId id) const {
    return before_.find(after_.node(id).part, after_.name(id));
  }

  void write_moves() {
    std::vector<bool> moves(after_.node_count(), false);
    for (const NodeId id : difference_.moved) moves[id.index()] = true;
    MoveNodes run;
    for (const NodeId id : after_.order()) {
      if (!was(id)) continue;
      if (moves[id.index()]) {
        run.nodes.push_back(edit_name(after_, id));
      } else if (!run.nodes.empty()) {
        run.before = edit_name(after_, id);
        add(std::exchange(run, {}));
      }
    }
  }

  // Writes insertions and replacements in the order of `after`, so that the nodes that a call
  // reads, and their storages, are already final.
  void write_calls() {
    const auto keeps_value = [this](NodeId id) { return comparer_.same_value(was(id), id); };
    const auto restated = storage_changes(before_, after_, keeps_value);
    const std::unordered_set<NodeId> says_value(restated.begin(), restated.end()),
        changed(difference_.changed.begin(), difference_.changed.end());
    const std::vector<NodeId> next = next_common();
    for (std::size_t i = 0; i < after_.order().size(); ++i) {
      const NodeId id = after_.order()[i];
      if (!was(id))
        add(InsertNode{.node = added_record(id, changed), .before = edit_name(after_, next[i])});
      else if (changed.contains(id) || says_value.contains(id))
        write_changed(id, says_value.contains(id));
      else if (!same_annotations(id))
        write_annotations(id);
    }
  }

  // The record of an added node. It copies the call that the node was made from, or an equal call,
  // if the two differ only in their inputs and the edit does not change that call.
  [[nodiscard]] NodeRecord added_record(NodeId id, const std::unordered_set<NodeId>& changed) {
    NodeRecord record = record_node(after_, owners_, id);
    if (!record_copy(id, changed, record)) record_call(after_, after_.node(id), record);
    return record;
  }
  bool record_copy(NodeId id, const std::unordered_set<NodeId>& changed, NodeRecord& record) {
    const NodeId origin = after_.node(id).origin;
    const PartId part = after_.node(id).part;
    const NodeId old = !origin                            ? equal_node(id, changed)
                       : after_.node(origin).part == part ? before_.find(part, after_.name(origin))
                                                          : NodeId{};
    if (!old || before_.node(old).kind != after_.node(id).kind || !comparer_.same_target(old, id) ||
        changed.contains(after_.find(part, before_.name(old))))
      return false;
    auto inputs = comparer_.exchanged_inputs(old, id);
    if (!inputs) return false;
    record.copy = std::string(before_.name(old));
    if (!inputs->empty()) record.inputs = *std::move(inputs);
    return true;
  }

  // For a node of unknown origin whose call has integers, returns the unchanged node of `before`
  // that makes the same call, if there is exactly one. If the integers differ on another rank,
  // copying that node keeps those of the rank.
  [[nodiscard]] NodeId equal_node(NodeId id, const std::unordered_set<NodeId>& changed) {
    const Node& n = after_.node(id);
    if (n.kind != NodeKind::call || !(has_integer(n.args) || has_integer(n.kwargs))) return {};
    if (by_target_.empty())
      for (const NodeId each : before_.order())
        if (before_.node(each).kind == NodeKind::call)
          by_target_[before_.target(before_.node(each))].push_back(each);
    NodeId found;
    for (const NodeId each : by_target_[after_.target(n)]) {
      if (before_.node(each).part != n.part || !comparer_.same_args(each, id) ||
          !comparer_.same_kwargs(each, id) ||
          changed.contains(after_.find(n.part, before_.name(each))))
        continue;
      if (found) return {};
      found = each;
    }
    return found;
  }

  [[nodiscard]] bool has_integer(const Argument& argument) const {
    if (argument.kind == Argument::Kind::integer) return true;
    const auto children = after_.children(argument);
    return std::ranges::any_of(children,
                               [this](const Argument& child) { return has_integer(child); });
  }

  // Indexed by position in `after`: the node at this position or, if it is not common, the next
  // common node. There is always one, because a half ends with its output.
  [[nodiscard]] std::vector<NodeId> next_common() const {
    std::vector<NodeId> next(after_.order().size());
    for (std::size_t i = next.size(); i-- > 0;)
      next[i] = was(after_.order()[i]) ? after_.order()[i] : next[i + 1];
    return next;
  }

  void write_changed(NodeId id, bool says_value) {
    const NodeId old = was(id);
    ReplaceCall replace{.node = edit_name(after_, id)};
    const bool same_target = comparer_.same_target(old, id);
    auto inputs = same_target ? comparer_.exchanged_inputs(old, id) : std::nullopt;
    const Node& n = after_.node(id);
    if (inputs) {
      replace.inputs = *std::move(inputs);
    } else {
      if (!same_target) replace.target = std::string(after_.target(n));
      if (!comparer_.same_args(old, id)) replace.args = record_args(after_, n.args);
      if (!comparer_.same_kwargs(old, id)) replace.kwargs = record_args(after_, n.kwargs);
    }
    if (says_value) replace.val = record_value(after_, owners_, id);
    if (!same_annotations(id)) replace.custom = annotations(id);
    add(std::move(replace));
  }

  void write_annotations(NodeId id) {
    ReplaceCall replace{.node = edit_name(after_, id)};
    replace.custom = annotations(id);
    add(std::move(replace));
  }

  [[nodiscard]] bool same_annotations(NodeId id) const {
    const Node &a = before_.node(was(id)), &b = after_.node(id);
    if (b.kind == NodeKind::output) return true;
    return before_.text(a.custom) == after_.text(b.custom);
  }
  [[nodiscard]] std::string annotations(NodeId id) const {
    const StringId custom = after_.node(id).custom;
    if (!custom) return "null";
    // The form that annotations have after a recipe is written and read.
    const auto json = parse_json(after_.text(custom), "custom");
    return json ? write_json(*json) : std::string(after_.text(custom));
  }

  const Graph& before_;
  const Graph& after_;
  const GraphDifference& difference_;
  StorageOwners owners_;
  NodeComparer comparer_;
  std::unordered_map<std::string_view, std::vector<NodeId>> by_target_;  // the calls of `before`
  Edit edit_;
};

}  // namespace

Result<void> check_comparable(const Graph& before, const Graph& after) {
  const auto in_parentheses = [](std::string_view title) {
    return title.empty() ? std::string() : fmt::format(" ({})", title);
  };
  if (before.part_count() != after.part_count())
    return fail(Error::Kind::usage,
                "the {} graph{} is a forward/backward pair, but the other is a single graph",
                before.is_pair() ? "first" : "second",
                in_parentheses(before.is_pair() ? before.title() : after.title()));
  return {};
}

GraphDifference compare_graphs(const Graph& before, const Graph& after, const NodeMatch& match) {
  GraphDifference found;
  for (std::size_t part = 0; part < before.part_count(); ++part)
    HalfComparer(before, after, match, PartId(part), found).run();
  return found;
}

Result<GraphDifference> compare_graphs(const Graph& before, const Graph& after) {
  JOINTER_CHECK(check_comparable(before, after));
  return compare_graphs(before, after, NodeMatch::by_name(before, after));
}

Result<Edit> difference(const Graph& before, const Graph& after) {
  JOINTER_TRY(const GraphDifference found, compare_graphs(before, after));
  JOINTER_TRY(Edit edit, EditWriter(before, after, found).run());
  edit.title = fmt::format("Move {}, add {}, remove {}, change {}", found.moved.size(),
                           found.added.size(), found.removed.size(), found.changed.size());
  return edit;
}

}  // namespace jointer

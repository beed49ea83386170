#include "core/edit/replay.h"

#include <algorithm>
#include <utility>

#include "core/edit/edit.h"
#include "core/edit/half_name.h"
#include "core/edit/other_rank.h"
#include "core/edit/select.h"
#include "core/graph/canonical.h"
#include "core/graph/fingerprint.h"

namespace jointer {
namespace {

// Maps the names in a recipe to a graph, which may be only one half of the pair.
class Halves {
 public:
  Halves(const Graph& graph, const Recipe& recipe) : graph_(graph), recipe_(recipe) {}

  Result<void> match() {
    const auto has = [&](std::string_view key) { return find(key) != nullptr; };
    if (graph_.is_pair()) {
      if (has("graph"))
        return fail(Error::Kind::usage,
                    "the recipe is for a single graph, but this graph is a forward/backward pair; "
                    "open the graph that the recipe was made for");
      return {};
    }
    if (has("graph") || recipe_.graphs.empty()) return {};
    const std::string hash = graph_hash(graph_);
    for (const RecipeGraph& each : recipe_.graphs)
      if (each.hash == hash) half_ = each.key;
    if (half_.empty() && has_rank_hash()) half_ = half_of_rank();
    if (half_.empty()) half_ = to_string(graph_.part(PartId(0)).kind);
    if (half_ != "forward" && half_ != "backward")
      return fail(
          Error::Kind::usage,
          "the recipe is for a pair, but this graph is neither a forward nor a backward graph; "
          "open the pair or one of its halves");
    return {};
  }

  // The recipe's record of a part of the graph; null if the recipe has none.
  [[nodiscard]] const RecipeGraph* of(PartId part) const {
    if (graph_.is_pair()) return find(part.index() == 0 ? "forward" : "backward");
    return find(half_.empty() ? "graph" : half_);
  }

  // The node's name in this graph; nullopt if it belongs to the other half.
  [[nodiscard]] std::optional<std::string> local(const std::string& name, bool is_select) const {
    if (half_.empty()) return name;
    if (const HalfName split = split_half(name); !split.prefix.empty()) {
      if ((split.prefix == kBackward) != (half_ == "backward")) return std::nullopt;
      return std::string(split.name);
    }
    // Without a prefix, a pattern refers to both halves, and a name refers to the forward.
    if (half_ == "forward" || (is_select && name.find_first_of(".:") != std::string::npos))
      return name;
    return std::nullopt;
  }

  // The edit with only the changes and decisions that concern this graph.
  [[nodiscard]] Edit local(Edit edit) const {
    std::erase_if(edit.changes, [&](Change& change) {
      return !std::visit([&](auto& kind) { return localize(kind); }, change);
    });
    std::erase_if(edit.decisions, [&](Decision& decision) {
      return !decision.node.empty() && !rename(decision.node);
    });
    return edit;
  }

 private:
  [[nodiscard]] const RecipeGraph* find(std::string_view key) const {
    for (const RecipeGraph& graph : recipe_.graphs)
      if (graph.key == key) return &graph;
    return nullptr;
  }

  [[nodiscard]] bool has_rank_hash() const {
    return std::ranges::any_of(recipe_.graphs,
                               [](const RecipeGraph& each) { return !each.rank_hash.empty(); });
  }
  [[nodiscard]] std::string half_of_rank() const {
    const std::string hash = rank_hash(graph_, PartId(0));
    for (const RecipeGraph& each : recipe_.graphs)
      if (each.rank_hash == hash) return each.key;
    return {};
  }

  bool rename(std::string& name, bool is_select = false) const {
    auto renamed = local(name, is_select);
    if (renamed) name = std::move(*renamed);
    return renamed.has_value();
  }
  bool localize(MoveNodes& move) const {
    return rename(move.before) &&
           std::ranges::all_of(move.nodes, [&](std::string& name) { return rename(name); });
  }
  bool localize(SetPolicy& set) const {
    if (!set.nodes.empty()) {
      std::erase_if(set.nodes, [&](std::string& name) { return !rename(name); });
      return !set.nodes.empty();
    }
    const bool of_both = !set.select.starts_with(kForward) && !set.select.starts_with(kBackward);
    if (!rename(set.select, true)) return false;
    // A pattern for both halves may match only nodes of the other half.
    return half_.empty() || !of_both || graph_.find(set.select) || select(graph_, set.select);
  }
  bool localize(InsertNode& insert) const { return rename(insert.before); }
  bool localize(RemoveNode& remove) const { return rename(remove.node); }
  bool localize(ReplaceCall& replace) const { return rename(replace.node); }
  bool localize(RestoreNode&) const { return false; }
  bool localize(RestoreCall&) const { return false; }

  const Graph& graph_;
  const Recipe& recipe_;
  std::string half_;  // the half of a pair that this graph is; empty for a whole graph
};

std::string_view target_of(std::string_view call) {
  return call.substr(0, call.find('('));
}

class Replayer {
 public:
  Replayer(Graph& graph, const Recipe& recipe)
      : graph_(graph), recipe_(recipe), halves_(graph, recipe), editor_(graph) {}

  Result<Replay> run(bool lenient) {
    JOINTER_CHECK(halves_.match());
    compare_start();
    const Result<void> checked = check_graph();
    if (!lenient) JOINTER_CHECK(checked);
    if (!checked) result_.other_graph = checked.error().message;
    find_ranks();
    if (lenient) find_unexpected();
    for (std::size_t i = 0; i < recipe_.edits.size(); ++i) {
      Edit edit = halves_.local(recipe_.edits[i]);
      if (edit.changes.empty()) continue;
      if (lenient) {
        do_what_fits(i, std::move(edit));
        continue;
      }
      auto inverse = adapt(edit).and_then([&] { return editor_.apply(edit); });
      if (!inverse) {
        undo();
        return fail(Error::Kind::usage, "edit {} ({}): {}", i, edit.title, inverse.error().message);
      }
      result_.done.push_back(std::move(edit));
      result_.inverses.push_back(std::move(*inverse));
    }
    compare_end();
    return std::move(result_);
  }

 private:
  void undo() {
    for (std::size_t i = result_.inverses.size(); i-- > 0;)
      if (!editor_.apply(result_.inverses[i])) return;  // cannot happen: it was applied
  }

  // How a part of the graph relates to the recorded part.
  enum class Match : std::uint8_t { unrecorded, equal, other_rank, different };

  void compare_start() {
    for (std::size_t i = 0; i < graph_.part_count(); ++i) {
      const PartId part(i);
      const RecipeGraph* recorded = halves_.of(part);
      Match& match = matches_.emplace_back(Match::unrecorded);
      if (recorded == nullptr) continue;
      match = Match::different;
      if (recorded->hash == graph_hash(graph_, part))
        match = Match::equal;
      else if (!recorded->rank_hash.empty() && recorded->rank_hash == rank_hash(graph_, part))
        match = Match::other_rank;
      if (match == Match::other_rank) describe_rank(part, *recorded);
    }
  }

  void describe_rank(PartId part, const RecipeGraph& recorded) {
    if (!result_.other_rank.empty()) return;
    const std::string half = recorded.key == "graph" ? "" : recorded.key + " ";
    result_.other_rank = fmt::format(
        "the {}graph differs from the recorded one only in rank-specific constants", half);
    const auto where = first_difference(graph_, part, recorded.fingerprint);
    if (where && !recorded.fingerprint.empty())
      result_.other_rank += fmt::format(", first at {}", where->substr(0, where->find(':')));
  }

  void find_ranks() {
    std::map<std::string, std::string> expects;
    if (std::ranges::find(matches_, Match::other_rank) != matches_.end())
      for (const auto& [name, call] : recipe_.expects)
        if (const auto local = halves_.local(name, false)) {
          const NodeId id = graph_.find(*local);
          expects.emplace(id ? edit_name(graph_, id) : *local, call);
        }
    for (std::size_t i = 0; i < graph_.part_count(); ++i) {
      // In a different graph, the recorded names may belong to other nodes.
      const bool is_same = matches_[i] == Match::equal || matches_[i] == Match::other_rank;
      ranks_.emplace_back(graph_, PartId(i), is_same ? halves_.of(PartId(i)) : nullptr, expects,
                          matches_[i] == Match::other_rank);
    }
  }

  Result<void> adapt(Edit& edit) {
    for (OtherRank& each : ranks_) JOINTER_CHECK(each.adapt(graph_, edit));
    return {};
  }

  Result<void> check_graph() const {
    for (std::size_t i = 0; i < graph_.part_count(); ++i) {
      const PartId part(i);
      if (matches_[i] != Match::different) continue;
      const RecipeGraph* recorded = halves_.of(part);
      std::string where;
      if (!recorded->fingerprint.empty())
        where = first_difference(graph_, part, recorded->fingerprint).value_or("");
      const std::string half = recorded->key == "graph" ? "" : fmt::format(" ({})", recorded->key);
      return fail(Error::Kind::usage, "the recipe was made for another graph{}{}{}{}", half,
                  where.empty() ? "" : ": ", where, expected_text(part, where));
    }
    return {};
  }

  // Returns the recorded call of the node with the first difference, if an edit names that node.
  std::string expected_text(PartId part, const std::string& where) const {
    for (const auto& [name, call] : recipe_.expects) {
      const auto local = halves_.local(name, false);
      const NodeId id = local ? graph_.find(*local) : NodeId{};
      if (!id || graph_.node(id).part != part || canonical_call(graph_, id) == call) continue;
      if (where.find(fmt::format(", {}:", graph_.name(id))) != std::string::npos)
        return fmt::format("; the recorded call is {}", call);
    }
    return {};
  }

  // Finds nodes that call a different operator than in the recorded graph.
  void find_unexpected() {
    for (const auto& [name, call] : recipe_.expects) {
      const auto local = halves_.local(name, false);
      const NodeId id = local ? graph_.find(*local) : NodeId{};
      if (id && graph_.target(graph_.node(id)) != target_of(call))
        unexpected_.emplace(*local,
                            fmt::format("{} calls {} here, but {} in the recorded graph", name,
                                        graph_.target(graph_.node(id)), target_of(call)));
    }
  }

  [[nodiscard]] std::string reason_against(const Change& change) const {
    std::string reason;
    const auto take = [&](const std::string& name) {
      const auto it = unexpected_.find(name);
      if (reason.empty() && it != unexpected_.end()) reason = it->second;
    };
    if (const auto* move = std::get_if<MoveNodes>(&change)) {
      for (const std::string& name : move->nodes) take(name);
      take(move->before);
    } else if (const auto* set = std::get_if<SetPolicy>(&change)) {
      take(set->select);
      for (const std::string& name : set->nodes) take(name);
    } else if (const auto* insert = std::get_if<InsertNode>(&change)) {
      take(insert->before);
      if (!unexpected_.empty()) take(insert->copied());
    } else if (const auto* remove = std::get_if<RemoveNode>(&change)) {
      take(remove->node);
    } else if (const auto* replace = std::get_if<ReplaceCall>(&change)) {
      take(replace->node);
    }
    return reason;
  }

  static bool is_structural(const Edit& edit) {
    return std::ranges::any_of(edit.changes, [](const Change& change) {
      return !std::holds_alternative<MoveNodes>(change) &&
             !std::holds_alternative<SetPolicy>(change);
    });
  }

  // Applies an edit. If it is not legal and only moves or tags nodes, applies the changes that are
  // legal.
  void do_what_fits(std::size_t index, Edit edit) {
    const auto adapted = adapt(edit);
    std::string reason = adapted ? try_edit(edit) : adapted.error().message;
    if (reason.empty()) return;
    if (is_structural(edit)) {
      result_.skipped.push_back({index, edit.title, std::move(reason)});
      return;
    }
    for (Change& change : edit.changes) {
      if (auto* set = std::get_if<SetPolicy>(&change); set != nullptr && !set->nodes.empty())
        if (!keep_what_fits(index, edit.title, *set)) continue;
      Edit one{.title = edit.title, .by = edit.by, .changes = {change}, .notes = edit.notes};
      one.decisions = std::exchange(edit.decisions, {});  // the first applied change has them
      if (reason = try_edit(one); reason.empty()) continue;
      result_.skipped.push_back({index, edit.title, std::move(reason)});
      edit.decisions = std::move(one.decisions);
    }
  }

  // Removes from `set` the nodes that do not exist, are not calls, or call something else, and
  // reports them as one entry. Returns false if no nodes are left.
  bool keep_what_fits(std::size_t index, const std::string& title, SetPolicy& set) {
    const std::size_t all = set.nodes.size();
    std::string first;
    std::erase_if(set.nodes, [&](const std::string& name) {
      std::string why;
      const NodeId id = graph_.find(name);
      if (const auto it = unexpected_.find(name); it != unexpected_.end())
        why = it->second;
      else if (!id)
        why = fmt::format("there is no node {}", name);
      else if (const NodeKind kind = graph_.node(id).kind; kind != NodeKind::call)
        why = fmt::format("{} is {}: only calls have a policy", name, kind_text(kind));
      if (first.empty()) first = why;
      return !why.empty();
    });
    if (const std::size_t lost = all - set.nodes.size(); lost > 0)
      result_.skipped.push_back(
          {index, title, lost == 1 ? first : fmt::format("{} of {} nodes: {}", lost, all, first)});
    return !set.nodes.empty();
  }

  // Applies an edit. Returns the reason if it fails; empty on success.
  std::string try_edit(const Edit& edit) {
    for (const Change& change : edit.changes)
      if (std::string reason = reason_against(change); !reason.empty()) return reason;
    auto inverse = editor_.apply(edit);
    if (!inverse) return inverse.error().message;
    result_.done.push_back(edit);
    result_.inverses.push_back(std::move(*inverse));
    return {};
  }

  void compare_end() {
    for (std::size_t i = 0; i < graph_.part_count(); ++i) {
      const PartId part(i);
      const RecipeGraph* recorded = halves_.of(part);
      if (recorded == nullptr) continue;
      const bool is_other_rank = matches_[i] == Match::other_rank;
      if (!is_other_rank && recorded->after.empty()) continue;
      bool is_equal = !is_other_rank && graph_hash(graph_, part) == recorded->after;
      // Ranks with equal graphs may still differ in names of groups or devices, which edits can add
      // to the graph.
      if (is_other_rank || (!is_equal && !ranks_[i].are_names_equal())) {
        if (recorded->rank_after.empty()) continue;
        // The rank hash does not show whether an edit that only changes constants was skipped.
        is_equal = recorded->rank_after == rank_hash(graph_, part) && result_.skipped.empty();
      }
      result_.ends_as_recorded = result_.ends_as_recorded.value_or(true) && is_equal;
    }
  }

  Graph& graph_;
  const Recipe& recipe_;
  Halves halves_;
  Editor editor_;
  std::vector<Match> matches_;                     // by part
  std::vector<OtherRank> ranks_;                   // by part
  std::map<std::string, std::string> unexpected_;  // reason, by name in this graph
  Replay result_;
};

}  // namespace

Result<Replay> replay(Graph& graph, const Recipe& recipe, bool lenient) {
  return Replayer(graph, recipe).run(lenient);
}

}  // namespace jointer

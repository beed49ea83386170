#include "views/modules/module_model.h"

#include <functional>

#include "core/base/index.h"
#include "core/graph/value_hash.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/tables/folded_name.h"

namespace jointer::views {
namespace {

// A hash of a node's kind or operator, its phase and its outputs, but not of its name and
// arguments.
std::uint64_t node_signature(const Graph& graph, const Node& node) {
  std::uint64_t hash =
      node.kind == NodeKind::call ? node.target.index() : 1'000'000 + static_cast<int>(node.kind);
  hash = joined(hash, static_cast<std::uint64_t>(node.phase));
  return joined_with_value(hash, graph, node);
}

}  // namespace

ModuleModel::Sums& ModuleModel::Sums::operator+=(const Sums& other) {
  nodes += other.nodes;
  parameter_bytes += other.parameter_bytes;
  saved_bytes += other.saved_bytes;
  forward_ns += other.forward_ns;
  backward_ns += other.backward_ns;
  flops += other.flops;
  return *this;
}

ModuleModel::ModuleModel(QObject* parent) : TableModel({tr("1 module"), tr("%1 modules")}, parent) {
  set_columns({
      {.title = tr("module"), .max_width = 320},
      {.title = tr("class"), .hide_priority = 2},
      {.title = tr("nodes"),
       .unit = Unit::count,
       .meaning = tr("Number of nodes in the module and its submodules, including parameters; if a "
                     "range is selected, only those that run in it."),
       .adds_up = true,
       .total_title = tr("nodes"),
       .hide_priority = 3},
      {.title = tr("parameters"),
       .unit = Unit::bytes,
       .meaning = tr("Size of all parameters of the module on this rank, even if a range is "
                     "selected."),
       .adds_up = true,
       .total_title = tr("parameters"),
       .hide_priority = 1},
      {.title = tr("saved"), .unit = Unit::bytes, .adds_up = true, .total_title = tr("saved")},
      {.title = tr("forward"),
       .unit = Unit::time,
       .meaning = tr("Estimated device time of the module's forward nodes, including collectives."),
       .adds_up = true,
       .total_title = tr("forward")},
      {.title = tr("backward"),
       .unit = Unit::time,
       .meaning = tr("Estimated device time of the module's backward nodes, including "
                     "recomputation and collectives."),
       .adds_up = true,
       .total_title = tr("backward")},
      {.title = tr("FLOPs"),
       .unit = Unit::flops,
       .meaning =
           tr("Floating-point operations in the forward and backward, computed from shapes."),
       .adds_up = true,
       .hide_priority = 4},
  });
}

void ModuleModel::set_snapshot(SnapshotPtr snapshot, RangeFiguresPtr figures,
                               const std::optional<SavedValues>& saved) {
  begin_rows();
  snapshot_ = std::move(snapshot);
  figures_ = figures ? std::move(figures) : whole_step_figures(*snapshot_);
  places_ = ModuleLocations(snapshot_->graph, snapshot_->analysis.modules);
  column_at(name_column).title = shows_source_lines() ? tr("source line") : tr("module");
  column_at(type_column).title = shows_source_lines() ? tr("code") : tr("class");
  column_at(name_column).meaning = shows_source_lines()
                                       ? tr("The capture has no module names; nodes are grouped by "
                                            "the innermost line of their stack traces.")
                                       : QString();
  column_at(saved_column).meaning =
      saved ? tr("Total size of the module's values that the current plan saves for backward, as "
                 "in the Graph and SAC panes. A storage counts for the first of its values that is "
                 "saved.")
            : tr("Total size of the storages that the module's forward allocates and the backward "
                 "reads.");
  set_counted(counted());
  sum_up(saved);
  make_rows();
}

// A row counts as one module, or as its members, without their submodules. The number of all
// modules is that of `jointer info`.
TableModel::Counted ModuleModel::counted() const {
  if (shows_source_lines()) return {tr("1 source line"), tr("%1 source lines")};
  const QString all = count_text(snapshot_->analysis.modules.size() - 1);  // without the root
  return {tr("1 module at this level, %1 in total").arg(all),
          tr("%1 modules at this level, %2 in total").arg(QStringLiteral("%1"), all)};
}

void ModuleModel::sum_up(const std::optional<SavedValues>& saved) {
  const Graph& graph = snapshot_->graph;
  const Analysis& analysis = snapshot_->analysis;
  sums_.assign(places_.all().size(), {});
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    Sums& s = sums_[as_index(places_.of(id))];
    // Count parameters once: the backward of a pair has its own placeholders for them.
    if (n.role == Role::parameter && !n.partner) s.parameter_bytes += graph.output_bytes(n);
    if (!figures_->contains(id)) continue;
    ++s.nodes;
    (n.phase == Phase::forward ? s.forward_ns : s.backward_ns) += figures_->ns(id);
    s.flops += analysis.flops[id.index()].total;
  }
  const auto add_saved = [&](NodeId node, std::int64_t bytes) {
    if (node && graph.is_live(node) && figures_->contains(node))
      sums_[as_index(places_.of(node))].saved_bytes += bytes;
  };
  if (saved)
    for (const SavedValue& value : *saved) add_saved(value.node, value.bytes);
  else
    for (const Lifetime& l : analysis.memory.lifetimes())
      if (l.category == MemoryCategory::saved_activation) add_saved(l.producer, l.bytes);
  for (std::size_t i = sums_.size(); i-- > 0;)
    if (const int parent = places_.all()[i].parent; parent >= 0)
      sums_[as_index(parent)] += sums_[i];
}

std::vector<std::uint64_t> ModuleModel::signatures() const {
  const Graph& graph = snapshot_->graph;
  const std::vector<ModuleLocation>& all = places_.all();
  std::vector<std::uint64_t> names(all.size()), signatures(all.size(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) names[i] = std::hash<std::string>{}(all[i].name);
  for (const NodeId id : graph.order()) {
    if (!figures_->contains(id)) continue;
    const Node& node = graph.node(id);
    std::uint64_t hash = node_signature(graph, node);
    if (node.kind == NodeKind::call && !graph.is_wait(node)) {
      const NodeTiming& timing = snapshot_->analysis.simulation.timing(id);
      const std::int64_t part = figures_->ns(id);
      if (part != timing.end - timing.start) hash = joined(hash, static_cast<std::uint64_t>(part));
    }
    for (int place = places_.of(id); place >= 0; place = all[as_index(place)].parent) {
      signatures[as_index(place)] += mixed(hash);
      hash = joined(hash, names[as_index(place)]);  // the position relative to the parent
    }
  }
  return signatures;
}

void ModuleModel::make_rows() {
  const std::vector<ModuleLocation>& all = places_.all();
  const std::vector<std::uint64_t> signature = signatures();
  std::vector<std::vector<int>> children(all.size() + 1);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (sums_[i].nodes > 0) children[as_index(all[i].parent + 1)].push_back(static_cast<int>(i));

  rows_.clear();
  row_by_place_.assign(all.size(), -1);
  std::vector<int> parents;
  const auto add = [&](Row row, int parent) {
    rows_.push_back(row);
    parents.push_back(parent);
    return static_cast<int>(rows_.size()) - 1;
  };
  const std::function<void(int, int)> add_children = [&](int place, int parent) {
    const std::vector<int>& siblings = children[as_index(place + 1)];
    for (std::size_t i = 0; i < siblings.size();) {
      std::size_t end = i + 1;
      const auto continues = [&](int a, int b) {
        return all[as_index(a)].number >= 0 &&
               all[as_index(b)].number == all[as_index(a)].number + 1 &&
               signature[as_index(a)] == signature[as_index(b)];
      };
      while (end < siblings.size() && continues(siblings[end - 1], siblings[end])) ++end;
      int above = parent;
      if (end - i > 1) {
        Row group{.place = siblings[i], .members = static_cast<int>(end - i)};
        for (std::size_t k = i; k < end; ++k) group.sums += sums_[as_index(siblings[k])];
        above = add(group, parent);
      }
      for (; i < end; ++i) {
        const int row = add({.place = siblings[i], .sums = sums_[as_index(siblings[i])]}, above);
        row_by_place_[as_index(siblings[i])] = row;
        add_children(siblings[i], row);
      }
    }
  };
  add_children(-1, -1);
  set_rows(std::move(parents));
}

std::optional<std::int64_t> ModuleModel::number(int row, int column) const {
  const Sums& s = rows_[as_index(row)].sums;
  switch (column) {
    case nodes_column:
      return s.nodes;
    case parameters_column:
      return s.parameter_bytes;
    case saved_column:
      return s.saved_bytes;
    case forward_column:
      return s.forward_ns;
    case backward_column:
      return s.backward_ns;
    case flops_column:
      return s.flops;
    default:
      return std::nullopt;
  }
}

QString ModuleModel::text(int row, int column) const {
  const Row& r = rows_[as_index(row)];
  const ModuleLocation& p = place(r);
  if (column == type_column) return to_qstring(p.type);
  return folded_name(to_qstring(p.name), p.number, r.members);
}

QString ModuleModel::note(int row, int column) const {
  const Row& r = rows_[as_index(row)];
  if (column == name_column) {
    if (r.members == 1) return to_qstring(place(r).path);
    return tr(
        "Identical modules call the same operators in the same submodules, with outputs of the "
        "same shapes and dtypes, in both the forward and the backward. The order of the calls may "
        "differ. If a range is selected, only the calls in it are compared, and their times in it "
        "must be the same as well.");
  }
  const auto value = number(row, column);
  if (r.members == 1 || !value) return {};
  return tr("%1 each on average").arg(number_text(columns()[as_index(column)], *value / r.members));
}

std::uint64_t ModuleModel::key(int row) const {
  const Row& r = rows_[as_index(row)];
  const ModuleLocation& p = place(r);
  return joined(std::hash<std::string>{}(p.path.empty() ? p.name : p.path), r.members > 1 ? 1 : 0);
}

std::vector<NodeId> ModuleModel::nodes(int row) const {
  // A later row is in the subtree of `row` if its parent is.
  std::vector<char> is_below(rows_.size(), 0);
  is_below[as_index(row)] = 1;
  for (int r = row + 1; r < row_count(); ++r)
    if (parent_row(r) >= 0) is_below[as_index(r)] = is_below[as_index(parent_row(r))];
  std::vector<NodeId> nodes;
  for (const NodeId id : snapshot_->graph.order())
    if (const int r = row_of(id); r >= 0 && is_below[as_index(r)] != 0) nodes.push_back(id);
  return nodes;
}

int ModuleModel::row_of(NodeId node) const {
  return figures_->contains(node) ? row_by_place_[as_index(places_.of(node))] : -1;
}

std::size_t ModuleModel::things(int row) const {
  const Row& r = rows_[as_index(row)];
  const bool is_module = shows_source_lines() || !place(r).path.empty();  // not "(no module)"
  return is_module ? static_cast<std::size_t>(r.members) : 0;
}

}  // namespace jointer::views

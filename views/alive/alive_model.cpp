#include "views/alive/alive_model.h"

#include <algorithm>
#include <numeric>

#include "core/base/index.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"

namespace jointer::views {
namespace {

QString change_text(RangeChange change) {
  switch (change) {
    case RangeChange::allocated:
      return AliveModel::tr("allocated, still live");
    case RangeChange::passing:
      return AliveModel::tr("allocated and freed");
    case RangeChange::freed:
      return AliveModel::tr("freed");
    case RangeChange::unchanged:
      return AliveModel::tr("live throughout");
    case RangeChange::outside:
      break;
  }
  return {};
}

}  // namespace

AliveModel::AliveModel(QObject* parent) : TableModel({tr("1 storage"), tr("%1 storages")}, parent) {
  set_columns({
      {.title = tr("tensor"),
       .meaning = tr("Node that allocates the storage, or the name of the parameter or buffer "
                     "stored in it."),
       .max_width = 320},
      {.title = tr("bytes"),
       .unit = Unit::bytes,
       .meaning = tr("Size of the storage, rounded up as by the device's allocator, except for "
                     "buffers of compiled kernels."),
       .adds_up = true},
      {.title = tr("share"),
       .unit = Unit::share,
       .meaning =
           tr("Share of the bytes that are live at this moment or, if a range is selected, of "
              "all storages that are live at any time in it."),
       .whole_unit = Unit::bytes,
       .hide_priority = 1},
      {.title = tr("category"), .max_width = 160},
      {.title = tr("type"), .meaning = tr("Element type and shape.")},
      {.title = tr("module"),
       .meaning =
           tr("Module or source line that allocates the storage, or module that owns the parameter "
              "or buffer stored in it.")},
      {.title = tr("from"),
       .unit = Unit::step,
       .meaning = tr("Number of the call that allocates the storage, counted from 0; empty if the "
                     "storage exists from the start.")},
      {.title = tr("to"),
       .unit = Unit::step,
       .meaning = tr("Number of the call after which the storage is freed, counted from 0; empty "
                     "if the storage exists until the end.")},
      {.title = tr("why"), .meaning = tr("Why the storage is live.")},
      {.title = tr("in the range"),
       .meaning =
           tr("Changes to the storage in the selected range: allocated, freed, both or neither.")},
  });
}

void AliveModel::set_snapshot(SnapshotPtr snapshot, std::size_t moment, RangeFiguresPtr figures) {
  begin_rows();
  snapshot_ = std::move(snapshot);
  moment_ = moment;
  places_ = ModuleLocations(snapshot_->graph, snapshot_->analysis.modules);
  column_at(module_column).title = places_.are_source_lines() ? tr("source line") : tr("module");
  top_places_.resize(places_.all().size());
  for (std::size_t i = 0; i < top_places_.size(); ++i) {
    const int parent = places_.all()[i].parent;
    top_places_[i] = parent < 0 ? static_cast<int>(i) : top_places_[as_index(parent)];
  }
  const auto lifetimes = snapshot_->analysis.memory.lifetimes();
  by_size_.resize(lifetimes.size());
  std::iota(by_size_.begin(), by_size_.end(), 0);
  std::ranges::stable_sort(by_size_, std::ranges::greater(),
                           [&](std::int32_t i) { return lifetimes[as_index(i)].bytes; });
  find_returned();
  figures_ = std::move(figures);
  make_rows();
}

void AliveModel::set_figures(RangeFiguresPtr figures) {
  if (!snapshot_ || figures == figures_) return;
  begin_rows();
  figures_ = std::move(figures);
  make_rows();
}

void AliveModel::set_moment(std::size_t moment) {
  if (!snapshot_ || moment == moment_) return;
  begin_rows();
  moment_ = moment;
  make_rows();
}

void AliveModel::set_grouping(Grouping grouping) {
  if (std::exchange(grouping_, grouping) == grouping) return;
  if (!snapshot_) return;
  begin_rows();
  make_rows();
}

void AliveModel::set_theme(const Theme& theme) {
  if (theme_ == &theme) return;
  theme_ = &theme;
  emit_cells_changed({Qt::DecorationRole});
}

bool AliveModel::is_shown(const Lifetime& l) const {
  return figures_ ? figures_->change_of(l) != RangeChange::outside
                  : MemoryTimeline::is_alive(l, moment_);
}

std::size_t AliveModel::group_count() const {
  switch (grouping_) {
    case Grouping::category:
      return kMemoryCategories;
    case Grouping::change:
      return kRangeChanges;
    default:
      return places_.all().size();
  }
}

int AliveModel::group_of(const Lifetime& l) const {
  if (grouping_ == Grouping::category) return static_cast<int>(l.category);
  if (grouping_ == Grouping::change)
    return static_cast<int>(figures_ ? figures_->change_of(l) : RangeChange::unchanged);
  return top_places_[as_index(places_.of(l.producer))];
}

void AliveModel::make_rows() {
  const auto lifetimes = snapshot_->analysis.memory.lifetimes();
  std::int64_t total = 0;
  rows_.clear();
  row_by_lifetime_.assign(lifetimes.size(), -1);
  std::vector<int> parents;
  alive_count_ = 0;
  if (grouping_ == Grouping::none) {
    for (const std::int32_t i : by_size_) {
      const Lifetime& l = lifetimes[as_index(i)];
      if (!is_shown(l)) continue;
      row_by_lifetime_[as_index(i)] = static_cast<int>(rows_.size());
      rows_.push_back({.lifetime = i, .bytes = l.bytes});
      total += l.bytes;
      ++alive_count_;
    }
    parents.assign(rows_.size(), -1);
  } else {
    // The groups come first, largest first, then their members.
    std::vector<Row> groups(group_count(), Row{.count = 0});
    std::vector<std::int32_t> alive;
    for (const std::int32_t i : by_size_) {
      const Lifetime& l = lifetimes[as_index(i)];
      if (!is_shown(l)) continue;
      alive.push_back(i);
      Row& group = groups[as_index(group_of(l))];
      group.bytes += l.bytes;
      ++group.count;
      total += l.bytes;
    }
    alive_count_ = alive.size();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      groups[g].group = static_cast<int>(g);
      if (groups[g].count > 0) rows_.push_back(groups[g]);
    }
    std::ranges::stable_sort(rows_, std::ranges::greater(), &Row::bytes);
    std::vector<int> row_by_group(groups.size(), -1);
    for (std::size_t r = 0; r < rows_.size(); ++r)
      row_by_group[as_index(rows_[r].group)] = static_cast<int>(r);
    parents.assign(rows_.size(), -1);
    rows_.reserve(rows_.size() + alive.size());
    parents.reserve(rows_.size() + alive.size());
    for (const std::int32_t i : alive) {
      row_by_lifetime_[as_index(i)] = static_cast<int>(rows_.size());
      rows_.push_back({.lifetime = i, .bytes = lifetimes[as_index(i)].bytes});
      parents.push_back(row_by_group[as_index(group_of(lifetimes[as_index(i)]))]);
    }
  }
  column_at(share_column).whole = total;
  set_rows(std::move(parents));
}

QString AliveModel::sentence() const {
  if (!snapshot_) return {};
  if (figures_) return range_sentence();
  const MemoryTimeline& memory = snapshot_->analysis.memory;
  const NodeId node = memory.node_at(moment_);
  QString where = tr("at the start");
  if (node) {
    const QString at_node =
        MemoryTimeline::is_after_frees(moment_) ? tr("after %1 (call %2)") : tr("in %1 (call %2)");
    where = at_node.arg(to_qstring(snapshot_->graph.name(node)), count_text(*memory.step_of(node)));
  }
  if (memory.profile()[moment_] == memory.peak_bytes()) where = tr("at the peak, %1").arg(where);
  where[0] = where[0].toUpper();
  return tr("%1: %2 in %3")
      .arg(where, bytes_text(columns()[share_column].whole),
           counted_text(alive_count_, tr("1 storage"), tr("%1 storages")));
}

QString AliveModel::range_sentence() const {
  const RangeTotals& t = figures_->totals();
  return tr("%1: allocated %2, freed %3; live: %4 at the start, %5 at the end")
      .arg(time_range_text(figures_->range().begin, figures_->range().end),
           storages_text(t.allocated_bytes, t.allocated), storages_text(t.freed_bytes, t.freed),
           bytes_text(t.begin_bytes), bytes_text(t.end_bytes));
}

std::optional<std::int64_t> AliveModel::number(int row, int column) const {
  const Row& r = rows_[as_index(row)];
  if (column == bytes_column || column == share_column) return r.bytes;
  if (r.lifetime < 0) return std::nullopt;
  const Lifetime& l = lifetime(r);
  const auto steps = static_cast<std::int32_t>(snapshot_->analysis.memory.steps().size());
  if (column == from_column && l.first >= 0) return l.first;
  if (column == to_column && l.last < steps) return l.last;
  return std::nullopt;
}

QString AliveModel::group_name(const Row& row) const {
  if (grouping_ == Grouping::category)
    return category_label(static_cast<MemoryCategory>(row.group));
  if (grouping_ == Grouping::change) return change_text(static_cast<RangeChange>(row.group));
  return to_qstring(places_.all()[as_index(row.group)].name);
}

QString AliveModel::tensor_of(const Lifetime& l) const {
  const Graph& graph = snapshot_->graph;
  for (const Tensor& t : graph.tensors(l.producer))
    if (l.storage && t.storage && graph.real_storage(t.storage) == l.storage)
      return tensor_text(graph, t);
  return {};
}

bool AliveModel::is_copy_by_library(const Lifetime& l) const {
  const Graph& graph = snapshot_->graph;
  return !l.storage && l.category == MemoryCategory::communication &&
         snapshot_->analysis.memory.options().collectives == CollectiveLibrary::gloo &&
         graph.is_collective_start(graph.node(l.producer));
}

bool AliveModel::is_returned(const Lifetime& l) const {
  if (!l.storage) return !is_copy_by_library(l);
  return std::ranges::binary_search(returned_, l.storage);
}

void AliveModel::find_returned() {
  const Graph& graph = snapshot_->graph;
  const bool is_torch = snapshot_->analysis.memory.options().rules == MemoryRules::torch;
  returned_.clear();
  for (std::uint32_t part = 0; part < graph.part_count(); ++part)
    for (const OutputEntry& output : graph.part(PartId(part)).outputs) {
      if (!output.node) continue;
      for (const Tensor& t : graph.tensors(output.node))
        if (t.storage) returned_.push_back(counted_storage(graph, t, is_torch));
    }
  std::ranges::sort(returned_);
}

// Lifetimes without a storage are those of optimizer state, of copies that Gloo makes, and of
// additional buffers that compiled code needs to compute a value.
QString AliveModel::name_of(const Lifetime& l) const {
  const Graph& graph = snapshot_->graph;
  const Node& n = graph.node(l.producer);
  // Parameters and buffers have the names that they have in the model.
  const QString name = n.role_target && !graph.text(n.role_target).empty()
                           ? to_qstring(graph.text(n.role_target))
                           : to_qstring(graph.name(l.producer));
  if (l.category == MemoryCategory::optimizer_state) return tr("%1 (optimizer state)").arg(name);
  if (is_copy_by_library(l)) return tr("%1 (Gloo's copy)").arg(name);
  return l.storage || n.kind != NodeKind::call ? name : tr("%1 (kernel's buffer)").arg(name);
}

QString AliveModel::why(const Lifetime& l) const {
  const MemoryTimeline& memory = snapshot_->analysis.memory;
  if (l.category == MemoryCategory::optimizer_state) return tr("optimizer state, whole step");
  const Node& producer = snapshot_->graph.node(l.producer);
  const bool is_input = producer.kind != NodeKind::call;
  const QString role = producer.role == Role::none    ? tr("constant")
                       : producer.role == Role::other ? tr("input")
                                                      : role_text(producer.role);
  if (as_index(l.last) >= memory.steps().size()) {
    if (l.first < 0) return tr("%1, whole step").arg(role);
    if (is_input) return tr("%1, to the end").arg(role);
    return is_returned(l) ? tr("returned at the end")
                          : tr("in use at the end: a collective or a copy has no wait");
  }
  const NodeId last = memory.steps()[as_index(l.last)];
  const Node& n = snapshot_->graph.node(last);
  const QString name = to_qstring(snapshot_->graph.name(last));
  // A compiled half of a pair may keep an input until the half ends, past the last reader.
  if (is_input && snapshot_->analysis.compiled) return tr("%1, until %2").arg(role, name);
  if (last == l.producer) return tr("never read; freed immediately");
  if (snapshot_->graph.is_wait(n)) return tr("in use until %1").arg(name);
  if (l.category == MemoryCategory::saved_activation) return tr("saved; last read by %1").arg(name);
  return tr("last read by %1").arg(name);
}

QString AliveModel::text(int row, int column) const {
  const Row& r = rows_[as_index(row)];
  if (r.lifetime < 0) {
    if (column == name_column) return group_name(r);
    if (column == why_column) return counted_text(r.count, tr("1 storage"), tr("%1 storages"));
    return {};
  }
  const Lifetime& l = lifetime(r);
  switch (column) {
    case name_column:
      return name_of(l);
    case category_column:
      return category_label(l.category);
    case tensor_column:
      return tensor_of(l);
    case module_column:
      return to_qstring(places_.all()[as_index(places_.of(l.producer))].path);
    case why_column:
      return why(l);
    case change_column:
      return figures_ ? change_text(figures_->change_of(l)) : QString();
    default:
      return {};
  }
}

QString AliveModel::note(int row, int column) const {
  const Row& r = rows_[as_index(row)];
  if (column != name_column || r.lifetime < 0) return {};
  return tr("node %1").arg(to_qstring(snapshot_->graph.name(lifetime(r).producer)));
}

QVariant AliveModel::decoration(int row, int column) const {
  const Row& r = rows_[as_index(row)];
  if (r.lifetime < 0)
    return column == name_column && grouping_ == Grouping::category
               ? QVariant(theme_->category(static_cast<MemoryCategory>(r.group)))
               : QVariant();
  return column == category_column ? QVariant(theme_->category(lifetime(r).category)) : QVariant();
}

std::uint64_t AliveModel::key(int row) const {
  const Row& r = rows_[as_index(row)];
  if (r.lifetime >= 0) return static_cast<std::uint64_t>(r.lifetime);
  return (std::uint64_t{1} << 40U) * (1 + static_cast<std::uint64_t>(grouping_)) +
         static_cast<std::uint64_t>(r.group);
}

std::vector<NodeId> AliveModel::nodes(int row) const {
  const Row& r = rows_[as_index(row)];
  if (r.lifetime >= 0) return {lifetime(r).producer};
  std::vector<NodeId> nodes;
  for (int i = row + 1; i < row_count(); ++i)
    if (parent_row(i) == row) nodes.push_back(lifetime(rows_[as_index(i)]).producer);
  return nodes;
}

int AliveModel::row_of(NodeId node) const {
  const Graph& graph = snapshot_->graph;
  for (const Tensor& t : graph.tensors(node)) {
    if (!t.storage) continue;
    const auto index = snapshot_->analysis.memory.lifetime_of(graph.real_storage(t.storage));
    if (index && row_by_lifetime_[*index] >= 0) return row_by_lifetime_[*index];
  }
  return -1;
}

std::size_t AliveModel::things(int row) const {
  return as_index(rows_[as_index(row)].count);
}

}  // namespace jointer::views

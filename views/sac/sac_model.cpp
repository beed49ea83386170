#include "views/sac/sac_model.h"

#include <algorithm>
#include <functional>
#include <map>

#include "core/base/checked.h"
#include "core/base/index.h"
#include "core/policy/gathered_weights.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/tables/folded_name.h"

namespace jointer::views {
namespace {

constexpr int kMaxWhy = 420, kMaxName = 360;
constexpr std::size_t kMaxReasons = 3;

// True if choosing `action` for the tensor's group changes the tensor.
bool is_meant(const SacTensor& tensor, std::optional<PlanAction> action) {
  return action == PlanAction::recompute
             ? tensor.action != PlanAction::recompute
             : action != PlanAction::offload || tensor.action == PlanAction::save;
}

}  // namespace

std::optional<PlanAction> SacModel::ActionCounts::one() const {
  for (const PlanAction action : {PlanAction::recompute, PlanAction::save, PlanAction::offload})
    if (of(action) == all() && all() > 0) return action;
  return std::nullopt;
}

SacModel::SacModel(QObject* parent) : TableModel({tr("1 tensor"), tr("%1 tensors")}, parent) {
  set_columns({
      {.title = tr("tensor"), .max_width = kMaxName},
      {.title = tr("policy")},
      {.title = tr("count"),
       .unit = Unit::count,
       .meaning = tr("Number of tensors that the backward reads or needs for recomputation."),
       .hide_priority = 2},
      {.title = tr("bytes"),
       .unit = Unit::bytes,
       .meaning = tr(
           "Bytes that saving this tensor adds to the saved activations; a view of a saved tensor "
           "adds none. In groups and totals, a storage that several tensors share counts once."),
       .adds_up = true,
       .total_title = tr("if saved")},
      {.title = tr("recompute"), .unit = Unit::time, .adds_up = true},
      {.title = tr("FLOPs"), .unit = Unit::flops, .adds_up = true, .hide_priority = 3},
      {.title = tr("bytes/us"),
       .unit = Unit::bytes,
       .meaning =
           tr("Bytes freed per microsecond of recomputation. Recompute tensors with high values, "
              "and save those with low values. Empty if recomputation takes no time."),
       .hide_priority = 1},
      {.title = tr("when fused"),
       .unit = Unit::time,
       .meaning =
           tr("Time to recompute the tensor if the compiler fuses the recomputation into the "
              "kernels that read the tensor, as torch's min cut assumes: the time to read whatever "
              "these kernels do not already read. Empty if no backward kernel reads the tensor, or "
              "if such a kernel or a call in the chain cannot be fused. In groups, the sum over "
              "the tensors whose recomputation can be fused.")},
      {.title = tr("decided by")},
      // Hidden if there is little space, since the reasons are also below the table.
      {.title = tr("why"), .max_width = kMaxWhy, .hide_priority = 4},
      {.title = tr("operator"),
       .meaning = tr("Operator that computes the tensor."),
       .hide_priority = 5},
      {.title = tr("module"),
       .meaning = tr("Module that computes the tensor."),
       .hide_priority = 6},
  });
  explain_columns();
}

// --- Rows ---

bool SacModel::can_keep_rows(const SacState& state) const {
  if (!state_ || state.tensors.size() != state_->tensors.size()) return false;
  // If sizes have changed, the grouping by layer may differ.
  return std::equal(state.tensors.begin(), state.tensors.end(), state_->tensors.begin(),
                    [this](const SacTensor& a, const SacTensor& b) {
                      return a.node == b.node &&
                             (grouping_ != SacGrouping::layer || a.bytes == b.bytes);
                    }) &&
         state.snapshot->graph.node_count() == state_->snapshot->graph.node_count();
}

void SacModel::set_state(SacStatePtr state) {
  if (state == state_) return;
  if (state && can_keep_rows(*state)) {
    if (state->snapshot != state_->snapshot) search_.reset();
    state_ = std::move(state);
    sum_up();
    // The filter may refer to the plan.
    if (!filter().isEmpty()) {
      const auto before = found_;
      prepare_filter();
      if (found_ != before) return refilter();
    }
    return emit_cells_changed();
  }
  begin_rows();
  search_.reset();
  state_ = std::move(state);
  places_ = state_ ? ModuleLocations(state_->snapshot->graph, state_->snapshot->analysis.modules)
                   : ModuleLocations();
  is_gathered_ = state_ ? gathered_weights(state_->snapshot->graph) : std::vector<bool>();
  make_rows();
}

void SacModel::set_grouping(SacGrouping grouping) {
  begin_rows();
  grouping_ = grouping;
  make_rows();
}

// Only the plan of a joint graph recomputes chains of calls. In other graphs, recomputation is
// already in the graph, or calls are tagged individually.
void SacModel::explain_columns() {
  const bool has_chains = !state_ || state_->base;
  const bool is_step = state_ && state_->is_step();
  const bool is_fixed = state_ && !state_->can_change();
  column_at(policy_column).meaning =
      tr("How the backward obtains the tensor: S saved, R recomputed, O offloaded to the host. %1")
          .arg(is_fixed ? tr("The graph is already partitioned, so its policies are fixed.")
                        : tr("Press S, R or O to choose, or Space to toggle; Delete %1.")
                              .arg(is_step ? tr("removes the tensor's tag")
                                           : tr("leaves the tensor to the partitioner")));
  column_at(decider_column).meaning =
      tr("Who decided: you, a list, a preset, a search within a limit, a tag in the capture, or "
         "%1.")
          .arg(is_step ? tr("%1 if no tag determines the policy")
                             .arg(to_qstring(to_string(Decider::untagged)))
                       : tr("the partitioner"));
  column_at(time_column).meaning =
      has_chains
          ? tr("Estimated time to recompute the tensor from currently saved values, including the "
               "chain of calls that this requires. In groups and totals, a call that several "
               "tensors require counts once.")
          : tr("Estimated time of the call that computes the tensor, excluding recomputation of "
               "the call's inputs. In groups and totals, a call with several results counts once.");
  column_at(time_column).total_title = has_chains ? tr("if recomputed") : tr("in their calls");
  column_at(flops_column).meaning =
      has_chains
          ? tr("Floating-point operations to recompute the tensor, including the chain of calls.")
          : tr("Floating-point operations of the call that computes the tensor.");
}

void SacModel::make_rows() {
  explain_columns();
  rows_ = state_ ? group_tensors(*state_, places_, grouping_) : SacRows();
  std::vector<int> parents;
  parents.reserve(rows_.rows.size());
  for (const SacRow& r : rows_.rows) parents.push_back(r.parent);
  sum_up();
  column_at(name_column).title = grouping_ == SacGrouping::op       ? tr("operator")
                                 : grouping_ == SacGrouping::tensor ? tr("tensor")
                                 : places_.are_source_lines()       ? tr("source line")
                                                                    : tr("module");
  set_rows(std::move(parents));
}

void SacModel::sum_up() {
  sums_.assign(rows_.rows.size(), {});
  for (std::size_t r = 0; r < rows_.rows.size(); ++r) {
    Sums& sums = sums_[r];
    for (std::size_t i = rows_.rows[r].first; i < rows_.rows[r].last; ++i) {
      const SacTensor& t = tensor(i);
      ++sums.actions.counts[static_cast<std::size_t>(t.action)];
      ++sums.deciders[static_cast<std::size_t>(t.decider)];
    }
  }
}

const PlanTotals::Sum& SacModel::total(int index) const {
  std::optional<PlanTotals::Sum>& total = sums_[as_index(index)].total;
  const SacRow& r = row(index);
  if (!total && r.tensor >= 0) {
    const SacTensor& t = tensor(r.first);
    total = {t.bytes, t.recompute_ns, t.recompute_flops, t.chain};
  } else if (!total) {
    total = sum_of(*state_, std::span(rows_.order).subspan(r.first, r.last - r.first));
  }
  return *total;
}

std::vector<std::optional<std::int64_t>> SacModel::sums(std::span<const int> rows) const {
  std::vector<std::optional<std::int64_t>> sums(columns().size());
  if (rows.empty()) return sums;
  std::vector<int> tensors;
  for (const int index : rows)
    tensors.insert(tensors.end(),
                   rows_.order.begin() + static_cast<std::ptrdiff_t>(row(index).first),
                   rows_.order.begin() + static_cast<std::ptrdiff_t>(row(index).last));
  const PlanTotals::Sum sum = sum_of(*state_, tensors);
  sums[bytes_column] = sum.bytes;
  sums[time_column] = sum.recompute_ns;
  sums[flops_column] = sum.recompute_flops;
  return sums;
}

// --- Filtering ---

void SacModel::show_only(std::optional<std::vector<NodeId>> nodes) {
  only_.reset();
  if (nodes && state_) {
    only_.emplace(state_->snapshot->graph.node_count(), 0);
    for (const NodeId node : *nodes) (*only_)[node.index()] = 1;
  }
  refilter();
}

void SacModel::prepare_filter() {
  found_.reset();
  mistake_.clear();
  if (!state_ || filter().isEmpty()) return;
  if (!search_) {
    search_ = std::make_unique<NodeSearch>(state_->snapshot);
    search_->set_plan([this](NodeId node) -> std::optional<NodeSearch::OfPlan> {
      const SacTensor* tensor = state_->tensor_of(node);
      if (tensor == nullptr) return std::nullopt;
      return NodeSearch::OfPlan{
          .policy = to_string(tensor->action),
          .decider = to_string(tensor->decider),
          .bytes = tensor->bytes,
      };
    });
  }
  const auto found = search_->find(std::string_view(filter().toStdString()));
  if (!found) {
    mistake_ = to_qstring(found.error().message);
    return;
  }
  found_.emplace(state_->snapshot->graph.node_count(), 0);
  for (const NodeId node : *found) (*found_)[node.index()] = 1;
}

bool SacModel::passes(int index, const QStringList& /*words*/) const {
  if (row(index).tensor < 0) return false;
  const std::size_t node = tensor(row(index).first).node.index();
  const auto has = [node](const std::optional<std::vector<char>>& flags) {
    return !flags || (node < flags->size() && (*flags)[node] != 0);
  };
  return has(found_) && has(only_);
}

bool SacModel::has_activations(int index) const {
  for (std::size_t i = row(index).first; i < row(index).last; ++i) {
    const NodeId node = tensor(i).node;
    const bool is_call = state_->snapshot->graph.node(node).kind == NodeKind::call;
    if (is_call && !is_gathered_[node.index()]) return true;
  }
  return false;
}

std::vector<NodeId> SacModel::changeable(std::span<const int> rows,
                                         std::optional<PlanAction> action) const {
  std::vector<char> is_taken(state_ ? state_->tensors.size() : 0, 0);
  std::vector<NodeId> nodes;
  // `of_group`: the row is in a group that the user selected. `activations`: that group has
  // activations.
  const std::function<void(int, bool, bool)> take = [&](int index, bool of_group,
                                                        bool activations) {
    if (row(index).tensor < 0) {
      for (const int child : shown(index)) take(child, true, activations);
      return;
    }
    const SacTensor& leaf = tensor(row(index).first);
    if (of_group && (!is_meant(leaf, action) || (activations && is_gathered_[leaf.node.index()])))
      return;
    if (std::exchange(is_taken[as_index(row(index).tensor)], 1) != 0) return;
    if (state_->snapshot->graph.node(leaf.node).kind == NodeKind::call) nodes.push_back(leaf.node);
  };
  for (const int index : rows) take(index, false, has_activations(index));
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

QString SacModel::why_unchanged(std::span<const int> rows, std::optional<PlanAction> action) const {
  // A group that stands for its activations leaves out its gathered weights.
  const bool leaves_out_weights = std::ranges::any_of(rows, [&](int index) {
    if (row(index).tensor >= 0 || !has_activations(index)) return false;
    for (std::size_t i = row(index).first; i < row(index).last; ++i)
      if (is_gathered_[tensor(i).node.index()] && is_meant(tensor(i), action)) return true;
    return false;
  });
  const QString those = leaves_out_weights ? tr("activations") : tr("tensors");
  QString why =
      changeable(rows, PlanAction::save).empty()
          ? tr("The selection contains no activation that the backward may need from the forward.")
      : action == PlanAction::offload
          ? tr("The plan saves none of the selected %1 on the device, so there is nothing to "
               "offload.")
                .arg(those)
          : tr("The plan saves or offloads none of the selected %1, so there is nothing to "
               "recompute.")
                .arg(those);
  if (leaves_out_weights) why += tr(" To change gathered parameters, select their own rows.");
  return why;
}

// --- Cells ---

std::optional<std::int64_t> SacModel::number(int index, int column) const {
  switch (column) {
    case count_column:
      return sums_[as_index(index)].actions.all();
    case bytes_column:
      return total(index).bytes;
    case time_column:
      return total(index).recompute_ns;
    case flops_column:
      return total(index).recompute_flops;
    case worth_column: {
      const PlanTotals::Sum& sum = total(index);
      if (sum.recompute_ns <= 0) return std::nullopt;
      return static_cast<std::int64_t>(static_cast<double>(sum.bytes) * 1e3 /
                                       static_cast<double>(sum.recompute_ns));
    }
    case fused_column:
      return fused_cost(index);
    default:
      return std::nullopt;
  }
}

void SacModel::set_fused_costs(const SacStatePtr& of, FusedCosts costs) {
  fused_of_ = of;
  fused_costs_ = std::move(costs);
  if (row_count() == 0) return;
  emit_cells_changed();
  sort_again(fused_column);
}

std::optional<std::int64_t> SacModel::fused_cost(int index) const {
  std::optional<std::int64_t> sum;
  if (fused_of_ != state_) return sum;
  for (std::size_t i = row(index).first; i < row(index).last; ++i)
    if (const auto cost = fused_costs_[as_index(rows_.order[i])])
      sum = saturating_add(sum.value_or(0), *cost);
  return sum;
}

QString SacModel::policy_text(int index) const {
  const ActionCounts& actions = sums_[as_index(index)].actions;
  if (const auto one = actions.one()) return action_word(*one);
  QStringList parts;
  for (const PlanAction action : {PlanAction::save, PlanAction::recompute, PlanAction::offload})
    if (actions.of(action) > 0)
      parts << QStringLiteral("%1 %2").arg(count_text(actions.of(action)), action_word(action));
  return tr("mixed: %1").arg(parts.join(QStringLiteral(", ")));
}

QString SacModel::reasons_text(int index) const {
  const SacRow& r = row(index);
  if (r.tensor >= 0) return to_qstring(why(*state_, tensor(r.first)));
  std::map<std::string, int> counts;
  for (std::size_t i = r.first; i < r.last; ++i) ++counts[why_in_short(*state_, tensor(i))];
  std::vector<std::pair<int, std::string>> by_count;
  for (const auto& [reason, count] : counts) by_count.emplace_back(-count, reason);
  std::sort(by_count.begin(), by_count.end());
  QStringList parts;
  for (std::size_t i = 0; i < std::min(by_count.size(), kMaxReasons); ++i) {
    const QString reason = to_qstring(by_count[i].second);
    parts << (by_count.size() == 1
                  ? reason
                  : QStringLiteral("%1 %2").arg(count_text(-by_count[i].first), reason));
  }
  if (by_count.size() > kMaxReasons) parts << QStringLiteral("…");
  return parts.join(QStringLiteral(" · "));
}

QString SacModel::text(int index, int column) const {
  const SacRow& r = row(index);
  const Graph& graph = state_->snapshot->graph;
  switch (column) {
    case name_column:
      return folded_name(to_qstring(r.name), r.number, r.members);
    case policy_column:
      return policy_text(index);
    case decider_column: {
      const auto& counts = sums_[as_index(index)].deciders;
      for (std::size_t d = 0; d < kDeciders; ++d)
        if (counts[d] == sums_[as_index(index)].actions.all() && counts[d] > 0)
          return to_qstring(to_string(static_cast<Decider>(d)));
      return tr("several");
    }
    case why_column:
      return reasons_text(index);
    case op_column:
      if (r.tensor < 0) return {};
      return graph.node(tensor(r.first).node).kind == NodeKind::call
                 ? to_qstring(graph.target(graph.node(tensor(r.first).node)))
                 : tr("input");
    case module_column:
      if (r.tensor < 0) return {};
      return to_qstring(places_.all()[as_index(places_.of(tensor(r.first).node))].path);
    default:
      return {};
  }
}

QString SacModel::note(int index, int column) const {
  const SacRow& r = row(index);
  const Graph& graph = state_->snapshot->graph;
  if (column == name_column && r.tensor >= 0)
    return value_text(graph, graph.node(tensor(r.first).node));
  if (column == decider_column && r.tensor < 0) {
    QStringList parts;
    for (std::size_t d = 0; d < kDeciders; ++d)
      if (const int count = sums_[as_index(index)].deciders[d]; count > 0)
        parts << QStringLiteral("%1 %2").arg(count_text(count),
                                             to_qstring(to_string(static_cast<Decider>(d))));
    return parts.join(QStringLiteral(" · "));
  }
  if ((column == time_column || column == flops_column) && r.tensor >= 0 && state_->base) {
    const std::size_t chain = tensor(r.first).chain;
    return counted_text(chain, tr("Recomputes 1 call"), tr("Recomputes %1 calls"));
  }
  return {};
}

QVariant SacModel::data(const QModelIndex& index, int role) const {
  if (index.isValid() && role == actions_role) return QVariant::fromValue(actions(row_at(index)));
  if (index.isValid() && role == fixed_role) {
    const SacRow& r = row(row_at(index));
    return !state_->can_change() || (r.tensor >= 0 && tensor(r.first).is_settled()) ||
           (r.tensor >= 0 &&
            state_->snapshot->graph.node(tensor(r.first).node).kind != NodeKind::call);
  }
  return TableModel::data(index, role);
}

std::uint64_t SacModel::key(int index) const {
  return std::hash<std::string>{}(row(index).key);
}

std::vector<NodeId> SacModel::nodes(int index) const {
  std::vector<NodeId> nodes;
  for (std::size_t i = row(index).first; i < row(index).last; ++i) nodes.push_back(tensor(i).node);
  return nodes;
}

int SacModel::row_of(NodeId node) const {
  const std::int32_t index = state_ && node && node.index() < state_->tensor_by_node.size()
                                 ? state_->tensor_by_node[node.index()]
                                 : -1;
  return index < 0 ? -1 : rows_.row_of[as_index(index)];
}

std::size_t SacModel::things(int index) const {
  return row(index).last - row(index).first;
}

}  // namespace jointer::views

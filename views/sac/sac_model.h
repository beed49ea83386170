#pragma once

#include <array>
#include <memory>
#include <optional>

#include "views/sac/sac_rows.h"
#include "views/session/sac/action_text.h"
#include "views/session/sac/fused_recompute.h"
#include "views/session/sac/sac_totals.h"
#include "views/session/search/node_search.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// The tensors that can be saved or recomputed, grouped as described in sac_rows.h. The filter has
// the syntax of the search bar; it may also use policy: and by:, and bytes are those of the tensor.
class SacModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    name_column,
    policy_column,
    count_column,
    bytes_column,
    time_column,
    flops_column,
    worth_column,
    fused_column,
    decider_column,
    why_column,
    op_column,
    module_column,
  };
  enum SacRole : int {
    actions_role = TableModel::alarm_role + 1,  // ActionCounts
    fixed_role,                                 // bool: the policy cannot be changed
  };
  // The numbers of saved, recomputed and offloaded tensors of a row.
  struct ActionCounts {
    std::array<int, 3> counts{};

    [[nodiscard]] int of(PlanAction action) const {
      return counts[static_cast<std::size_t>(action)];
    }
    [[nodiscard]] int all() const { return counts[0] + counts[1] + counts[2]; }
    // The policy that all of the tensors share, if any.
    [[nodiscard]] std::optional<PlanAction> one() const;
  };

  explicit SacModel(QObject* parent = nullptr);

  // If the tensors are the same, keeps the rows and updates only their cells.
  void set_state(SacStatePtr state);
  void set_grouping(SacGrouping grouping);
  // Sets the costs of recomputing the tensors of `of` if the recomputation fuses. They are shown
  // only while `of` is the model's state.
  void set_fused_costs(const SacStatePtr& of, FusedCosts costs);
  // Shows only these tensors; nullopt shows all tensors.
  void show_only(std::optional<std::vector<NodeId>> nodes);
  [[nodiscard]] bool shows_only_some() const { return only_.has_value(); }
  [[nodiscard]] SacGrouping grouping() const { return grouping_; }
  [[nodiscard]] const SacStatePtr& state() const { return state_; }
  [[nodiscard]] ActionCounts actions(int row) const {
    return sums_[static_cast<std::size_t>(row)].actions;
  }
  // The visible tensors in these rows that choosing `action` changes; nullopt leaves them to the
  // partitioner or, in a flat training step, removes their tags. Only calls can have a policy. A
  // tensor's own row always counts. A group stands for its activations, or for its gathered weights
  // if it has no activations. Recomputing a group affects only its saved and offloaded tensors, and
  // offloading a group only its saved ones. Each tensor is listed once.
  [[nodiscard]] std::vector<NodeId> changeable(std::span<const int> rows,
                                               std::optional<PlanAction> action) const;
  // Why choosing `action` for these rows changes nothing, in one or two sentences.
  [[nodiscard]] QString why_unchanged(std::span<const int> rows,
                                      std::optional<PlanAction> action) const;

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString note(int row, int column) const override;
  [[nodiscard]] std::uint64_t key(int row) const override;
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;
  [[nodiscard]] int row_of(NodeId node) const override;
  [[nodiscard]] std::size_t things(int row) const override;
  [[nodiscard]] std::vector<std::optional<std::int64_t>> sums(
      std::span<const int> rows) const override;
  [[nodiscard]] QString filter_error() const override { return mistake_; }
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

 protected:
  void prepare_filter() override;
  [[nodiscard]] bool hides_rows() const override { return found_.has_value() || only_.has_value(); }
  [[nodiscard]] bool passes(int row, const QStringList& words) const override;

 private:
  struct Sums {
    ActionCounts actions;
    std::array<int, kDeciders> deciders{};
    mutable std::optional<PlanTotals::Sum> total;  // computed on demand
  };
  [[nodiscard]] bool can_keep_rows(const SacState& state) const;
  void explain_columns();
  void make_rows();
  void sum_up();
  // The numbers of a row: those of its tensor, or the totals of a group's tensors.
  [[nodiscard]] const PlanTotals::Sum& total(int row) const;
  [[nodiscard]] const SacRow& row(int index) const {
    return rows_.rows[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const SacTensor& tensor(std::size_t place) const {
    return state_->tensors[static_cast<std::size_t>(rows_.order[place])];
  }
  // True if calls compute any of the row's tensors, apart from gathered weights.
  [[nodiscard]] bool has_activations(int row) const;
  // The sum over the row's tensors whose recomputation fuses; nullopt if there are none.
  [[nodiscard]] std::optional<std::int64_t> fused_cost(int row) const;
  [[nodiscard]] QString policy_text(int row) const;
  [[nodiscard]] QString reasons_text(int row) const;

  SacStatePtr state_, fused_of_;
  FusedCosts fused_costs_;  // of `fused_of_`
  SacGrouping grouping_ = SacGrouping::layer;
  ModuleLocations places_;
  SacRows rows_;
  std::vector<Sums> sums_;
  std::vector<bool> is_gathered_;                  // by node: see gathered_weights
  std::unique_ptr<NodeSearch> search_;             // for the state's snapshot; created on demand
  std::optional<std::vector<char>> found_, only_;  // by node
  QString mistake_;
};

}  // namespace jointer::views

Q_DECLARE_METATYPE(jointer::views::SacModel::ActionCounts)

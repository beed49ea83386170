#pragma once

#include <QComboBox>
#include <QTimer>
#include <QToolButton>

#include "views/sac/policy_delegate.h"
#include "views/sac/sac_model.h"
#include "views/session/sac/sac_session.h"
#include "views/session/work/task.h"
#include "views/tables/table_pane_of.h"
#include "views/widgets/kernel_watch.h"
#include "views/widgets/keys_group.h"

namespace jointer::views {

// A table of the tensors that can be saved, recomputed or offloaded, with switches to choose their
// policy. The session previews the effect of the switch under the pointer, or of pressing Space on
// the selected rows.
class SacTable : public TablePaneOf<SacModel> {
  Q_OBJECT
 public:
  explicit SacTable(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] static KeysGroup keys();

 public slots:
  // Sets the policy of the selected rows, or of the nodes selected in other panes. nullopt leaves
  // the decision to the partitioner or, in a flat training step, removes the tags.
  void set_action(std::optional<jointer::PlanAction> action);
  // Recomputes the selected tensors if all of them are saved; otherwise saves them.
  void toggle() { set_action(toggled()); }
  // Shows only the saved tensors that are live at the peak, the best candidates for recomputation
  // first, until `show_all` is called. The rows follow the plan; if none are left, all tensors are
  // shown again, with a message.
  void show_peak();
  // Checkpoints the layers of the selected rows, or of the nodes selected in other panes.
  void checkpoint_layers() { session_.checkpoint_layers(targets(PlanAction::save)); }
  void show_all();

 signals:
  // Why a command had no effect, or why all rows are shown again.
  void message(const QString& sentence);

 protected:
  void refresh() override;
  void show_node(NodeId node) override { view().uncover_row(model_->row_of(node)); }
  void add_to_menu(QMenu& menu) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  // The tensors that keys and palette commands for `action` act on.
  [[nodiscard]] std::vector<NodeId> targets(std::optional<PlanAction> action) const;
  // The rows that a row's switch acts on: all selected rows if the row is selected, otherwise only
  // the row itself.
  [[nodiscard]] std::vector<int> rows_with(int row) const;
  // The policy that Space chooses for the selection.
  [[nodiscard]] PlanAction toggled() const;
  // Sets the policy of `nodes`. If there are none, emits a message that says why choosing `action`
  // for `rows` changes nothing.
  void tick(const std::vector<NodeId>& nodes, std::span<const int> rows,
            std::optional<PlanAction> action);
  bool press(QPoint at);
  void key_press(int key);
  void hover(QPoint at);
  void leave();
  void preview(std::vector<NodeId> nodes, std::optional<PlanAction> action);
  void update_headline();
  void update_fused_costs();
  // Shows only the saved tensors that are live at the current plan's peak; returns false if there
  // are none.
  bool follow_peak();

  SacSession& session_;
  PolicyDelegate* delegate_ = nullptr;
  QComboBox* grouping_ = nullptr;
  QToolButton* all_ = nullptr;
  QToolButton* fused_ = nullptr;  // shows the costs when fused
  KernelWatch kernel_watch_;
  Task<FusedCosts> fusing_;
  // The headline for the tensors at the peak, in any order and with the best candidates first.
  QString at_peak_, at_peak_by_worth_;
  QTimer preview_soon_;
  std::vector<NodeId> preview_nodes_;
  std::optional<PlanAction> preview_action_;
};

}  // namespace jointer::views

#pragma once

#include <QComboBox>
#include <QTimer>
#include <QToolButton>

#include "views/sac/policy_delegate.h"
#include "views/sac/sac_model.h"
#include "views/session/sac/sac_session.h"
#include "views/tables/table_pane.h"
#include "views/widgets/keys_group.h"

namespace jointer::views {

// The tensors of a document that can be saved, recomputed or offloaded, with switches to choose
// between these. The session previews the effect of the switch under the pointer, or of Space on
// the current row.
class SacTable : public TablePane {
  Q_OBJECT
 public:
  explicit SacTable(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] SacModel& model() { return *model_; }
  [[nodiscard]] static KeysGroup keys();

 public slots:
  // Sets the policy of the selected rows, or of the nodes selected in other panes. Without a value,
  // the partitioner decides.
  void set_keep(std::optional<jointer::Keep> keep);
  // Saves tensors that are not saved; recomputes those that are.
  void toggle();
  // Checkpoints the layers of the selected rows, or of the nodes selected in other panes.
  void checkpoint_layers();
  // Shows only these tensors, best first, with `what` as the headline.
  void show_only(const std::vector<jointer::NodeId>& nodes, const QString& what);
  void show_all();

 signals:
  // Why nothing was changed.
  void message(const QString& sentence);

 protected:
  void refresh() override;
  void show_node(NodeId node) override;
  void add_to_menu(QMenu& menu) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  SacTable(Document& document, SacModel* model, QWidget* parent);
  // The tensors that keys and palette commands act on.
  [[nodiscard]] std::vector<NodeId> targets() const;
  // The tensors that a row's switch acts on: those of all selected rows if the row is one of them,
  // or else its own.
  [[nodiscard]] std::vector<NodeId> nodes_with(int row) const;
  [[nodiscard]] std::optional<Keep> toggled(std::span<const NodeId> nodes) const;
  void tick(const std::vector<NodeId>& nodes, std::optional<Keep> keep);
  bool press(QPoint at);
  bool key_press(int key);
  void hover(QPoint at);
  void leave();
  void preview(std::vector<NodeId> nodes, std::optional<Keep> keep);
  void update_headline();

  SacModel* model_;
  SacSession& session_;
  PolicyDelegate* delegate_ = nullptr;
  QComboBox* grouping_ = nullptr;
  QToolButton* all_ = nullptr;
  QString only_what_;
  QTimer preview_soon_;
  std::vector<NodeId> preview_nodes_;
  std::optional<Keep> preview_keep_;
};

}  // namespace jointer::views

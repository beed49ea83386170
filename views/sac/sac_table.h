#pragma once

#include <QComboBox>
#include <QTimer>
#include <QToolButton>

#include "views/palette/keys_group.h"
#include "views/sac/policy_delegate.h"
#include "views/sac/sac_model.h"
#include "views/sac/sac_session.h"
#include "views/tables/table_pane.h"

namespace jointer::views {

// The tensors of a document that may be saved, recomputed or offloaded, and the switches that
// decide it. What the pointer is over, or what Space would do to the current row, is asked of the
// session before anything is done.
class SacTable : public TablePane {
  Q_OBJECT
 public:
  explicit SacTable(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] SacModel& model() { return *model_; }
  [[nodiscard]] QComboBox& grouping_box() { return *grouping_; }
  [[nodiscard]] static KeysGroup keys();
  // Where a click on a row's switch sets `keep`, in the viewport.
  [[nodiscard]] QRect switch_of(int row, Keep keep) const;

 public slots:
  // Of the selected rows, or of what is selected elsewhere. None: as the partitioner decides.
  void set_keep(std::optional<jointer::Keep> keep);
  // Save what is not saved; recompute what is.
  void toggle();
  // Only these tensors, best first; `what` says which they are.
  void show_only(const std::vector<jointer::NodeId>& nodes, const QString& what);
  void show_all();

 signals:
  // Why nothing was done.
  void told(const QString& sentence);

 protected:
  void refresh() override;
  void show_node(NodeId node) override;
  void add_to_menu(QMenu& menu) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  SacTable(Document& document, SacModel* model, QWidget* parent);
  // What the keys and the palette's commands are about.
  [[nodiscard]] std::vector<NodeId> targets() const;
  // What a switch of this row stands for: all selected rows, if it is one of them.
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

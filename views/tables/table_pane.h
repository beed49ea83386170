#pragma once

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QWidget>

#include "views/document/document.h"
#include "views/tables/table_view.h"

namespace jointer::views {

// A filter, a table, and a line of totals: of the selected rows, or of all. Rows that are selected
// here select their nodes in the document; a node that is selected elsewhere is shown here.
//
// Actions that are added to the widget stand at the end of a row's menu.
//
// While the pane is hidden nothing is computed; what was missed is made up for when it is shown.
class TablePane : public QWidget {
  Q_OBJECT
 public:
  [[nodiscard]] TableView& view() { return *view_; }
  [[nodiscard]] QLineEdit& filter_edit() { return *filter_; }
  // What is written under the table.
  [[nodiscard]] QString footer() const { return footer_->text(); }
  // Where it is low, rows need the room more.
  void show_footer(bool shown) { footer_->setVisible(shown); }

 public slots:
  // All rows that the filter shows, as tab-separated values into the clipboard.
  void copy_all();
  // The same into a file that a person chooses, which may be CSV too.
  void save_as();

 signals:
  // Double click or Enter on a row: show this node wherever it can be seen.
  void node_activated(jointer::NodeId node);

 protected:
  // The model must outlive the pane, best as its child. `filter_hint`: what the filter looks for.
  TablePane(Document& document, TableModel& model, const QString& filter_hint, QWidget* parent);

  // Fills the model from the document.
  virtual void refresh() = 0;
  // Calls refresh now, or when the pane is shown next.
  void request_refresh();
  [[nodiscard]] Document& document() { return document_; }
  // Beside the filter, for more controls.
  [[nodiscard]] QHBoxLayout& controls() { return *controls_; }
  // Whether a node that is selected elsewhere has a row here.
  [[nodiscard]] virtual bool has_rows_of_nodes() const { return true; }
  // Shows a node that was selected elsewhere, or none: its row, or the nearest in sight above it.
  virtual void show_node(NodeId node);
  // Whether the rows that are selected here made the document's selection.
  [[nodiscard]] bool rows_are_chosen() const;
  // More entries at the end of a row's menu.
  virtual void add_to_menu(QMenu& /*menu*/) {}
  // A sentence above the table; hidden while it is empty.
  void set_headline(const QString& text);
  // What is shown instead of an empty table.
  void set_empty_text(const QString& text);

  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void choose();
  void follow_selection();
  void update_footer();
  void update_empty_text();
  void show_menu(QPoint at);
  void show_columns_menu(QPoint at);

  Document& document_;
  TableModel& model_;
  QHBoxLayout* controls_ = nullptr;
  QLineEdit* filter_ = nullptr;
  QLabel* headline_ = nullptr;
  TableView* view_ = nullptr;
  QLabel* empty_ = nullptr;
  QLabel* footer_ = nullptr;
  QString empty_text_;
  std::vector<NodeId> chosen_;  // what the selected rows selected, sorted
  bool is_stale_ = true, is_fitted_ = false, is_choosing_ = false;
};

}  // namespace jointer::views

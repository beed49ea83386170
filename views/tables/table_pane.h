#pragma once

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QTimer>
#include <QVBoxLayout>
#include <QWidget>

#include "views/session/document/document.h"
#include "views/tables/table_view.h"

namespace jointer::views {

class CallHistogram;

// A filter, a table, and a line of totals for the selected rows or, if none are selected, for all
// rows that match the filter. Selecting rows selects their nodes in the document, and a single node
// selected elsewhere is shown in the table.
//
// Actions added to the widget are appended to a row's context menu.
//
// A hidden pane computes nothing and is updated when it is shown.
class TablePane : public QWidget {
  Q_OBJECT
 public:
  [[nodiscard]] TableView& view() { return *view_; }
  // Hides the line of totals and narrows the margins. Low panes do this to leave space for rows.
  void set_compact(bool compact);

 public slots:
  // Copies all rows that the filter shows to the clipboard as tab-separated values.
  void copy_all();
  // Saves all rows that the filter shows to a file that the user chooses, as TSV or CSV.
  void save_as();

 signals:
  // The user double-clicked a row, or pressed Enter on it; views should show this node.
  void node_activated(jointer::NodeId node);

 protected:
  // The model must outlive the pane, preferably as its child. `filter_hint`: placeholder text of
  // the filter.
  TablePane(Document& document, TableModel& model, const QString& filter_hint, QWidget* parent);

  // Fills the model from the document.
  virtual void refresh() = 0;
  // Calls refresh now, or when the pane is next shown.
  void request_refresh();
  [[nodiscard]] Document& document() { return document_; }
  // The layout of the filter, for additional controls next to it.
  [[nodiscard]] QHBoxLayout& controls() { return *controls_; }
  // Shows the selected range above the table, and refreshes when the range changes. Called once, in
  // the constructor, by panes with rows that depend on the range.
  void follow_range();
  // Like follow_range, for rows that also depend on the selected moment. Even without a range, the
  // rows are those of the document that the timeline shows.
  void follow_timeline();
  // The document whose nodes the rows stand for: the pane's own or, in a pane that follows the
  // range or the timeline, the document that the range is a part of or that the timeline shows
  // (shown_range.h).
  [[nodiscard]] Document& subject() const;
  // Adds a histogram below the table for the calls in the selected rows. Called at most once, in
  // the constructor.
  void add_histogram();
  // Returns true if rows stand for nodes, so that the table follows the selection.
  [[nodiscard]] virtual bool has_rows_of_nodes() const { return true; }
  // Shows the row of a node that was selected elsewhere, or the row's nearest visible ancestor, if
  // any. Deselects all rows if `node` is invalid.
  virtual void show_node(NodeId node);
  // Returns true if the document's selection was made by selecting rows here.
  [[nodiscard]] bool rows_are_chosen() const;
  // Appends entries to a row's context menu.
  virtual void add_to_menu(QMenu& /*menu*/) {}
  // A sentence above the table, hidden if empty.
  void set_headline(const QString& text);
  // Text shown while the table is empty and has no filter.
  void set_empty_text(const QString& text);

  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  [[nodiscard]] std::vector<NodeId> selected_nodes() const;
  void choose();
  void follow_graph();
  void follow_selection();
  void select_part(std::vector<NodeId> nodes);
  void update_histogram();
  // Leaves space for rows: in a low pane, the bars of the histogram are low or hidden.
  void fit_histogram();
  void update_footer();
  void update_empty_text();
  void show_menu(QPoint at);
  // Adds entries that do what clicks on the header do, for users without a mouse.
  void add_sort_menu(QMenu& menu);

  Document& document_;
  TableModel& model_;
  QVBoxLayout* rows_ = nullptr;
  QHBoxLayout* controls_ = nullptr;
  QTimer range_delay_;  // delays refreshes while the range is being dragged
  QLineEdit* filter_ = nullptr;
  QLabel* headline_ = nullptr;
  TableView* view_ = nullptr;
  QLabel* empty_ = nullptr;
  CallHistogram* histogram_ = nullptr;  // null unless the pane has one
  QLabel* footer_ = nullptr;
  QString empty_text_;
  std::vector<NodeId> chosen_;  // the nodes of the selected rows, sorted
  bool follows_range_ = false, follows_timeline_ = false;
  bool is_stale_ = true, is_fitted_ = false, is_choosing_ = false;
};

}  // namespace jointer::views

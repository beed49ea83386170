#pragma once

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QWidget>
#include <memory>

#include "views/find/hit_list.h"
#include "views/session/document/document.h"
#include "views/session/search/node_search.h"

namespace jointer::views {

// Finds nodes as the user types. Enter and Shift+Enter, or F3 and Shift+F3, go to the next and the
// previous match; Ctrl+Enter selects all matches; Up and Down recall earlier searches; Esc closes
// the bar. The current match is the document's selected node. While the bar is open, views mark all
// matches, and a list of them can be shown.
class FindBar : public QWidget {
  Q_OBJECT
 public:
  explicit FindBar(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] QLineEdit& edit() { return *edit_; }
  // The nodes that match, in program order.
  [[nodiscard]] const std::vector<NodeId>& matches() const { return matches_; }
  // Earlier searches, newest first. The bar's owner stores them.
  [[nodiscard]] const QStringList& history() const { return history_; }
  void set_history(const QStringList& history) { history_ = history; }

 public slots:
  // Shows the bar, selects its text and focuses it.
  void open();
  void find(const QString& query);
  void next() { walk(1); }
  void previous() { walk(-1); }
  void select_all();
  void close_bar();

 signals:
  // The user closed the bar; focus should return to the view.
  void closed();
  void history_changed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void update_matches();  // does not select a match
  void search();
  void show_match(NodeId node);
  void show_hits();
  void walk(int direction);
  void show_status();
  void keep_in_history();
  void recall(int direction);
  QToolButton* add_button(const QString& text, const QString& tip);

  Document& document_;
  QLineEdit* edit_ = nullptr;
  QLabel* status_ = nullptr;  // such as "3 of 217", or an error in the query
  QToolButton *previous_ = nullptr, *next_ = nullptr, *all_ = nullptr, *listing_ = nullptr;
  QHBoxLayout* row_ = nullptr;
  HitList* list_ = nullptr;
  std::unique_ptr<NodeSearch> search_;  // searches `searched_`
  SnapshotPtr searched_;
  std::vector<NodeId> matches_;
  QString error_;
  NodeId anchor_;  // the node selected when typing began
  QStringList history_;
  int recalled_ = -1;
  bool is_walking_ = false;
};

}  // namespace jointer::views

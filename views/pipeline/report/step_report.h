#pragma once

#include <QLabel>
#include <QTabWidget>
#include <QWidget>
#include <memory>
#include <vector>

#include "views/compare/difference_table.h"
#include "views/pipeline/report/decision_table.h"
#include "views/pipeline/report/pass_table_pane.h"
#include "views/pipeline/report/reported_step.h"

namespace jointer::views {

// What a step of a pipeline did, or a whole run: figures before and after, which nodes changed, why
// each was decided about as it was, and the tables that passes report.
//
// Rows name nodes as edits do and select them in the document, whichever state of the graph that
// shows. Of a node that this state does not have it is said which state has it; a link goes there
// where the document's history knows it.
class StepReport : public QWidget {
  Q_OBJECT
 public:
  explicit StepReport(Document& document, QWidget* parent = nullptr);

  // One step, or those of a run that follow each other. Lists are made on a working thread; `shown`
  // follows. None: the report is empty.
  void show_steps(std::vector<ReportedStep> steps);
  void show_step(ReportedStep step) { show_steps({std::move(step)}); }
  void clear() { show_steps({}); }
  // What stands here while there is no step.
  void set_empty_text(const QString& text);

  [[nodiscard]] const std::vector<ReportedStep>& steps() const { return steps_; }
  [[nodiscard]] QTabWidget& pages() { return *pages_; }
  [[nodiscard]] DifferenceTable& changes() { return *changes_; }
  [[nodiscard]] DecisionTable& decisions() { return *decisions_; }
  // One a table of the passes, in their order.
  [[nodiscard]] const std::vector<PassTablePane*>& tables() const { return tables_; }
  // Figures and counts as they are shown, and what is said of a node that is gone.
  [[nodiscard]] QLabel& figures() { return *figures_; }
  [[nodiscard]] QLabel& counts() { return *counts_; }
  [[nodiscard]] QLabel& brief() { return *brief_; }
  [[nodiscard]] QLabel& notice() { return *notice_; }

 signals:
  // Everything that was asked for is on screen.
  void shown();
  // Double click or Enter on a row: show this node wherever it can be seen.
  void node_activated(jointer::NodeId node);

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Made;
  void make_corner();
  void take(Made& made);
  void add_tables();
  void watch(TablePane& pane, const TableModel& model, const NamedRows& names);
  void show_figures();
  void follow_count(const QString& link);
  void notice_gone(const std::string& name);
  void follow_notice();
  [[nodiscard]] TablePane* current_table() const;
  // After so many of the steps; 0 is before the first.
  [[nodiscard]] const Graph& state(std::size_t after) const;
  [[nodiscard]] std::size_t adding_step(const std::string& name) const;
  // Where the document's history has that state, or -1.
  [[nodiscard]] int place_of(std::size_t after) const;

  Document& document_;
  std::vector<ReportedStep> steps_;
  NodeDifferencesPtr differences_;
  QString refusal_;      // why nodes are not compared
  bool is_low_ = false;  // figures are a line, so that tables have room
  quint64 wanted_ = 0;   // the newest report that was asked for

  QLabel* empty_ = nullptr;
  QWidget* body_ = nullptr;
  QLabel *title_ = nullptr, *effort_ = nullptr, *counts_ = nullptr, *figures_ = nullptr;
  QLabel* brief_ = nullptr;  // in place of these where it is low
  QLabel* notice_ = nullptr;
  QTabWidget* pages_ = nullptr;
  DifferenceTable* changes_ = nullptr;
  DecisionTable* decisions_ = nullptr;
  std::vector<PassTablePane*> tables_;

  std::string gone_;     // the node that the notice is about
  int gone_place_ = -1;  // where the history has it
  std::string awaited_;  // selected once the document shows it
};

}  // namespace jointer::views

#pragma once

#include <QLabel>
#include <QTabWidget>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "views/differences/difference_table.h"
#include "views/pipeline/report/decision_table.h"
#include "views/pipeline/report/pass_table_pane.h"
#include "views/pipeline/report/reported_step.h"
#include "views/session/work/task.h"

namespace jointer::views {

// The result of a pipeline step or a whole run: numbers before and after, changed nodes, the
// decisions with their reasons, and tables reported by passes.
//
// Rows refer to nodes by their names in edits and select the nodes in the document, whatever state
// the document shows. If that state lacks the node, a notice says which step added or removed the
// node, or that a step's result has it. It links to a state that has the node if the document's
// history contains one.
class StepReport : public QWidget {
  Q_OBJECT
 public:
  explicit StepReport(Document& document, QWidget* parent = nullptr);

  // Shows one step, or consecutive steps of a run. Prepares lists on a worker thread, then emits
  // `shown`. Without steps, the report is empty.
  void show_steps(std::vector<ReportedStep> steps);
  void show_step(ReportedStep step) { show_steps({std::move(step)}); }
  void clear() { show_steps({}); }
  // Text shown while there are no steps.
  void set_empty_text(const QString& text) { empty_->setText(text); }

  [[nodiscard]] const std::vector<ReportedStep>& steps() const { return steps_; }
  [[nodiscard]] DifferenceTable& changes() { return *changes_; }
  [[nodiscard]] DecisionTable& decisions() { return *decisions_; }
  // One pane per table reported by the passes, in order.
  [[nodiscard]] const std::vector<PassTablePane*>& tables() const { return tables_; }

 signals:
  // All requested steps are now shown.
  void shown();
  // The user double-clicked a row, or pressed Enter on it; views should show this node.
  void node_activated(jointer::NodeId node);

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Made;
  void make_corner();
  void take(Made& made);
  void add_tables();
  void watch(TablePane& pane, const NamedRowsModel& model);
  void show_figures();
  void follow_count(const QString& link);
  void show_missing_node(const std::string& name);
  void follow_notice();
  [[nodiscard]] TablePane* current_table() const {
    return qobject_cast<TablePane*>(pages_->currentWidget());
  }
  // The graph after this number of steps; 0 means before the first step.
  [[nodiscard]] const Graph& state(std::size_t after) const {
    return after == 0 ? *steps_.front().before : *steps_[after - 1].result->graph;
  }
  [[nodiscard]] std::optional<std::size_t> adding_step(const std::string& name) const;
  // The position in the document's history of the state after this number of steps, or -1.
  [[nodiscard]] int place_of(std::size_t after) const;

  Document& document_;
  std::vector<ReportedStep> steps_;
  NodeDifferencesPtr differences_;
  QString refusal_;      // the reason why nodes are not compared
  bool is_low_ = false;  // the numbers are shown on one line to leave space for the tables
  Task<std::shared_ptr<Made>> making_;

  QLabel* empty_ = nullptr;
  QWidget* body_ = nullptr;
  QLabel *title_ = nullptr, *effort_ = nullptr, *counts_ = nullptr, *figures_ = nullptr;
  QLabel* brief_ = nullptr;   // replaces these four labels if the pane is small
  QLabel* notice_ = nullptr;  // says that a node is missing
  QTabWidget* pages_ = nullptr;
  DifferenceTable* changes_ = nullptr;
  DecisionTable* decisions_ = nullptr;
  std::vector<PassTablePane*> tables_;

  std::string gone_;     // the node in the notice
  int gone_place_ = -1;  // position in the history of a state with that node
  std::string awaited_;  // name of the node to select once the document shows it
};

}  // namespace jointer::views

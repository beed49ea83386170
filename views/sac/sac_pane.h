#pragma once

#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabWidget>
#include <QVBoxLayout>
#include <QWidget>
#include <vector>

#include "core/capture/graph_reader.h"
#include "core/schedule/analysis.h"
#include "views/sac/changes_page.h"
#include "views/sac/pareto_page.h"
#include "views/sac/plan_curve.h"
#include "views/sac/sac_bar.h"
#include "views/sac/sac_figures.h"
#include "views/sac/sac_reasons.h"
#include "views/sac/sac_table.h"
#include "views/sac/target_page.h"
#include "views/session/work/task.h"
#include "views/widgets/elided_label.h"

namespace jointer::views {

// The pane for selective activation checkpointing: numbers, settings, the memory curve, and pages
// with a table of tensors, their policies and the reasons for them, the trade-off between memory
// and time, lists of changes that lower the peak, and the changes between two plans.
class SacPane : public QWidget {
  Q_OBJECT
 public:
  explicit SacPane(Document& document, QWidget* parent = nullptr);

 public slots:
  // Limits the table to the saved tensors that are live at the peak.
  void show_peak();
  void show_pareto();
  // Highlights a plan that the trade-off search found.
  void show_plan(const jointer::ParetoPoint& plan);
  void show_targets();
  void show_changes();

 signals:
  // A message for the status bar.
  void message(const QString& sentence);
  // A request was refused; `sentence` says why.
  void refused(const QString& sentence);
  // Requests a search for policies, order and buckets within this peak.
  void tune_wanted(std::int64_t peak_bytes);
  // The plan's pair, or the joint graph of a pair, was written to a file. It should be opened with
  // `request` and analyzed with `options`.
  void pair_made(const jointer::OpenRequest& request, const jointer::AnalysisOptions& options);

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* make_waiting();
  QWidget* make_last_change(QWidget* parent);
  void show_last_change(bool has_changed);
  void add_actions();
  void refresh();
  void fit_pages();
  // Shows as many parts as fit into this height.
  void fit_height(int height);
  void show_reasons();
  void make_pair();
  void make_joint();

  Document& document_;
  SacSession& session_;
  QStackedWidget* stack_ = nullptr;
  QLabel* message_ = nullptr;
  QPushButton* button_ = nullptr;
  SacFigures* figures_ = nullptr;
  SacBar* bar_ = nullptr;
  PlanCurve* curve_ = nullptr;
  QTabWidget* pages_ = nullptr;
  SacTable* table_ = nullptr;
  SacReasons* reasons_ = nullptr;
  ParetoPage* pareto_ = nullptr;
  TargetPage* targets_ = nullptr;
  ChangesPage* changes_ = nullptr;
  QPushButton* to_joint_ = nullptr;  // only for pairs
  QVBoxLayout* column_ = nullptr;    // the parts of the pane
  QWidget* last_change_ = nullptr;   // about the last history entry; hidden unless `has_changed_`
  bool has_changed_ = false;         // the last history entry changed the plan
  int height_ = 0;                   // the height that the content was fitted to
  // Commands that apply to only one kind of graph.
  std::vector<QAction*> of_partitioner_;
  QAction *apply_tags_ = nullptr, *untag_ = nullptr;
  Task<OpenRequest> making_pair_;
};

}  // namespace jointer::views

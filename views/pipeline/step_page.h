#pragma once

#include <QAction>
#include <QLabel>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>

#include "views/pipeline/pipeline_session.h"
#include "views/pipeline/report/step_report.h"

namespace jointer::views {

// What the last run of one step left behind: the ways to look at the graph before and after it, the
// report of what it did, what it printed; or why it failed.
class StepPage : public QWidget {
  Q_OBJECT
 public:
  explicit StepPage(PipelineSession& session, QWidget* parent = nullptr);

  // 0: none.
  void show_step(quint64 id);
  // How the step stands while there is no report.
  [[nodiscard]] QString summary() const { return summary_->text(); }
  [[nodiscard]] StepReport& report() { return *report_; }
  // A button with the ways to look at the graph before and after the step: for a bar.
  [[nodiscard]] QToolButton& ways() { return *ways_; }
  [[nodiscard]] QAction& before_action() { return *before_; }
  [[nodiscard]] QAction& after_action() { return *after_; }
  [[nodiscard]] QAction& compare_action() { return *compare_; }
  [[nodiscard]] QAction& open_action() { return *open_; }

 signals:
  // Beside each other: the states before and after it.
  void compare_wanted(const jointer::views::EditLine& before,
                      const jointer::views::EditLine& after);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void make_ways();
  void refresh();
  [[nodiscard]] QString details_html(const StepOutcomePtr& outcome,
                                     const StepFailure* failure) const;
  void go_to(bool after);

  PipelineSession& session_;
  quint64 id_ = 0;
  QString shown_;            // in the details
  StepOutcomePtr reported_;  // in the report
  QLabel* summary_ = nullptr;
  QToolButton* ways_ = nullptr;
  QAction *before_ = nullptr, *after_ = nullptr, *compare_ = nullptr, *open_ = nullptr;
  QTextBrowser* details_ = nullptr;  // a failure, what was printed
  StepReport* report_ = nullptr;
};

}  // namespace jointer::views

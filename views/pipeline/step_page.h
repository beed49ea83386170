#pragma once

#include <QAction>
#include <QLabel>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>

#include "views/pipeline/report/step_report.h"
#include "views/session/pipeline/pipeline_session.h"

namespace jointer::views {

// The result of a step's last run: the report or the failure, the printed output, and commands that
// show the graph before and after the step.
class StepPage : public QWidget {
  Q_OBJECT
 public:
  explicit StepPage(PipelineSession& session, QWidget* parent = nullptr);

  // Shows the step with this id; 0 shows none.
  void show_step(quint64 id);
  // The status text shown while there is no report.
  [[nodiscard]] QString summary() const { return summary_->text(); }
  [[nodiscard]] StepReport& report() { return *report_; }
  // A button with the commands that show the graph before and after the step, to be placed in a
  // bar.
  [[nodiscard]] QToolButton& ways() { return *ways_; }

 signals:
  // Requests a comparison of the states before and after the step.
  void compare_wanted(const jointer::views::EditHistory& before,
                      const jointer::views::EditHistory& after);

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
  QString shown_;            // the text in `details_`
  StepOutcomePtr reported_;  // the outcome in `report_`
  QLabel* summary_ = nullptr;
  QToolButton* ways_ = nullptr;
  QAction *before_ = nullptr, *after_ = nullptr, *compare_ = nullptr, *open_ = nullptr;
  QTextBrowser* details_ = nullptr;  // the failure, a note, or printed output
  StepReport* report_ = nullptr;
};

}  // namespace jointer::views

#pragma once

#include <QLabel>
#include <QPushButton>
#include <QTextBrowser>
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
  [[nodiscard]] QPushButton& before_button() { return *before_; }
  [[nodiscard]] QPushButton& after_button() { return *after_; }
  [[nodiscard]] QPushButton& compare_button() { return *compare_; }
  [[nodiscard]] QPushButton& open_button() { return *open_; }

 signals:
  // Beside each other: the states before and after it.
  void compare_wanted(const jointer::views::EditLine& before,
                      const jointer::views::EditLine& after);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  [[nodiscard]] QString details_html(const StepOutcomePtr& outcome,
                                     const StepFailure* failure) const;
  void go_to(bool after);

  PipelineSession& session_;
  quint64 id_ = 0;
  QString shown_;            // in the details
  StepOutcomePtr reported_;  // in the report
  QLabel* summary_ = nullptr;
  QWidget* ways_ = nullptr;
  QPushButton *before_ = nullptr, *after_ = nullptr, *compare_ = nullptr, *open_ = nullptr;
  QTextBrowser* details_ = nullptr;  // a failure, what was printed
  StepReport* report_ = nullptr;
};

}  // namespace jointer::views

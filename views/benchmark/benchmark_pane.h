#pragma once

#include <QLabel>
#include <QSplitter>
#include <QTextBrowser>
#include <QTimer>
#include <QWidget>

#include "views/benchmark/benchmark_form.h"
#include "views/benchmark/benchmark_table.h"
#include "views/benchmark/rank_model.h"
#include "views/widgets/inspector_content.h"
#include "views/widgets/notice_bar.h"

namespace jointer::views {

// Runs benchmarks of the graph. Shows the settings for the next run, the progress of each rank in
// the current run, the results, and the details of the selected result.
class BenchmarkPane : public QWidget {
  Q_OBJECT
 public:
  explicit BenchmarkPane(Benchmarks& benchmarks, QWidget* parent = nullptr);

  [[nodiscard]] BenchmarkForm& form() { return *form_; }
  [[nodiscard]] BenchmarkTable& table() { return *table_; }
  [[nodiscard]] RankModel& ranks() { return *ranks_; }

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void make_question();
  void show_question();
  void make_snapshot_offer();
  void show_snapshot_offer();
  void show_status();
  void show_progress();
  void show_details();
  void follow(const QUrl& link);

  Benchmarks& benchmarks_;
  BenchmarkForm* form_ = nullptr;
  QLabel* status_ = nullptr;             // the status of the current or last run
  NoticeBar* question_ = nullptr;        // asks before starting a run that does not fit into memory
  NoticeBar* snapshot_offer_ = nullptr;  // offers the memory snapshot of the selected run
  RankModel* ranks_ = nullptr;
  TableView* rank_view_ = nullptr;
  QSplitter* splitter_ = nullptr;
  BenchmarkTable* table_ = nullptr;
  QTextBrowser* details_ = nullptr;
  InspectorContent content_;
  QTimer tick_;
};

}  // namespace jointer::views

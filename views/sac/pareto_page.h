#pragma once

#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QWidget>

#include "views/sac/pareto_plot.h"
#include "views/sac/pareto_search.h"
#include "views/sac/sac_bar.h"
#include "views/sac/sac_session.h"
#include "views/theme/byte_box.h"

namespace jointer::views {

// What memory costs in time: the plot, and plans that fit a limit. Taking a point is one step that
// can be undone.
class ParetoPage : public QWidget {
  Q_OBJECT
 public:
  ParetoPage(SacSession& session, SacBar& bar, QWidget* parent = nullptr);

  [[nodiscard]] ParetoPlot& plot() { return *plot_; }
  [[nodiscard]] ParetoSearch& search() { return *search_; }
  [[nodiscard]] QPushButton& search_button() { return *start_; }
  [[nodiscard]] ByteBox& limit_box() { return *limit_; }
  [[nodiscard]] QDoubleSpinBox& percent_box() { return *percent_; }
  [[nodiscard]] QPushButton& fastest_button() { return *fastest_; }
  [[nodiscard]] QPushButton& smallest_button() { return *smallest_; }

 public slots:
  // Looks for the curve; what runs is given up.
  void start_or_cancel();

 signals:
  void told(const QString& sentence);

 private:
  struct Snapshot {
    QString name;
    std::size_t index = 0;
    PlanFigures figures;
  };
  void refresh();
  void refresh_marks();
  void ask_snapshots();
  void choose(std::size_t mark);
  // `settings`: of the plan from which it was searched.
  void take(const ParetoPoint& point, SolveSettings settings);
  void take_fit(const Fit& fit);

  SacSession& session_;
  SacBar& bar_;
  ParetoSearch* search_ = nullptr;
  ParetoPlot* plot_ = nullptr;
  QPushButton* start_ = nullptr;
  ByteBox* limit_ = nullptr;
  QDoubleSpinBox* percent_ = nullptr;
  QPushButton* fastest_ = nullptr;
  QPushButton* smallest_ = nullptr;
  QLabel* status_ = nullptr;
  std::vector<Snapshot> snapshots_;
  // What a mark stands for: a point of the search, a snapshot, or nothing.
  struct Meaning {
    int point = -1, snapshot = -1;
  };
  std::vector<Meaning> meanings_;
  SacStatePtr searched_;  // the state that the points are of
  std::size_t asked_ = 0;
};

}  // namespace jointer::views

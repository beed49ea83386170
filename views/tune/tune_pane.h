#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTreeWidget>
#include <QWidget>

#include "core/partition/pareto.h"
#include "views/session/tune/tune_session.h"
#include "views/widgets/byte_box.h"
#include "views/widgets/pareto_plot.h"

namespace jointer::views {

// Searches for the best pipeline for the graph, and shows the limits of the search, the Pareto
// front as it grows, and the steps of the best pipeline. One button saves the best pipeline for
// training; it names the form. Clicking a pipeline's point applies the
// pipeline. For comparison, the plot also shows the plans of the SAC pane's search.
class TunePane : public QWidget {
  Q_OBJECT
 public:
  explicit TunePane(TuneSession& session, QWidget* parent = nullptr);

  [[nodiscard]] TuneSession& session() const { return session_; }

 signals:
  void message(const QString& sentence);
  // The SAC pane should show this plan, which its search found.
  void plan_wanted(const jointer::ParetoPoint& plan);

 private:
  [[nodiscard]] TuneSettings settings() const;
  void start_or_stop();
  void make_controls();
  void make_steps();
  void refresh();
  void refresh_marks();
  void refresh_steps();
  [[nodiscard]] QString status_text() const;
  // Says what Apply Best would change, or that it was applied; empty if nothing can be applied.
  [[nodiscard]] QString effect_text() const;
  void choose(std::size_t mark);
  void save_winner();
  // Shows the form in which the best pipeline goes to training, and why.
  void refresh_training();

  TuneSession& session_;
  ByteBox* budget_ = nullptr;
  QSpinBox* evaluations_ = nullptr;
  QSpinBox* seconds_ = nullptr;
  QSpinBox* seed_ = nullptr;
  QCheckBox* twin_groups_ = nullptr;
  QPushButton* start_ = nullptr;
  QPushButton* apply_ = nullptr;
  QPushButton* copy_ = nullptr;
  QPushButton* copy_flags_ = nullptr;
  QPushButton* save_ = nullptr;
  QLabel* status_ = nullptr;
  QLabel* effect_ = nullptr;
  QLabel* training_ = nullptr;  // the form for training, and why
  QLabel* hint_ = nullptr;      // until the first search
  ParetoPlot* plot_ = nullptr;
  QTreeWidget* steps_ = nullptr;
  // The plot's marks in order: first plans, as indices of points in the SAC pane's search, then
  // pipelines.
  std::vector<std::size_t> plans_;
  std::vector<Pipeline> pipelines_;
};

}  // namespace jointer::views

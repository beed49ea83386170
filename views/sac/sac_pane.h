#pragma once

#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabWidget>
#include <QWidget>
#include <vector>

#include "views/sac/pareto_page.h"
#include "views/sac/plan_curve.h"
#include "views/sac/sac_bar.h"
#include "views/sac/sac_figures.h"
#include "views/sac/sac_table.h"

namespace jointer::views {

// What is saved and what is recomputed: figures, settings, the memory curve, every tensor with its
// switch, and what memory costs in time.
class SacPane : public QWidget {
  Q_OBJECT
 public:
  explicit SacPane(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] SacTable& table() { return *table_; }
  [[nodiscard]] SacBar& bar() { return *bar_; }
  [[nodiscard]] SacFigures& figures() { return *figures_; }
  [[nodiscard]] PlanCurve& curve() { return *curve_; }
  [[nodiscard]] ParetoPage& pareto() { return *pareto_; }
  [[nodiscard]] QTabWidget& pages() { return *pages_; }

 public slots:
  // The tensors that make the peak, in the table.
  void show_peak();
  void show_pareto();

 signals:
  // A sentence for whoever waits: what was done, or why not.
  void told(const QString& sentence);
  // The pair of the plan was written to this file.
  void pair_made(const QString& path);

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* make_waiting();
  void add_actions();
  void refresh();
  void make_pair();

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
  ParetoPage* pareto_ = nullptr;
  // Commands of one kind of graph alone.
  std::vector<QAction*> of_partitioner_;
  QAction *carry_out_ = nullptr, *untag_ = nullptr;
  bool is_making_pair_ = false;
};

}  // namespace jointer::views

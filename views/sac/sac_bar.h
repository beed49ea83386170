#pragma once

#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>

#include "views/sac/budget_control.h"
#include "views/sac/sac_session.h"

namespace jointer::views {

// How the plan is solved: partitioner, tags, knapsack, activation budget, upstream's lists and
// presets; and what leads out of the pane: export, import, the pair in a tab of its own. Whatever
// of it a person changes is tried at once, as a what-if. Of a flat step nobody asks a partitioner:
// in their place its tags are carried out.
class SacBar : public QWidget {
  Q_OBJECT
 public:
  explicit SacBar(SacSession& session, QWidget* parent = nullptr);

  // As the controls say it.
  [[nodiscard]] SolveSettings settings() const;
  // The same, and the peak that a budget is looked for, if one is said.
  [[nodiscard]] SacSolver::Wish wish() const;
  [[nodiscard]] QComboBox& partitioner_box() { return *partitioner_; }
  [[nodiscard]] QComboBox& solver_box() { return *solver_; }
  [[nodiscard]] BudgetControl& budget() { return *budget_; }
  [[nodiscard]] QPushButton& solve_button() { return *solve_; }
  [[nodiscard]] QPushButton& carry_out_button() { return *carry_out_; }
  // Presets, exchange, the pair: for a place of its own.
  [[nodiscard]] QWidget& more() { return *more_; }
  [[nodiscard]] QMenu& presets() { return *presets_->menu(); }
  [[nodiscard]] QMenu& exchange() { return *exchange_->menu(); }

 public slots:
  void solve();
  // Upstream's apply_sac, or one of its memory policies by name; then solves.
  void take_preset(const QString& name);
  void take_preset(const QString& name, const SolveSettings& settings);

 signals:
  void told(const QString& sentence);
  void pair_wanted();

 private:
  QMenu* make_presets();
  QMenu* make_exchange();
  void apply(const Result<Edit>& edit);
  void apply(const Result<Edit>& edit, SolveSettings settings);
  void refresh();
  void try_settings();
  void enable_controls();
  void show_kind(const SacState& state);

  SacSession& session_;
  QComboBox* partitioner_ = nullptr;
  QToolButton* ignore_tags_ = nullptr;
  QComboBox* solver_ = nullptr;
  BudgetControl* budget_ = nullptr;
  QPushButton* solve_ = nullptr;
  QPushButton* carry_out_ = nullptr;
  QAction* pair_ = nullptr;
  std::vector<QWidget*> of_partitioner_;
  QWidget* more_ = nullptr;  // what leads out of the pane
  QToolButton* presets_ = nullptr;
  QToolButton* exchange_ = nullptr;
  SacBasePtr shown_;            // whose settings the controls had last
  bool is_refreshing_ = false;  // the controls change by themselves
};

}  // namespace jointer::views

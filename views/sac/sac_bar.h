#pragma once

#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

#include "views/sac/budget_control.h"
#include "views/session/sac/sac_session.h"
#include "views/session/work/task.h"

namespace jointer::views {

// Settings for solving the plan: partitioner, tags, knapsack solver, activation budget or memory
// limit, and upstream's lists and presets. Also exports and imports policies, and opens the pair in
// a new tab. Changed settings are previewed. A flat training step has no partitioner; its tags are
// applied instead.
class SacBar : public QWidget {
  Q_OBJECT
 public:
  explicit SacBar(SacSession& session, QWidget* parent = nullptr);

  // The settings in the controls.
  [[nodiscard]] SolveSettings settings() const;
  // The limit on memory in bytes; nullopt if the budget control has none, or if the partitioner is
  // not min_cut.
  [[nodiscard]] std::optional<std::int64_t> limit() const;
  [[nodiscard]] BudgetControl& budget() { return *budget_; }
  // If `compact`, narrows the margins above and below the controls, to save space in a low pane.
  void set_compact(bool compact);
  // The buttons for presets and exchange, to be placed separately.
  [[nodiscard]] QWidget& more() { return *more_; }
  [[nodiscard]] QMenu& presets() { return *presets_->menu(); }
  [[nodiscard]] QMenu& exchange() { return *exchange_->menu(); }

 public slots:
  // Solves with the settings, or searches for the fastest plan within the limit.
  void solve();
  // Applies upstream's apply_sac, or the upstream memory policy with this name, then solves.
  void apply_preset(const QString& name) { apply_preset(name, settings()); }
  void apply_preset(const QString& name, const SolveSettings& settings);

 signals:
  void message(const QString& sentence);
  void pair_wanted();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  // Makes an edit that sets tags. Can be called on any thread.
  using MakeTags = std::function<Result<Edit>(const Graph& now, const Graph& opened)>;
  // An entry of the menu of presets.
  struct Preset {
    QAction* action = nullptr;
    QString tip;
    MakeTags make;
  };
  QMenu* make_presets();
  // Disables presets that cannot be applied to the current graph, with the reason as a tooltip.
  void check_presets();
  QMenu* make_exchange();
  void apply(const Result<Edit>& edit) { apply(edit, settings()); }
  void apply(const Result<Edit>& edit, SolveSettings settings);
  void refresh();
  void try_settings();
  void solve_or_cancel();
  void show_search();
  void enable_controls();
  // Makes the slider short enough for all controls to fit into one row, if possible.
  void fit_slider();
  void show_bytes();
  void show_kind(const SacState& state);
  void show_step(const SacState& state);

  SacSession& session_;
  QComboBox* partitioner_ = nullptr;
  QToolButton* ignore_tags_ = nullptr;
  QComboBox* solver_ = nullptr;
  BudgetControl* budget_ = nullptr;
  QPushButton* solve_ = nullptr;
  QPushButton* apply_tags_ = nullptr;
  QAction* pair_ = nullptr;
  std::vector<QWidget*> of_partitioner_;  // hidden for a flat training step
  QWidget* more_ = nullptr;               // presets and exchange
  QToolButton* presets_ = nullptr;
  std::vector<Preset> preset_list_;
  SnapshotPtr checked_;  // the graph that the presets were checked for
  Task<std::vector<QString>> checking_;
  QToolButton* exchange_ = nullptr;
  SacBasePtr shown_;            // the solved plan with the settings that the controls show
  SacStepPtr shown_step_;       // the training step for which the controls were reset
  bool is_refreshing_ = false;  // the controls are being updated by the program
};

}  // namespace jointer::views

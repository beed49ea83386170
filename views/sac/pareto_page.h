#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QWidget>

#include "views/sac/orders_box.h"
#include "views/sac/sac_bar.h"
#include "views/session/sac/pareto_search.h"
#include "views/session/sac/sac_session.h"
#include "views/widgets/byte_box.h"
#include "views/widgets/pareto_plot.h"

namespace jointer::views {

// The trade-off between memory and time: a plot, and searches for plans within a limit. Applies the
// plans that these searches find, including those within the limit of the bar. Choosing a mark on
// the plot applies its plan or its tuned pipeline, or returns to its named state.
class ParetoPage : public QWidget {
  Q_OBJECT
 public:
  ParetoPage(SacSession& session, SacBar& bar, QWidget* parent = nullptr);

  [[nodiscard]] ParetoPlot& plot() { return *plot_; }
  [[nodiscard]] ParetoSearch& search() { return search_; }

 public slots:
  // Starts computing the trade-off, or cancels the running search.
  void start_or_cancel();
  // Requests a search for policies, order and buckets within the limit, or within the peak of the
  // current plan if reserved memory is limited.
  void tune();
  // Highlights the mark of a plan that the search found, so that Enter uses it.
  void highlight(const jointer::ParetoPoint& plan);

 signals:
  void message(const QString& sentence);
  // `sentence` says that no plan found by a search meets the limit, and describes the closest one.
  // It is empty once the limit, the settings of the search or the plan has changed.
  void none_fits(const QString& sentence);
  // Requests a search for policies, order and buckets within this peak.
  void tune_wanted(std::int64_t peak_bytes);

 private:
  // The estimates of a named state; nullopt until they are known.
  struct NamedFigures {
    QString name;
    EditHistory history;
    std::optional<Figures> figures = {};
    std::optional<std::int64_t> reserved_bytes = {};
    bool is_asked = false, is_reserved_asked = false;
    QString problem = {};  // why one of them cannot be computed, in one sentence; otherwise empty
  };
  void refresh();
  void show_memory();
  void refresh_marks();
  void follow_named();
  void request_named();
  void request_named_figures(std::size_t index);
  void request_named_reserved(std::size_t index);
  void retry_named();
  [[nodiscard]] QString status_text() const;
  void choose(std::size_t mark);
  // Applies the plan of a point; `settings` are those of the plan that the search started from.
  void take(const ParetoPoint& point, SolveSettings settings);
  void use_plan(const SavePlan& plan, const Figures& figures, const std::string& order);
  void use_fit(const Fit& fit, const SacStatePtr& of);
  void forget_shortfall();

  SacSession& session_;
  SacBar& bar_;
  ParetoSearch& search_;  // the session's search
  ParetoPlot* plot_ = nullptr;
  QPushButton* start_ = nullptr;
  QComboBox* memory_ = nullptr;  // replaces `peak_only_` if reserved memory can be limited
  QLabel* peak_only_ = nullptr;
  ByteBox* limit_ = nullptr;
  QDoubleSpinBox* percent_ = nullptr;
  QPushButton* fastest_ = nullptr;
  QPushButton* smallest_ = nullptr;
  QPushButton* tune_ = nullptr;
  QCheckBox* offload_ = nullptr;
  OrdersBox* orders_ = nullptr;
  TwinGroupsBox* twin_groups_ = nullptr;
  QLabel* status_ = nullptr;
  std::vector<NamedFigures> named_;  // of Editing::named
  // The meaning of a mark in the plot: a point of the search, a named state, the plan that the
  // search started from, the tuned pipeline, or nothing that can be chosen.
  struct Meaning {
    int point = -1, named = -1;
    bool is_start = false, is_tuned = false;
  };
  std::vector<Meaning> meanings_;
  SacStatePtr searched_;  // the state that the points belong to
  // The estimates of `searched_` in the order found for it; nullopt if it has none, or if they were
  // not known before the plan changed.
  std::optional<OrderedFigures> searched_ordered_;
  SacStatePtr short_;  // the state for which `none_fits` holds; null if it does not
  std::size_t asked_ = 0;
};

}  // namespace jointer::views

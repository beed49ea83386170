#pragma once

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QToolButton>
#include <QWidget>
#include <cstdint>
#include <optional>
#include <string>

#include "core/cost/unknown_rates.h"
#include "views/session/document/document.h"
#include "views/widgets/figure_box.h"
#include "views/window/plan_figure.h"

namespace jointer::views {

class GuessNote;
class MovePlanner;

// The row above a document with numbers for memory, time and throughput, and the device that they
// are estimated for. Tooltips explain how each number is computed. For an edited graph, the
// original numbers are shown too. The numbers of the estimate follow a block as it is dragged.
// A row that is too narrow for everything leaves parts out, in the order of `Shortening`; tooltips
// then have them.
class Scoreboard : public QWidget {
  Q_OBJECT
 public:
  explicit Scoreboard(Document& document, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  // Each step includes those before it. The peak, the step time and its parts are always shown,
  // also those of the plan.
  enum class Shortening : std::uint8_t {
    none,
    device_label,
    narrow_gaps,
    rates_beside_plan,  // tokens/s and MFU, if there are numbers of a plan
    plan_details,       // reserved of the plan
    earlier_values,
    settings,  // the optimizer is below the device, next to a short name of the estimator
    reserved,
    plan_change,
    plan_terms,  // the names of the parts of the plan's step time
    rates,
    narrowest_gaps,
    measured,
  };
  FigureBox* add_figure(const QString& name, const QString& how);
  void fill_devices();
  void refresh();
  void show_measurement();
  void make_settings();
  // Leaves out as little as possible. While the numbers follow the pointer, parts are left out but
  // not shown again, so that nothing jumps back and forth.
  void fit_width();
  void shorten(Shortening shortening);
  // The width that everything shown needs.
  [[nodiscard]] int needed_width() const;
  // Shows the change relative to the graph as opened.
  void show_change(FigureBox& figure, std::int64_t from, std::int64_t to, const QString& was,
                   const QString& change);
  void show_figures();
  // Shows a rate, or a dash and the reason if the rate is not known.
  static void show_rate(FigureBox& figure, std::optional<double> rate,
                        std::string (*format)(double), const UnknownRate& unknown);
  void choose_device(int index);
  void choose_optimizer(int index);
  void choose_execution(int index);
  void show_assumptions();
  void choose_estimates();

  Document& document_;
  MovePlanner& planner_;
  FigureBox* peak_ = nullptr;
  FigureBox* reserved_ = nullptr;
  FigureBox* step_ = nullptr;
  FigureBox* compute_ = nullptr;
  FigureBox* exposed_ = nullptr;
  FigureBox* host_ = nullptr;  // time spent waiting for the CPU
  FigureBox* tokens_ = nullptr;
  FigureBox* mfu_ = nullptr;
  FigureBox* measured_ = nullptr;
  PlanFigure* planned_ = nullptr;
  QLabel* device_label_ = nullptr;
  QComboBox* device_ = nullptr;
  QComboBox* optimizer_ = nullptr;
  QComboBox* execution_ = nullptr;
  QToolButton* estimate_ = nullptr;  // names the estimator; opens its settings
  GuessNote* guess_ = nullptr;       // shown instead of the estimator's name
  QHBoxLayout *devices_ = nullptr, *estimates_ = nullptr;  // the two rows of settings
  Shortening shortening_ = Shortening::none;
};

}  // namespace jointer::views

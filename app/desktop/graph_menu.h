#pragma once

#include <QObject>

#include "app/desktop/menu_context.h"
#include "views/session/benchmark/benchmarks.h"

namespace jointer::desktop {

// Commands that run the current graph, compare it with measurements and other ranks, or change how
// it is estimated.
class GraphMenu : public QObject {
  Q_OBJECT
 public:
  explicit GraphMenu(const MenuContext& context);

  // Shows the measurements of a profiler trace or a memory snapshot next to the estimates.
  void import_measurement(const QString& path);

 private:
  void follow(const views::DocumentTab* tab);
  void run_benchmark(void (views::Benchmarks::*start)());
  void choose_measurement();
  void store_costs(views::Document& document, const views::MeasurementPtr& measurement);
  void check_ranks();

  MenuContext context_;
};

}  // namespace jointer::desktop

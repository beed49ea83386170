#pragma once

#include <QObject>

#include "app/desktop/menu_context.h"
#include "views/session/benchmark/benchmarks.h"

namespace jointer::desktop {

// Commands that measure the current graph, or compare it with measurements and other ranks.
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
  void keep_costs(views::Document& document, const views::MeasurementPtr& measurement);
  void check_ranks();

  MenuContext context_;
};

}  // namespace jointer::desktop

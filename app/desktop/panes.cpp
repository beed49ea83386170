#include "app/desktop/panes.h"

#include <QDir>
#include <QFileInfo>
#include <array>
#include <type_traits>

#include "views/alive/alive_pane.h"
#include "views/benchmark/benchmark_pane.h"
#include "views/compare/compare_pane.h"
#include "views/exposed/exposed_pane.h"
#include "views/graph/graph_pane.h"
#include "views/history/history_pane.h"
#include "views/inspector/inspector_pane.h"
#include "views/kernels/kernels_pane.h"
#include "views/modules/modules_pane.h"
#include "views/operators/operators_pane.h"
#include "views/pipeline/pipeline_pane.h"
#include "views/query/query_pane.h"
#include "views/sac/sac_pane.h"
#include "views/tune/tune_pane.h"

namespace jointer::desktop {
namespace {

using namespace views;

// Creates a pane from the part of the session that it shows.
template <class Pane>
Pane* new_pane(Session& session) {
  if constexpr (std::is_constructible_v<Pane, Benchmarks&>)
    return new Pane(session.benchmarks());
  else if constexpr (std::is_constructible_v<Pane, PipelineSession&>)
    return new Pane(session.pipeline());
  else if constexpr (std::is_constructible_v<Pane, TuneSession&>)
    return new Pane(session.tune());
  else if constexpr (std::is_constructible_v<Pane, Document&, OpenDocuments&>)
    return new Pane(session.document(), session.open_documents());
  else
    return new Pane(session.document());
}

template <class Pane>
QWidget* make(Session& session, const PaneHost& host) {
  Pane* pane = new_pane<Pane>(session);
  if constexpr (requires { &Pane::message; })
    QObject::connect(pane, &Pane::message, pane, host.say);
  if constexpr (requires { &Pane::refused; })
    QObject::connect(pane, &Pane::refused, pane, host.warn);
  if constexpr (requires { &Pane::pair_made; })
    QObject::connect(pane, &Pane::pair_made, pane, host.open);
  // The pane looks for source files next to the capture and in the working directory.
  if constexpr (requires { &Pane::set_source_roots; })
    pane->set_source_roots(
        {QFileInfo(QString::fromStdString(session.document().source().path)).absolutePath(),
         QDir::currentPath()});
  return pane;
}

constexpr auto kLeft = PaneColumn::left, kMiddle = PaneColumn::middle, kRight = PaneColumn::right;

// Wide tables, and forms next to plots, are in the middle, which has the most space.
constexpr std::array kKinds{
    PaneKind{"modules", QT_TRANSLATE_NOOP("MainWindow", "Modules"), kLeft, 0, make<ModulesPane>},
    PaneKind{"operators", QT_TRANSLATE_NOOP("MainWindow", "Operators"), kLeft, 1,
             make<OperatorsPane>},
    PaneKind{"sac", QT_TRANSLATE_NOOP("MainWindow", "SAC"), kMiddle, 1, make<SacPane>},
    PaneKind{"tune", QT_TRANSLATE_NOOP("MainWindow", "Tune"), kMiddle, 3, make<TunePane>},
    PaneKind{"benchmark", QT_TRANSLATE_NOOP("MainWindow", "Benchmark"), kMiddle, 4,
             make<BenchmarkPane>},
    PaneKind{"graph", QT_TRANSLATE_NOOP("MainWindow", "Graph"), kMiddle, 0, make<GraphPane>},
    PaneKind{"alive", QT_TRANSLATE_NOOP("MainWindow", "Alive Now"), kRight, 1, make<AlivePane>},
    PaneKind{"inspector", QT_TRANSLATE_NOOP("MainWindow", "Inspector"), kRight, 0,
             make<InspectorPane>},
    PaneKind{"history", QT_TRANSLATE_NOOP("MainWindow", "History"), kLeft, 2, make<HistoryPane>},
    PaneKind{"compare", QT_TRANSLATE_NOOP("MainWindow", "Compare"), kMiddle, 5, make<ComparePane>},
    PaneKind{"pipeline", QT_TRANSLATE_NOOP("MainWindow", "Pipeline"), kMiddle, 2,
             make<PipelinePane>},
    PaneKind{"exposed", QT_TRANSLATE_NOOP("MainWindow", "Exposed Collectives"), kMiddle, 6,
             make<ExposedPane>},
    PaneKind{"query", QT_TRANSLATE_NOOP("MainWindow", "Query"), kMiddle, 7, make<QueryPane>},
    PaneKind{"kernels", QT_TRANSLATE_NOOP("MainWindow", "Kernels"), kMiddle, 8, make<KernelsPane>},
};

}  // namespace

std::span<const PaneKind> pane_kinds() {
  return kKinds;
}

}  // namespace jointer::desktop

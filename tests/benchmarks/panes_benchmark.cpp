// Computations of the panes: building the tables, changing the moment, searching, on the shared
// captures if they are available; sorting and filtering a large table.

#include <benchmark/benchmark.h>

#include <QApplication>
#include <map>

#include "tests/support/child.h"
#include "tests/support/paths.h"
#include "tests/support/reference.h"
#include "views/alive/alive_pane.h"
#include "views/inspector/describe_nodes.h"
#include "views/inspector/inspector_pane.h"
#include "views/modules/module_model.h"
#include "views/operators/operator_model.h"
#include "views/session/search/node_search.h"

namespace {

using namespace jointer;
using namespace jointer::views;

constexpr const char* kCaptures[] = {"llama3_8b_tp2_fsdp2.joint",
                                     "deepseek_v3_671b_tp8_fsdp32_ep32.joint"};

// The snapshot of a benchmark's capture, read once; null if it is missing, with the benchmark
// skipped.
SnapshotPtr snapshot(benchmark::State& state) {
  static std::map<std::int64_t, SnapshotPtr> snapshots;
  const std::int64_t which = state.range(0);
  state.SetLabel(kCaptures[which]);
  if (test::shared_directory().empty()) {
    state.SkipWithError("the shared captures are not here; set JOINTER_SHARED when configuring");
    return nullptr;
  }
  SnapshotPtr& known = snapshots[which];
  if (known) return known;
  auto graph = open_graph({.path = test::capture_path(kCaptures[which])});
  auto made = graph ? make_snapshot(*std::move(graph), {}) : tl::unexpected(graph.error());
  if (!made) {
    state.SkipWithError(made.error().message.c_str());
    return nullptr;
  }
  return known = *made;
}

void build_operators(benchmark::State& state) {
  const SnapshotPtr s = snapshot(state);
  if (!s) return;
  OperatorModel model;
  for (auto _ : state) model.set_snapshot(s);
}

void build_modules(benchmark::State& state) {
  const SnapshotPtr s = snapshot(state);
  if (!s) return;
  ModuleModel model;
  for (auto _ : state) model.set_snapshot(s);
}

// A visible pane changes from one moment near the peak to the next and is painted.
void move_alive(benchmark::State& state, AliveModel::Grouping grouping, bool sorted) {
  const SnapshotPtr s = snapshot(state);
  if (!s) return;
  Document document({}, s);
  AlivePane pane(document);
  test::child<QComboBox>(pane).setCurrentIndex(static_cast<int>(grouping));
  if (sorted) pane.view().sortByColumn(AliveModel::why_column, Qt::AscendingOrder);
  pane.resize(500, 700);
  pane.show();
  QApplication::processEvents();
  QPixmap screen(pane.size());
  std::size_t moment = s->analysis.memory.peak_index();
  for (auto _ : state) {
    moment = moment > 200 ? moment - 2 : s->analysis.memory.peak_index();
    document.selection().set_moment(moment);
    pane.render(&screen);
  }
  state.counters["alive"] = static_cast<double>(pane.model().totals().things);
}

void describe_all(benchmark::State& state) {
  const SnapshotPtr s = snapshot(state);
  if (!s) return;
  const auto order = s->graph.order();
  for (auto _ : state) benchmark::DoNotOptimize(describe(*s, order));
}

// One click on a node: lays out and paints everything that is known about it.
void show_inspector(benchmark::State& state) {
  const SnapshotPtr s = snapshot(state);
  if (!s) return;
  Document document({}, s);
  InspectorPane pane(document);
  pane.resize(400, 900);
  pane.show();
  QPixmap screen(pane.size());
  std::size_t at = 0;
  for (auto _ : state) {
    at = (at + 997) % s->graph.node_count();
    document.selection().select(s->graph.order()[at]);
    pane.render(&screen);
  }
}

// 100,000 rows with a text and a number.
class BigModel : public TableModel {
 public:
  static constexpr int kRows = 100'000;

  BigModel() : TableModel({"1 row", "%1 rows"}) {
    set_columns({{.title = "name"}, {.title = "bytes", .unit = Unit::bytes}});
    begin_rows();
    set_rows(std::vector<int>(kRows, -1));
  }
  [[nodiscard]] std::optional<std::int64_t> number(int row, int /*column*/) const override {
    return row * 7919 % kRows;
  }
  [[nodiscard]] QString text(int row, int /*column*/) const override {
    return QStringLiteral("view_%1").arg(row * 7919 % kRows);
  }
};

void sort_big(benchmark::State& state, int column) {
  BigModel model;
  TableView view(model);
  view.resize(500, 700);
  view.show();
  bool up = false;
  for (auto _ : state) {
    up = !up;
    model.sort(column, up ? Qt::AscendingOrder : Qt::DescendingOrder);
    QApplication::processEvents();
  }
}

void filter_big(benchmark::State& state) {
  BigModel model;
  TableView view(model);
  view.resize(500, 700);
  view.show();
  bool on = false;
  for (auto _ : state) {
    on = !on;
    model.set_filter(on ? QStringLiteral("99") : QString());
    QApplication::processEvents();
  }
}

void build_search(benchmark::State& state) {
  const SnapshotPtr s = snapshot(state);
  if (!s) return;
  for (auto _ : state) benchmark::DoNotOptimize(NodeSearch(s));
}

void search(benchmark::State& state, const char* query) {
  const SnapshotPtr s = snapshot(state);
  if (!s) return;
  const NodeSearch search(s);
  std::size_t found = 0;
  for (auto _ : state) found = search.find(std::string_view(query))->size();
  state.counters["found"] = static_cast<double>(found);
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  const auto on_both = [](benchmark::internal::Benchmark* b) {
    b->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
  };
  using Grouping = AliveModel::Grouping;
  on_both(benchmark::RegisterBenchmark("operators/build", build_operators));
  on_both(benchmark::RegisterBenchmark("modules/build", build_modules));
  on_both(benchmark::RegisterBenchmark("alive/by_size", move_alive, Grouping::none, false));
  on_both(benchmark::RegisterBenchmark("alive/by_module", move_alive, Grouping::module, false));
  on_both(benchmark::RegisterBenchmark("alive/by_category", move_alive, Grouping::category, false));
  on_both(benchmark::RegisterBenchmark("alive/sorted_by_text", move_alive, Grouping::none, true));
  on_both(benchmark::RegisterBenchmark("inspector/all_nodes", describe_all));
  on_both(benchmark::RegisterBenchmark("inspector/show", show_inspector));
  benchmark::RegisterBenchmark("table/100k/sort_numbers", sort_big, 1)
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("table/100k/sort_texts", sort_big, 0)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("table/100k/filter", filter_big)->Unit(benchmark::kMillisecond);
  on_both(benchmark::RegisterBenchmark("search/build", build_search));
  for (const char* query :
       {"view", "op:mm mod:layers.3 phase:bw", "bytes>1MiB", "/mm_\\d+$/", "/[^z]*q$/"})
    on_both(benchmark::RegisterBenchmark((std::string("search/") + query).c_str(), search, query));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

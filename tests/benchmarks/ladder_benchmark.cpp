// Speed of the Graph pane, at 1000 x 800 on the offscreen platform: prints one JSON object per
// capture, in milliseconds. Uses dot for layouts if it is installed.
//
//   first_layout     from an analyzed graph to the first frame
//   open_layer       expanding a layer's row, until a frame shows its contents
//   open_nodes       expanding a layer down to its nodes, until a frame shows them
//   open_identical   the same for the next layer, whose layout is cached
//   new_snapshot     from a changed document to the next frame, with that layer expanded
//   show_plan        rungs of a joint graph's plan, without layout and frame
//   frame            panning and zooming, with some layers expanded and with every row expanded
//
//   ladder_benchmark CAPTURE...

#include <fmt/core.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QWheelEvent>
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "core/partition/partition.h"
#include "tests/benchmarks/timing.h"
#include "tests/benchmarks/windows.h"
#include "views/graph/graph_view.h"

namespace {

using namespace jointer;
using namespace jointer::views;
using namespace jointer::benchmarks;

constexpr int kFrames = 300;
constexpr QSize kSize(1000, 800);

double ms_of(const std::function<void()>& action) {
  QElapsedTimer timer;
  timer.start();
  action();
  return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

class Subject {
 public:
  explicit Subject(const SnapshotPtr& snapshot) : document_(OpenRequest{}, snapshot) {}

  std::string run() {
    const double first = ms_of([&] {
      view_ = std::make_unique<GraphView>(document_);
      view_->resize(kSize);
      view_->show();
      paint();
    });
    const int fold = row_where([](const LadderRow& row) {
      return row.kind == LadderRow::Kind::fold && row.name.starts_with("layers");
    });
    view_->model().open_row(fold);
    const int layer = fold + 1, next = view_->model().ladder().row(layer).end;
    const double open = ms_of([&] {
      view_->model().open_row(layer);
      paint();
    });
    const double nodes = ms_of([&] { open_all(layer); });
    const double identical = ms_of([&] { open_all(next); });
    // Like an edit, but without applying one.
    const double again = ms_of([&] {
      emit document_.changed();
      paint();
    });
    const std::vector<double> some = frames();
    const double plan = show_plan();
    open_all(-1);
    const std::vector<double> all = frames();
    return fmt::format(
        "{{\"first_layout_ms\":{:.1f},\"open_layer_ms\":{:.1f},\"open_nodes_ms\":{:.1f},"
        "\"open_identical_ms\":{:.1f},\"new_snapshot_ms\":{:.1f},\"show_plan_ms\":{:.1f},"
        "\"frame_median_ms\":{:.2f},\"frame_p99_ms\":{:.2f},"
        "\"all_open_frame_median_ms\":{:.2f},\"all_open_frame_p99_ms\":{:.2f},\"rows\":{}}}",
        first, open, nodes, identical, again, plan, percentile(some, 0.5), percentile(some, 0.99),
        percentile(all, 0.5), percentile(all, 0.99), view_->model().layout().items().size());
  }

 private:
  int row_where(const std::function<bool(const LadderRow&)>& is_it) const {
    const auto rows = view_->model().ladder().rows();
    return static_cast<int>(std::find_if(rows.begin(), rows.end(), is_it) - rows.begin());
  }

  // The minimum of several runs; 0 unless it is a joint graph.
  double show_plan() const {
    const Snapshot& snapshot = document_.snapshot();
    const auto cut = partition(snapshot.graph);
    if (!cut) return 0;
    Ladder ladder(snapshot.graph, snapshot.analysis);
    double min = 1e9;
    for (int i = 0; i < 5; ++i)
      min = std::min(min, ms_of([&] { ladder.show_plan(cut->joint, cut->plan); }));
    return min;
  }

  void paint() { view_->viewport()->render(&screen_); }

  void open_all(int row) {
    view_->model().open_all(row);
    bool settled = view_->model().groups().pending() == 0;
    const auto connection = QObject::connect(&view_->model(), &LadderModel::settled, view_.get(),
                                             [&] { settled = true; });
    while (!settled) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    QObject::disconnect(connection);
    paint();
  }

  // Zooms out to the whole graph, pans down along it, zooms in, as a user looks around.
  std::vector<double> frames() {
    std::vector<double> times;
    for (int frame = 0; frame < kFrames; ++frame) {
      const int phase = frame % 100;
      const QPointF at(400, 400);
      const bool zooms = phase < 30 || phase >= 70;
      QWheelEvent wheel(at, at, {}, {0, zooms ? (phase < 30 ? -120 : 120) : -120}, Qt::NoButton,
                        zooms ? Qt::ControlModifier : Qt::NoModifier, Qt::NoScrollPhase, false);
      times.push_back(ms_of([&] {
        QApplication::sendEvent(view_->viewport(), &wheel);
        paint();
      }));
    }
    return times;
  }

  Document document_;
  std::unique_ptr<GraphView> view_;
  QPixmap screen_{kSize};
};

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  fmt::print("{{");
  for (int i = 1; i < argc; ++i) {
    const SnapshotPtr snapshot = open_snapshot(argv[i]);
    if (!snapshot) return 3;
    fmt::print("{}\"{}\":{}", i == 1 ? "" : ",", argv[i], Subject(snapshot).run());
  }
  fmt::print("}}\n");
  return 0;
}

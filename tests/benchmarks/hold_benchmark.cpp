// Response times while a user drags a collective: 1600 x 1000, offscreen. Prints one JSON object
// per capture with the times, in milliseconds,
//   take:   from picking up a wait or a start until its whole legal range is on screen, including
//           the estimates of every position but not the work done once when a graph opens,
//   frame:  of a frame while it moves over its range: all work of the window's thread,
//   follow: from a mouse move until the curve and the lanes show it,
//   drop:   from the drop until every pane has received the edited graph,
//   nudge:  the same from a key press.
// Medians and high percentiles; `cpu` is the CPU time of the window's thread alone.
//
//   hold_benchmark CAPTURE...

#include <fmt/core.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTimer>
#include <vector>

#include "tests/benchmarks/timing.h"
#include "tests/benchmarks/windows.h"
#include "views/session/edit/editing.h"
#include "views/timeline/timeline_view.h"
#include "views/window/scoreboard.h"

namespace {

using namespace jointer;
using namespace jointer::views;
using namespace jointer::benchmarks;

constexpr std::size_t kCollectives = 40;  // per capture, evenly spread
constexpr int kFramesEach = 30;
constexpr int kPatienceMs = 20000;

double ms(const QElapsedTimer& timer) {
  return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

struct Times {
  std::vector<double> take, take_cpu, frame, frame_cpu, follow, drop, nudge;
};

class Subject {
 public:
  explicit Subject(const SnapshotPtr& snapshot)
      : document_({}, snapshot), view_(document_), board_(document_) {
    view_.resize(1600, 900);
    board_.resize(1600, 80);
    view_.show();
    board_.show();
  }

  bool run(Times& times) {
    const auto collectives = document_.analysis().simulation.collectives();
    std::vector<NodeId> nodes;
    const std::size_t step = std::max<std::size_t>(collectives.size() / kCollectives, 1);
    for (std::size_t i = 0; i < collectives.size(); i += step) {
      nodes.push_back(collectives[i].start);
      if (collectives[i].wait) nodes.push_back(collectives[i].wait);
    }
    for (const NodeId node : nodes)
      if (!hold(node, times)) return false;
    for (std::size_t i = 0; i < std::min<std::size_t>(nodes.size(), 20); ++i)
      if (!nudge(nodes[i], times)) return false;
    return true;
  }

 private:
  [[nodiscard]] MovePlanner& planner() const { return document_.editing().planner(); }

  void render() {
    view_.viewport()->render(&screen_);
    board_.render(&screen_);
  }

  bool hold(NodeId node, Times& times) {
    if (!wait_for([&] { return planner().is_ready(); }, kPatienceMs)) return false;
    QElapsedTimer timer;
    timer.start();
    double cpu = processor_ms();
    planner().take(node);
    const HeldMove* held = planner().held();
    if (held == nullptr) return true;  // no place to move to, or refused
    render();
    times.take.push_back(ms(timer));
    times.take_cpu.push_back(processor_ms() - cpu);
    const std::size_t first = held->preview.first(), last = held->preview.last();
    for (int i = 0; i < kFramesEach; ++i) {
      // A mouse move, and what has arrived from the worker thread by then.
      const std::size_t gap =
          first + (last - first) * static_cast<std::size_t>(i) / (kFramesEach - 1);
      if (gap == held->gap) continue;
      timer.start();
      cpu = processor_ms();
      planner().move_to(gap);
      QCoreApplication::processEvents();
      render();
      times.frame.push_back(ms(timer));
      times.frame_cpu.push_back(processor_ms() - cpu);
    }
    // To the end that is further away, until the lanes show it there.
    const std::size_t current = held->preview.current();
    if (first == last) {
      planner().give_up();
      return true;
    }
    const std::size_t end = last - current > current - first ? last : first;
    planner().move_to(current);
    timer.start();
    planner().move_to(end);
    const auto follows = [&] { return planner().held()->shown->graph.position(node) == end; };
    if (!wait_for(follows, kPatienceMs)) return false;
    times.follow.push_back(ms(timer));
    timer.start();
    planner().drop();
    if (!wait_for([&] { return planner().held() == nullptr && document_.editing().is_settled(); },
                  kPatienceMs))
      return false;
    times.drop.push_back(ms(timer));
    document_.editing().undo();
    return wait_for([&] { return document_.editing().is_settled(); }, kPatienceMs);
  }

  bool nudge(NodeId node, Times& times) {
    if (!wait_for([&] { return planner().is_ready(); }, kPatienceMs)) return false;
    document_.selection().select(node);
    QElapsedTimer timer;
    timer.start();
    bool heard = false;
    const auto hear = [&] { heard = true; };
    const auto done = QObject::connect(&document_, &Document::changed, &document_, hear);
    const auto not_done = QObject::connect(&planner(), &MovePlanner::refused, &document_, hear);
    planner().nudge(1);
    const bool in_time = wait_for([&] { return heard; }, kPatienceMs);
    QObject::disconnect(done);
    QObject::disconnect(not_done);
    if (in_time) times.nudge.push_back(ms(timer));
    return in_time && wait_for([&] { return document_.editing().is_settled(); }, kPatienceMs);
  }

  Document document_;
  TimelineView view_;
  Scoreboard board_;
  QPixmap screen_{1600, 1000};
};

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  fmt::print("{{");
  for (int i = 1; i < argc; ++i) {
    const SnapshotPtr snapshot = open_snapshot(argv[i]);
    if (!snapshot) return 3;
    Times times;
    if (!Subject(snapshot).run(times)) {
      fmt::print(stderr, "{}: no answer within {} ms\n", argv[i], kPatienceMs);
      return 1;
    }
    const auto p = [](const std::vector<double>& values, double share) {
      return percentile(values, share);
    };
    fmt::print(
        "{}\"{}\": {{\"held\": {}, \"take_median_ms\": {:.2f}, \"take_p99_ms\": {:.2f}, "
        "\"take_cpu_median_ms\": {:.2f}, \"take_cpu_p99_ms\": {:.2f}, "
        "\"frame_median_ms\": {:.2f}, \"frame_p95_ms\": {:.2f}, "
        "\"frame_cpu_median_ms\": {:.2f}, \"frame_cpu_p95_ms\": {:.2f}, "
        "\"follow_median_ms\": {:.2f}, \"drop_median_ms\": {:.2f}, \"nudge_median_ms\": {:.2f}}}",
        i == 1 ? "" : ", ", argv[i], times.take.size(), p(times.take, 0.5), p(times.take, 0.99),
        p(times.take_cpu, 0.5), p(times.take_cpu, 0.99), p(times.frame, 0.5), p(times.frame, 0.95),
        p(times.frame_cpu, 0.5), p(times.frame_cpu, 0.95), p(times.follow, 0.5), p(times.drop, 0.5),
        p(times.nudge, 0.5));
  }
  fmt::print("}}\n");
  return 0;
}

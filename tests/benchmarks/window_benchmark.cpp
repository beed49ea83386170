// Responsiveness of the real window with a large graph, on the offscreen platform: the longest time
// for which the event loop is blocked while a capture opens, and while a user clicks through it.
// Prints one JSON object per capture.
//
//   window_benchmark CAPTURE...

#include <fmt/core.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTimer>
#include <algorithm>
#include <functional>

#include "tests/benchmarks/desktop_window.h"

namespace {

using namespace jointer;
using namespace jointer::views;

constexpr int kTickMs = 2;
constexpr int kSettleMs = 300;
constexpr std::size_t kSelections = 60;

// The longest time between two iterations of the event loop.
class FreezeMeter : public QObject {
 public:
  FreezeMeter() {
    QObject::connect(&timer_, &QTimer::timeout, this, [this] {
      longest_ms_ = std::max(longest_ms_, static_cast<double>(since_.nsecsElapsed()) / 1e6);
      since_.restart();
    });
    timer_.setTimerType(Qt::PreciseTimer);
    timer_.start(kTickMs);
    since_.start();
  }
  double take() {
    since_.restart();
    return std::exchange(longest_ms_, 0.0);
  }

 private:
  QTimer timer_;
  QElapsedTimer since_;
  double longest_ms_ = 0;
};

void run_until(const std::function<bool()>& done) {
  while (!done()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

void run_for(int ms) {
  QElapsedTimer timer;
  timer.start();
  run_until([&] { return timer.elapsed() >= ms; });
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  fmt::print("{{");
  for (int i = 1; i < argc; ++i) {
    benchmarks::DesktopWindow window;
    run_for(kSettleMs);
    FreezeMeter meter;
    window->open({.path = argv[i]});
    run_until([&] { return window.has_opened(); });
    if (window.has_failed()) return 3;
    run_for(kSettleMs);
    const double opening = meter.take();

    // Selects some collectives: every pane follows, and the moment moves with the selection.
    Document& document = *window->current_tab()->document();
    const auto collectives = document.analysis().simulation.collectives();
    const std::size_t every = std::max<std::size_t>(collectives.size() / kSelections, 1);
    std::vector<double> responses;
    for (std::size_t c = 0; c < collectives.size(); c += every) {
      document.selection().select(collectives[c].start);
      document.selection().set_moment(document.moment_of(collectives[c].start));
      run_for(10);
      responses.push_back(meter.take());
    }
    std::sort(responses.begin(), responses.end());
    fmt::print(
        "{}\"{}\":{{\"opening_ms\":{:.1f},\"selecting_median_ms\":{:.1f},"
        "\"selecting_longest_ms\":{:.1f}}}",
        i == 1 ? "" : ",", argv[i], opening,
        responses.empty() ? 0.0 : responses[responses.size() / 2],
        responses.empty() ? 0.0 : responses.back());
  }
  fmt::print("}}\n");
  return 0;
}

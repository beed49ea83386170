// Times of the real window with a very large graph, on the offscreen platform, each in
// milliseconds: from the request to open a capture until its timeline is painted, from a key until
// the window is painted, from Shift+B until the edit is applied or refused, and from showing the
// SAC pane until it has a plan. Also the maximum resident memory of the process, in MiB. Prints one
// JSON object. Exits 3 if the capture cannot be opened or an answer takes too long.
//
//   scale_benchmark CAPTURE

#include <fmt/core.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/benchmarks/desktop_window.h"
#include "tests/benchmarks/windows.h"
#include "views/sac/sac_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/sac_session.h"
#include "views/timeline/timeline_view.h"

namespace {

using namespace jointer;
using namespace jointer::views;

constexpr int kPatienceMs = 120'000;
constexpr int kRounds = 10;
constexpr std::array kKeys{Qt::Key_Right, Qt::Key_Left, Qt::Key_W, Qt::Key_D, Qt::Key_A, Qt::Key_S};

double elapsed_ms(const QElapsedTimer& timer) {
  return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

// The maximum resident memory of this process; 0 if the system does not say.
double peak_mib() {
  std::ifstream status("/proc/self/status");
  const std::string key = "VmHWM:";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key)) return std::stod(line.substr(key.size())) / 1024;
  return 0;
}

// The time until the window has handled a request and painted the result.
double answer_ms(QWidget& window, const std::function<void()>& request) {
  QElapsedTimer timer;
  timer.start();
  request();
  QApplication::processEvents();
  window.repaint();
  return elapsed_ms(timer);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  benchmarks::DesktopWindow shown;
  desktop::MainWindow& window = *shown;
  QApplication::processEvents();

  QElapsedTimer timer;
  timer.start();
  window.open({.path = argv[1]});
  const auto has_opened = [&] { return shown.has_opened(); };
  if (!benchmarks::wait_for(has_opened, kPatienceMs, 1) || shown.has_failed()) return 3;
  window.repaint();
  const double open_ms = elapsed_ms(timer);
  Document& document = *window.current_tab()->document();
  TimelineView& timeline = *window.current_tab()->timeline();
  MovePlanner& planner = document.editing().planner();
  if (!benchmarks::wait_for([&] { return planner.is_ready(); }, kPatienceMs)) return 3;

  std::vector<double> keys;
  timeline.show_peak();
  for (int i = 0; i < kRounds; ++i) {
    for (const Qt::Key key : kKeys)
      keys.push_back(answer_ms(window, [&] {
        QKeyEvent press(QEvent::KeyPress, key, Qt::NoModifier);
        QApplication::sendEvent(&timeline, &press);
      }));
    keys.push_back(answer_ms(window, [&] { timeline.step_exposed(1); }));
  }
  std::ranges::sort(keys);

  bool has_answered = false;
  QObject::connect(&planner, &MovePlanner::refused, &window, [&] { has_answered = true; });
  QObject::connect(&document, &Document::changed, &window, [&] { has_answered = true; });
  timer.start();
  planner.to_best(true);
  if (!benchmarks::wait_for([&] { return has_answered; }, kPatienceMs, 1)) return 3;
  window.repaint();
  const double best_ms = elapsed_ms(timer);

  timer.start();
  window.dock(QStringLiteral("sac"))->show();
  window.dock(QStringLiteral("sac"))->raise();
  const SacSession& sac = document.sac();
  const auto has_plan = [&] { return sac.state() != nullptr && sac.is_settled(); };
  if (!benchmarks::wait_for(has_plan, kPatienceMs, 1)) return 3;
  window.repaint();
  const double sac_ms = elapsed_ms(timer);

  fmt::print(
      "{{\"nodes\":{},\"open_ms\":{:.0f},\"key_median_ms\":{:.1f},\"key_p95_ms\":{:.1f},"
      "\"best_ms\":{:.0f},\"sac_ms\":{:.0f},\"peak_mib\":{:.0f}}}\n",
      document.graph().order().size(), open_ms, keys[keys.size() / 2], keys[keys.size() * 95 / 100],
      best_ms, sac_ms, peak_mib());
  return 0;
}

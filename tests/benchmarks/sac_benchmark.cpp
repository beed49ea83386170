// Response times in the SAC pane: a window of 1600 x 1000 with the pane, the scoreboard and the
// timeline with the plan's curve, offscreen. Prints one JSON object per joint graph, with times in
// milliseconds:
//   start:       from requesting a plan until it is on screen, including the partitioner,
//   tick:        from a key press until the new numbers are painted,
//   preview:     from hovering over a tensor until its preview is shown,
//   undo, redo:  from the request until the numbers of that state are shown,
//   solve:       from requesting a new partition until its numbers are shown,
//   budget:      from moving the budget's slider until its preview is painted, also over the
//                timeline's curve.
// Medians and 95th percentiles. `cpu` is the CPU time of all threads, which other work on the
// machine hardly changes.
//
//   sac_benchmark CAPTURE...

#include <fmt/format.h>

#include <QApplication>
#include <algorithm>
#include <map>

#include "core/open/open.h"
#include "tests/benchmarks/timing.h"
#include "tests/benchmarks/windows.h"
#include "views/sac/sac_pane.h"
#include "views/session/edit/editing.h"
#include "views/timeline/timeline_view.h"
#include "views/window/scoreboard.h"

namespace {

using namespace jointer;
using namespace jointer::views;
using namespace jointer::benchmarks;

constexpr std::size_t kTicks = 30;
constexpr int kPatienceMs = 60000, kPollMs = 2, kSolves = 5, kBudgets = 20;

// Counts paint events.
class Paints : public QObject {
 public:
  int count = 0;

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::Paint) ++count;
    return false;
  }
};

class Subject {
 public:
  explicit Subject(const SnapshotPtr& snapshot)
      : document_({}, snapshot),
        board_(new Scoreboard(document_, &window_)),
        pane_(new SacPane(document_, &window_)),
        timeline_(new TimelineView(document_, &window_)) {
    window_.resize(1600, 1000);
    board_->setGeometry(0, 0, 1600, 80);
    pane_->setGeometry(0, 80, 500, 420);
    timeline_->setGeometry(0, 500, 1600, 500);
    pane_->hide();
    window_.show();
    // Counts only what is painted after the session's signal.
    qApp->installEventFilter(&paints_);
    for (const auto signal : {&SacSession::changed, &SacSession::previewed})
      QObject::connect(&document_.sac(), signal, &window_, [this] { paints_.count = 0; });
  }

  bool start() {
    return measure(
        "start", [this] { pane_->show(); }, [this] { return document_.sac().state() != nullptr; });
  }

  // Tensors from the whole graph whose policy can change.
  bool tick_all() {
    SacSession& session = document_.sac();
    const std::vector<SacTensor> tensors = session.state()->tensors;
    std::size_t done = 0;
    for (std::size_t i = 0; i < tensors.size() && done < kTicks;
         i += std::max<std::size_t>(tensors.size() / kTicks, 1)) {
      const SacTensor& t = tensors[i];
      if (t.chain == 0 || document_.graph().node(t.node).kind != NodeKind::call) continue;
      const PlanAction action =
          t.action == PlanAction::save ? PlanAction::recompute : PlanAction::save;
      if (!measure(
              "preview", [&] { session.preview({t.node}, action); },
              [&] { return session.shown_preview().has_value(); }))
        return false;
      session.clear_preview();
      if (!session.state()->tensor_of(t.node)) continue;
      // A tensor that was not previewed, so that nothing is cached.
      const SacTensor& other = tensors[(i + tensors.size() / 2) % tensors.size()];
      if (other.chain == 0 || document_.graph().node(other.node).kind != NodeKind::call) continue;
      const SacStatePtr before = session.state();
      if (!measure(
              "tick",
              [&] {
                session.set_action({other.node}, other.action == PlanAction::save
                                                     ? PlanAction::recompute
                                                     : PlanAction::save);
              },
              [&] { return session.state() != before; }))
        return false;
      if (!wait_for([&] { return session.is_settled(); }, kPatienceMs, kPollMs)) return false;
      ++done;
    }
    return true;
  }

  bool walk_history() {
    Editing& editing = document_.editing();
    SacSession& session = document_.sac();
    const int steps = editing.entry_count();
    for (int i = 0; i < steps; ++i) {
      const SacStatePtr before = session.state();
      if (!measure(
              "undo", [&] { editing.undo(); }, [&] { return session.state() != before; }) ||
          !wait_for([&] { return session.is_settled(); }, kPatienceMs, kPollMs))
        return false;
    }
    for (int i = 0; i < steps; ++i) {
      const SacStatePtr before = session.state();
      if (!measure(
              "redo", [&] { editing.redo(); }, [&] { return session.state() != before; }) ||
          !wait_for([&] { return session.is_settled(); }, kPatienceMs, kPollMs))
        return false;
    }
    return true;
  }

  // Solves for the graph as opened.
  bool solve() {
    SacSession& session = document_.sac();
    document_.editing().go_to(0);
    if (!wait_for([&] { return session.is_settled(); }, kPatienceMs, kPollMs)) return false;
    for (int i = 0; i < kSolves; ++i) {
      const SacBasePtr before = session.state()->base;
      if (!measure(
              "solve", [&] { session.solve({}); },
              [&] { return session.state() && session.state()->base != before; }) ||
          !wait_for([&] { return session.is_settled(); }, kPatienceMs, kPollMs))
        return false;
    }
    return true;
  }

  // Moves the slider from right to left. The first preview prepares the others.
  bool drag_budget() {
    SacSession& session = document_.sac();
    for (int i = 0; i <= kBudgets; ++i) {
      SolveSettings settings;
      settings.activation_budget = 1 - static_cast<double>(i) / kBudgets;
      const auto is_shown = [&] {
        return session.shown_preview() && session.shown_preview()->settings == settings;
      };
      if (!measure(
              i == 0 ? "first_budget" : "budget", [&] { session.preview_solving(settings); },
              is_shown))
        return false;
    }
    session.clear_preview();
    return true;
  }

  [[nodiscard]] std::string json() const {
    std::vector<std::string> parts;
    for (const auto& [name, times] : times_) {
      parts.push_back(fmt::format("\"{}_median_ms\": {:.3f}", name, percentile(times, 0.5)));
      parts.push_back(fmt::format("\"{}_p95_ms\": {:.3f}", name, percentile(times, 0.95)));
    }
    for (const auto& [name, times] : cpu_)
      parts.push_back(fmt::format("\"{}_cpu_median_ms\": {:.3f}", name, percentile(times, 0.5)));
    parts.push_back(fmt::format("\"tensors\": {}", document_.sac().state()->tensors.size()));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }

 private:
  template <class Act, class IsDone>
  bool measure(const char* name, Act act, IsDone is_done) {
    const double wall = now_ms(CLOCK_MONOTONIC), cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    act();
    if (!wait_for(is_done, kPatienceMs, kPollMs)) {
      fmt::print(stderr, "{} never ended. {}\n", name, document_.sac().problem().toStdString());
      return false;
    }
    if (!wait_for([&] { return paints_.count > 0; }, kPatienceMs, kPollMs)) {
      fmt::print(stderr, "{} was never painted\n", name);
      return false;
    }
    times_[name].push_back(now_ms(CLOCK_MONOTONIC) - wall);
    cpu_[name].push_back(now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    return true;
  }

  Document document_;
  QWidget window_;
  Scoreboard* board_;
  SacPane* pane_;
  TimelineView* timeline_;
  Paints paints_;
  std::map<std::string, std::vector<double>> times_, cpu_;
};

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  std::vector<std::string> parts;
  for (int i = 1; i < argc; ++i) {
    const SnapshotPtr snapshot = open_snapshot(argv[i]);
    if (!snapshot) return 1;
    Subject subject(snapshot);
    if (!subject.start() || !subject.tick_all() || !subject.walk_history() || !subject.solve() ||
        !subject.drag_budget()) {
      fmt::print(stderr, "{}: given up\n", argv[i]);
      return 1;
    }
    parts.push_back(fmt::format("\"{}\": {}", argv[i], subject.json()));
  }
  fmt::print("{{{}}}\n", fmt::join(parts, ",\n "));
  return 0;
}

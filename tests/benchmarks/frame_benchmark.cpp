// Frame time of the timeline while panning and zooming, at 1600 x 1000 on the offscreen platform:
// prints one JSON object with the median and the 95th percentile for each capture. The captures
// take turns, frame by frame, so that a busy machine slows them all equally. --measured overlays a
// measurement on each: every node, somewhat longer than estimated. --kernels shows the lanes of
// predicted kernels.
//
//   frame_benchmark [--measured] [--kernels] CAPTURE...

#include <fmt/core.h>

#include <QApplication>
#include <QElapsedTimer>
#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/benchmarks/timing.h"
#include "tests/benchmarks/windows.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/timeline/timeline_view.h"

namespace {

using namespace jointer;
using namespace jointer::views;
using namespace jointer::benchmarks;

constexpr int kFrames = 600;

struct Subject {
  std::string path;
  std::unique_ptr<Document> document;
  std::unique_ptr<TimelineView> view;
  std::vector<double> frames;
  double laid_over_ms = 0;  // time to overlay a measurement
};

// Zooms in, pans along, and zooms out, as a user looks around.
void move(TimelineView& view, int frame) {
  const int phase = frame % 60;
  if (phase < 20)
    view.zoom(1.25);
  else if (phase < 40)
    view.range().pan(phase % 2 == 0 ? 0.2 : 0.1);
  else
    view.zoom(1 / 1.25);
}

// Every simulated node, a tenth longer than estimated and with slightly more memory.
MeasurementPtr measurement_of(const Snapshot& snapshot) {
  auto measurement = std::make_shared<Measurement>();
  measurement->label = "rank 0, interpret";
  for (const NodeId node : snapshot.analysis.memory.steps()) {
    const NodeTiming& timing = snapshot.analysis.simulation.timing(node);
    const std::int64_t begin = timing.start + timing.start / 10;
    const std::int64_t length = std::max<std::int64_t>(timing.end - timing.start, 1000);
    measurement->nodes.push_back({node, begin, begin + length + length / 10, length});
  }
  std::stable_sort(measurement->nodes.begin(), measurement->nodes.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  for (const std::int64_t bytes : snapshot.analysis.memory.profile())
    measurement->memory_profile.push_back(bytes + bytes / 100);
  measurement->step_ns = snapshot.analysis.simulation.step_ns() * 11 / 10;
  return measurement;
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  std::vector<Subject> subjects;
  bool measured = false, kernels = false;
  int first = 1;
  for (; first < argc && std::string_view(argv[first]).starts_with("--"); ++first) {
    measured = measured || std::string_view(argv[first]) == "--measured";
    kernels = kernels || std::string_view(argv[first]) == "--kernels";
  }
  for (int i = first; i < argc; ++i) {
    const SnapshotPtr snapshot = open_snapshot(argv[i]);
    if (!snapshot) return 3;
    Subject subject{.path = argv[i]};
    subject.document = std::make_unique<Document>(OpenRequest{.path = argv[i]}, snapshot);
    subject.view = std::make_unique<TimelineView>(*subject.document);
    if (measured) {
      const MeasurementPtr measurement = measurement_of(*snapshot);
      QElapsedTimer timer;
      timer.start();
      subject.document->add_import(measurement);
      subject.laid_over_ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    }
    subject.view->resize(1600, 1000);
    subject.view->show();
    if (kernels) {
      subject.view->content().set_show_kernels(true);
      while (!subject.document->kernels().is_current())
        QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    subjects.push_back(std::move(subject));
  }
  QPixmap screen(1600, 1000);
  for (int frame = 0; frame < kFrames; ++frame) {
    for (Subject& subject : subjects) {
      QElapsedTimer timer;
      timer.start();
      move(*subject.view, frame);
      subject.view->viewport()->render(&screen);
      subject.frames.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
  }
  fmt::print("{{");
  for (std::size_t i = 0; i < subjects.size(); ++i)
    fmt::print("{}\"{}\": {{\"median_ms\": {:.3f}, \"p95_ms\": {:.3f}, \"laid_over_ms\": {:.3f}}}",
               i == 0 ? "" : ", ", subjects[i].path, percentile(subjects[i].frames, 0.5),
               percentile(subjects[i].frames, 0.95), subjects[i].laid_over_ms);
  fmt::print("}}\n");
  return 0;
}

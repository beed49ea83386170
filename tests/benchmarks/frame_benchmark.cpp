// How long a frame of the timeline takes while panning and zooming, at 1600 x 1000 on the offscreen
// platform: one JSON object with the median and the 95th percentile for each capture that is named.
// The captures take turns, frame by frame, so that a busy machine slows all of them alike.
//
//   frame_benchmark CAPTURE...

#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <algorithm>
#include <memory>
#include <vector>

#include "views/timeline/timeline_view.h"

namespace {

using namespace jointer;
using namespace jointer::views;

constexpr int kFrames = 600;

struct Subject {
  std::string path;
  std::unique_ptr<Document> document;
  std::unique_ptr<TimelineView> view;
  std::vector<double> frames;
};

// In for a while, then along, then out again, as a person looks around.
void move(TimelineView& view, int frame) {
  const int phase = frame % 60;
  if (phase < 20)
    view.zoom(1.25);
  else if (phase < 40)
    view.pan(phase % 2 == 0 ? 0.2 : 0.1);
  else
    view.zoom(1 / 1.25);
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  std::vector<Subject> subjects;
  for (int i = 1; i < argc; ++i) {
    auto graph = open_graph({.path = argv[i]});
    auto snapshot = graph ? make_snapshot(*std::move(graph), {}) : tl::unexpected(graph.error());
    if (!snapshot) {
      fmt::print(stderr, "{}\n", snapshot.error().message);
      return 3;
    }
    Subject subject{.path = argv[i]};
    subject.document = std::make_unique<Document>(OpenRequest{.path = argv[i]}, *snapshot);
    subject.view = std::make_unique<TimelineView>(*subject.document);
    subject.view->resize(1600, 1000);
    subject.view->show();
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
    fmt::print("{}\"{}\": {{\"median_ms\": {:.3f}, \"p95_ms\": {:.3f}}}", i == 0 ? "" : ", ",
               subjects[i].path, percentile(subjects[i].frames, 0.5),
               percentile(subjects[i].frames, 0.95));
  fmt::print("}}\n");
  return 0;
}

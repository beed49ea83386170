#include "app/desktop/graph_menu.h"

#include <QFileDialog>
#include <QFileInfo>

#include "core/base/counted.h"
#include "core/bench/calibrate.h"
#include "core/capture/measurement_file.h"
#include "core/cost/measured.h"
#include "views/session/open/go_to.h"
#include "views/session/text/node_text.h"
#include "views/session/work/task.h"
#include "views/spmd/spmd_dialog.h"
#include "views/widgets/controls.h"
#include "views/window/estimates_dialog.h"

namespace jointer::desktop {

using namespace views;

GraphMenu::GraphMenu(const MenuContext& context) : context_(context) {
  QMenu* menu = context_.bar.addMenu(tr("&Graph"));
  const auto add = context_.adder(menu, this);
  add(tr("&Run Benchmark"), {QKeySequence(Qt::CTRL | Qt::Key_R)}, Needs::document,
      [this] { run_benchmark(&Benchmarks::run); });
  add(tr("&Cancel Benchmark"), {QKeySequence(Qt::CTRL | Qt::Key_Period)}, Needs::run, [this] {
    if (Session* session = context_.documents.session()) session->benchmarks().cancel();
  });
  add(tr("Ca&librate Estimates"), {}, Needs::document,
      [this] { run_benchmark(&Benchmarks::calibrate); });
  menu->addSeparator();
  add(tr("&Import Profiler Trace or Memory Snapshot..."), {}, Needs::document,
      &GraphMenu::choose_measurement);
  add(tr("C&heck Against Other Ranks..."), {}, Needs::document, &GraphMenu::check_ranks);
  add(tr("&Estimates..."), {}, Needs::document, [this] {
    auto* dialog = new EstimatesDialog(*context_.documents.document(), &context_.window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
  });
  connect(&context_.documents, &Documents::loaded, this, &GraphMenu::follow);
}

void GraphMenu::follow(const DocumentTab* tab) {
  Document* document = tab->document();
  const Benchmarks* benchmarks = &tab->session()->benchmarks();
  connect(
      benchmarks, &Benchmarks::calibrated, this,
      [this, document](const MeasurementPtr& measurement) { store_costs(*document, measurement); });
  connect(benchmarks, &Benchmarks::message_changed, this, [this, document, benchmarks] {
    if (benchmarks->message_is_error())
      return context_.status.warn_about(*document, benchmarks->message());
    context_.status.say(benchmarks->message());
  });
}

// Starts the run and brings the Benchmark pane to the front, since it shows the progress.
void GraphMenu::run_benchmark(void (Benchmarks::*start)()) {
  Session* session = context_.documents.session();
  if (session == nullptr) return;
  context_.panes.bring_up(QStringLiteral("benchmark"));
  (session->benchmarks().*start)();
}

void GraphMenu::choose_measurement() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      &context_.window, tr("Import Profiler Trace or Memory Snapshot"), context_.folder.path,
      tr("Measurements (*.json *.json.gz *.json.zst *.pickle *.pkl);;All files (*)"));
  if (paths.isEmpty()) return;
  context_.folder.remember(paths.front());
  for (const QString& path : paths) import_measurement(path);
}

// Reads the file on a worker thread, since reading can take a while.
void GraphMenu::import_measurement(const QString& path) {
  Document* document = context_.documents.document();
  if (document == nullptr) return;
  context_.status.say(tr("Reading %1...").arg(QFileInfo(path).fileName()));
  const auto read = [path, snapshot = document->shared_snapshot()] {
    return read_measurement(snapshot->graph, path.toStdString());
  };
  run_in_background(document, read, [this, document](const Result<Measurement>& read_one) {
    if (read_one) {
      document->add_import(std::make_shared<const Measurement>(*read_one));
      context_.status.say(
          tr("Showing %1 alongside the estimates.").arg(to_qstring(read_one->label)));
      return;
    }
    show_warning(tr("Import"), to_qstring(read_one.error().message), &context_.window);
  });
}

// Stores the measured costs in the cost database and switches the estimates to the device on which
// they were measured.
void GraphMenu::store_costs(Document& document, const MeasurementPtr& measurement) {
  const auto work = [snapshot = document.shared_snapshot(), measurement] {
    return store(snapshot->graph, *measurement);
  };
  run_in_background(
      &document, work, [this, &document, measurement](const Result<CostSamples>& stored) {
        if (!stored) return context_.status.warn(to_qstring(stored.error().message));
        context_.status.say(
            tr("Saved measured costs of %1 and %2 on %3; estimates now use them.")
                .arg(to_qstring(counted(stored->nodes.size(), "distinct call")),
                     to_qstring(counted(stored->collectives.size(), "distinct collective")),
                     to_qstring(measurement->device)));
        AnalysisOptions options = document.wanted_options();
        const EstimatorRequest measured = measured_on(measurement->device);
        options.estimator.name = measured.name;
        options.estimator.device = measured.device;
        emit document.costs_changed();
        document.analyze_with(options);
      });
}

void GraphMenu::check_ranks() {
  Document* document = context_.documents.document();
  if (document == nullptr) return;
  auto* dialog = new SpmdDialog(*document, &context_.window);
  connect(dialog, &SpmdDialog::node_activated, document, [this, document](NodeId node) {
    if (!document->has(node)) return;
    go_to(*document, node);
    context_.documents.with_timeline([](TimelineView& view) { view.range().show_selection(); });
  });
  dialog->show();
}

}  // namespace jointer::desktop

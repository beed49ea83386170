// MainWindow's menus and the commands behind their entries.

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QMessageBox>
#include <QStatusBar>
#include <algorithm>
#include <array>

#include "app/desktop/main_window.h"
#include "app/desktop/main_window_action.h"
#include "core/base/resources.h"
#include "core/bench/calibrate.h"
#include "core/capture/measurement_file.h"
#include "core/cost/measured.h"
#include "core/open/readers.h"
#include "core/report/export.h"
#include "views/find/find_bar.h"
#include "views/graph/graph_view.h"
#include "views/palette/command_palette.h"
#include "views/palette/keys_help.h"
#include "views/sac/sac_table.h"
#include "views/session/open/open_requests.h"
#include "views/session/work/task.h"

namespace jointer::desktop {
namespace {

using namespace views;

const QString kFindHistory = QStringLiteral("find/history");
const QString kFirstSample = QStringLiteral("samples/llama_8b_tp2_fsdp2.joint.json.zst");

struct ExportFormat {
  const char* title;
  const char* format;
  const char* suffix;
  std::string (*write)(const Graph& graph, const Analysis& analysis);
};
constexpr std::array kFormats{
    ExportFormat{QT_TRANSLATE_NOOP("MainWindow", "Perfetto Trace..."), "perfetto", ".perfetto.json",
                 export_perfetto},
    ExportFormat{QT_TRANSLATE_NOOP("MainWindow", "Node Table (CSV)..."), "csv", ".csv", export_csv},
    ExportFormat{QT_TRANSLATE_NOOP("MainWindow", "Report (Markdown)..."), "markdown", ".md",
                 export_markdown},
    ExportFormat{QT_TRANSLATE_NOOP("MainWindow", "FX Text (print_readable)..."), "fx-text", ".txt",
                 export_fx_text},
    ExportFormat{QT_TRANSLATE_NOOP("MainWindow", "Graphviz (DOT)..."), "dot", ".dot", export_dot},
};

// The filter of file dialogs, made from the readers.
QString file_filter() {
  QStringList patterns;
  for (const GraphReader* reader : graph_readers())
    patterns +=
        QString::fromUtf8(reader->pattern.data(), static_cast<qsizetype>(reader->pattern.size()));
  return MainWindow::tr("Graphs (%1);;All files (*)").arg(patterns.join(u' '));
}

}  // namespace

// --- File ---

void MainWindow::make_file_menu() {
  QMenu* menu = menus_->addMenu(tr("&File"));
  add_action(menu, tr("&Open..."), {QKeySequence::Open}, Needs::nothing, &MainWindow::choose_files);
  add_action(menu, tr("Open &Pair..."), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O)},
             Needs::nothing, &MainWindow::choose_pair);
  add_action(menu, tr("Open &Folder of Logs..."), {}, Needs::nothing, &MainWindow::choose_folder);
  fill_sample_menu(menu->addMenu(tr("Open &Sample")));
  recent_menu_ = menu->addMenu(tr("Open &Recent"));
  menu->addSeparator();
  add_action(menu, tr("&Save"), {QKeySequence::Save}, Needs::document, &MainWindow::save_workspace);
  add_action(menu, tr("Save &As..."), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S)},
             Needs::document, &MainWindow::save_workspace_as);
  add_action(menu, tr("Re&load"), {QKeySequence(Qt::Key_F5)}, Needs::document, &MainWindow::reload);
  QMenu* exports = menu->addMenu(tr("&Export"));
  fill_export_menu(exports);
  add_recipe_actions(menu);
  menu->addSeparator();
  add_action(menu, tr("&Close"), {QKeySequence(Qt::CTRL | Qt::Key_W)}, Needs::nothing,
             [this] { close_tab(tabs_->currentIndex()); });
  add_action(menu, tr("&Quit"), {QKeySequence(Qt::CTRL | Qt::Key_Q)}, Needs::nothing,
             &QWidget::close);
}

void MainWindow::fill_recent_menu() {
  recent_menu_->clear();
  const QStringList entries = recent_.list();
  for (const QString& entry : entries) {
    QAction* action = recent_menu_->addAction(RecentFiles::label(entry));
    action->setStatusTip(RecentFiles::forward_of(entry));
    connect(action, &QAction::triggered, this, [this, entry] { open_recent(entry); });
  }
  if (!entries.isEmpty()) {
    recent_menu_->addSeparator();
    connect(recent_menu_->addAction(tr("Clear List")), &QAction::triggered, &recent_,
            &RecentFiles::clear);
  }
  recent_menu_->setEnabled(!entries.isEmpty());
  empty_page_->set_recent(entries);
}

void MainWindow::fill_sample_menu(QMenu* menu) {
  const QDir folder(QString::fromStdString(find_resource("samples")));
  for (const QString& name : folder.entryList({QStringLiteral("*.json.zst")}, QDir::Files)) {
    const QString path = folder.filePath(name);
    connect(menu->addAction(name.chopped(9)), &QAction::triggered, this,
            [this, path] { open({.path = path.toStdString()}); });
  }
  menu->setEnabled(!menu->isEmpty());
}

void MainWindow::fill_export_menu(QMenu* menu) {
  for (const ExportFormat& format : kFormats)
    add_action(menu, QCoreApplication::translate("MainWindow", format.title), {}, Needs::document,
               [this, &format] {
                 export_as(QString::fromLatin1(format.format), QString::fromLatin1(format.suffix));
               });
  menu->addSeparator();
  add_action(menu, tr("Window Picture (PNG)..."), {}, Needs::nothing, &MainWindow::save_picture);
}

void MainWindow::choose_files() {
  const QStringList paths =
      QFileDialog::getOpenFileNames(this, tr("Open graphs"), last_folder_, file_filter());
  if (paths.isEmpty()) return;
  last_folder_ = QFileInfo(paths.front()).absolutePath();
  open_all(requests_for(paths));
}

void MainWindow::choose_pair() {
  const QString forward =
      QFileDialog::getOpenFileName(this, tr("Forward graph"), last_folder_, file_filter());
  if (forward.isEmpty()) return;
  last_folder_ = QFileInfo(forward).absolutePath();
  const QString backward = QFileDialog::getOpenFileName(
      this, tr("Backward graph of %1").arg(QFileInfo(forward).fileName()), last_folder_,
      file_filter());
  if (!backward.isEmpty())
    open({.path = forward.toStdString(), .backward = backward.toStdString()});
}

void MainWindow::choose_folder() {
  const QString path =
      QFileDialog::getExistingDirectory(this, tr("Folder of TORCH_TRACE logs"), last_folder_);
  if (path.isEmpty()) return;
  last_folder_ = path;
  open({.path = path.toStdString()});
}

void MainWindow::open_sample() {
  const std::string path = find_resource(kFirstSample.toStdString());
  if (path.empty()) return say(tr("The samples are not installed."));
  open({.path = path});
}

void MainWindow::open_recent(const QString& entry) {
  open({.path = RecentFiles::forward_of(entry).toStdString(),
        .backward = RecentFiles::backward_of(entry).toStdString()});
}

void MainWindow::export_as(const QString& format, const QString& suffix) {
  const DocumentTab* tab = current_tab();
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Export"), QDir(last_folder_).filePath(tab->document()->title() + suffix),
      QStringLiteral("*%1").arg(suffix));
  if (path.isEmpty()) return;
  last_folder_ = QFileInfo(path).absolutePath();
  const auto* chosen = std::find_if(kFormats.begin(), kFormats.end(),
                                    [&](const ExportFormat& f) { return format == f.format; });
  say(tr("Writing %1...").arg(QFileInfo(path).fileName()));
  // Writing the trace of a large graph takes a while; the snapshot is immutable.
  const auto write = [path, snapshot = tab->document()->shared_snapshot(),
                      to_text = chosen->write] {
    return write_bytes(path.toStdString(), to_text(snapshot->graph, snapshot->analysis));
  };
  run_in_background(this, write, [this, path](const Result<void>& written) {
    if (written) return say(tr("Wrote %1").arg(QDir::toNativeSeparators(path)));
    auto* box =
        new QMessageBox(QMessageBox::Warning, tr("Export"),
                        QString::fromStdString(written.error().message), QMessageBox::Ok, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
  });
}

void MainWindow::save_picture() {
  // Taken before the dialog opens, which would be in the picture.
  const QPixmap picture = grab();
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Picture of the window"), QDir(last_folder_).filePath(QStringLiteral("jointer.png")),
      QStringLiteral("*.png"));
  if (path.isEmpty()) return;
  say(picture.save(path) ? tr("Wrote %1").arg(QDir::toNativeSeparators(path))
                         : tr("Could not write %1").arg(QDir::toNativeSeparators(path)));
}

// --- Edit ---

void MainWindow::make_edit_menu() {
  QMenu* menu = menus_->addMenu(tr("&Edit"));
  add_edit_actions(menu);
  menu->addSeparator();
  add_action(menu, tr("Copy &Report as Markdown"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C)},
             Needs::document, &MainWindow::copy_report);
  menu->addSeparator();
  add_action(menu, tr("&Find..."), {QKeySequence::Find, QKeySequence(Qt::Key_Slash)},
             Needs::document, &MainWindow::show_find_bar);
  const auto walk = [this](void (FindBar::*step)()) {
    if (FindBar* bar = current_tab() == nullptr ? nullptr : current_tab()->findChild<FindBar*>())
      (bar->*step)();
  };
  add_action(menu, tr("Find &Next"), {QKeySequence(Qt::Key_F3)}, Needs::document,
             [walk] { walk(&FindBar::next); });
  add_action(menu, tr("Find &Previous"), {QKeySequence(Qt::SHIFT | Qt::Key_F3)}, Needs::document,
             [walk] { walk(&FindBar::previous); });
  add_action(menu, tr("&Clear Selection"), {QKeySequence(Qt::Key_Escape)}, Needs::document,
             &MainWindow::escape);
}

void MainWindow::copy_report() {
  const Document* document = current_document();
  if (document == nullptr) return;
  QApplication::clipboard()->setText(
      QString::fromStdString(export_markdown(document->graph(), document->analysis())));
  say(tr("The report was copied to the clipboard."));
}

void MainWindow::show_find_bar() {
  DocumentTab* tab = current_tab();
  if (tab == nullptr || tab->document() == nullptr) return;
  auto* bar = tab->findChild<FindBar*>();
  if (bar == nullptr) {
    bar = new FindBar(*tab->document(), tab);
    bar->set_history(settings_.value(kFindHistory).toStringList());
    connect(bar, &FindBar::history_changed, this,
            [this, bar] { settings_.setValue(kFindHistory, bar->history()); });
    connect(bar, &FindBar::closed, tab->timeline(), qOverload<>(&QWidget::setFocus));
    tab->insert_bar(bar);
  }
  bar->open();
}

// Escape drops a held node first, then closes overlays, then clears the selection.
void MainWindow::escape() {
  const DocumentTab* tab = current_tab();
  if (tab == nullptr || tab->document() == nullptr) return;
  MovePlanner& planner = tab->document()->editing().planner();
  planner.cancel();
  if (planner.held() != nullptr || planner.is_taking()) return planner.give_up();
  if (auto* bar = tab->findChild<FindBar*>(); bar != nullptr && bar->isVisible()) {
    bar->close_bar();
    return;
  }
  tab->document()->selection().clear();
  tab->document()->selection().set_stretch(std::nullopt);
  tab->document()->selection().set_moment(std::nullopt);
}

// --- View ---

void MainWindow::make_view_menu() {
  QMenu* menu = menus_->addMenu(tr("&View"));
  add_action(menu, tr("Zoom to &Whole Step"), {QKeySequence(Qt::Key_F)}, Needs::document,
             [this] { with_timeline([](TimelineView& view) { view.fit(); }); });
  add_action(menu, tr("Zoom to &Selection"), {QKeySequence(Qt::Key_Z)}, Needs::document,
             [this] { with_timeline([](TimelineView& view) { view.show_selection(); }); });
  add_action(menu, tr("Toggle Program Order and &Time"), {QKeySequence(Qt::Key_G)}, Needs::document,
             [this] { with_timeline([](TimelineView& view) { view.next_axis_kind(); }); });
  menu->addSeparator();
  panes_menu_ = menu->addMenu(tr("&Panes"));
  for (PaneDock* dock : docks_) panes_menu_->addAction(dock->seen_action());
  add_action(menu, tr("&Reset Layout"), {}, Needs::document, &MainWindow::place_docks);
  fill_theme_menu(menu->addMenu(tr("&Theme")));
}

void MainWindow::fill_theme_menu(QMenu* menu) {
  auto* group = new QActionGroup(this);
  const QString chosen =
      settings_.value(QStringLiteral("theme"), to_string(ThemeChoice::system)).toString();
  const auto add = [&](const QString& text, ThemeChoice choice) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    action->setChecked(to_string(choice) == chosen);
    group->addAction(action);
    connect(action, &QAction::triggered, this, [this, choice] {
      settings_.setValue(QStringLiteral("theme"), to_string(choice));
      apply_theme(*qApp, choice);
    });
  };
  add(tr("&System"), ThemeChoice::system);
  add(tr("&Light"), ThemeChoice::light);
  add(tr("&Dark"), ThemeChoice::dark);
}

// --- Graph ---

void MainWindow::make_graph_menu() {
  QMenu* menu = menus_->addMenu(tr("&Graph"));
  add_action(menu, tr("&Run Benchmark"), {QKeySequence(Qt::CTRL | Qt::Key_R)}, Needs::document,
             [this] { run_benchmark(&Benchmarks::run); });
  add_action(menu, tr("&Cancel Benchmark"), {QKeySequence(Qt::CTRL | Qt::Key_Period)}, Needs::run,
             [this] {
               if (Session* session = current_session()) session->benchmarks().cancel();
             });
  add_action(menu, tr("Ca&librate Estimates"), {}, Needs::document,
             [this] { run_benchmark(&Benchmarks::calibrate); });
  menu->addSeparator();
  add_action(menu, tr("&Import Profiler Trace or Memory Snapshot..."), {}, Needs::document,
             &MainWindow::choose_measurement);
  add_action(menu, tr("C&heck Against Other Ranks..."), {}, Needs::document,
             &MainWindow::check_ranks);
}

void MainWindow::choose_measurement() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      this, tr("Profiler traces and CUDA memory snapshots"), last_folder_,
      tr("Measurements (*.json *.json.gz *.pickle *.pkl);;All files (*)"));
  if (paths.isEmpty()) return;
  last_folder_ = QFileInfo(paths.front()).absolutePath();
  for (const QString& path : paths) import_measurement(path);
}

// Runs on a working thread, since reading a trace takes a while.
void MainWindow::import_measurement(const QString& path) {
  Document* document = current_document();
  if (document == nullptr) return;
  say(tr("Reading %1...").arg(QFileInfo(path).fileName()));
  const auto read = [path, snapshot = document->shared_snapshot()] {
    return read_measurement(snapshot->graph, path.toStdString());
  };
  run_in_background(document, read, [this, document](const Result<Measurement>& read_one) {
    if (read_one) {
      document->add_import(std::make_shared<const Measurement>(*read_one));
      say(tr("Showing %1 with the estimates.").arg(QString::fromStdString(read_one->label)));
      return;
    }
    auto* box =
        new QMessageBox(QMessageBox::Warning, tr("Import"),
                        QString::fromStdString(read_one.error().message), QMessageBox::Ok, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
  });
}

// Stores the costs in the database and switches the estimates to the device's own.
void MainWindow::keep_costs(Document& document, const MeasurementPtr& measurement) {
  const auto work = [snapshot = document.shared_snapshot(), measurement] {
    return store(snapshot->graph, *measurement);
  };
  run_in_background(
      &document, work, [this, &document, measurement](const Result<CostSamples>& stored) {
        if (!stored) return say(QString::fromStdString(stored.error().message));
        say(tr("Saved the costs of %1 operators and %2 collectives on %3; estimates now use them.")
                .arg(stored->nodes.size())
                .arg(stored->collectives.size())
                .arg(QString::fromStdString(measurement->device)));
        AnalysisOptions options = document.analysis().options;
        options.estimator = measured_on(measurement->device);
        emit document.costs_changed();
        document.analyze_with(options);
      });
}

// Brings the pane to the front, since it shows the progress.
void MainWindow::run_benchmark(void (Benchmarks::*start)()) {
  Session* session = current_session();
  if (session == nullptr) return;
  PaneDock* pane = dock(QStringLiteral("benchmark"));
  pane->show();
  pane->raise();
  (session->benchmarks().*start)();
}

// --- Go ---

void MainWindow::make_go_menu() {
  QMenu* menu = menus_->addMenu(tr("&Go"));
  add_action(menu, tr("Go to &Node or Module..."), {QKeySequence(Qt::CTRL | Qt::Key_P)},
             Needs::document, [this] { open_palette(QStringLiteral("@")); });
  add_action(menu, tr("Go to &Peak"), {QKeySequence(Qt::Key_P)}, Needs::document,
             [this] { with_timeline([](TimelineView& view) { view.show_peak(); }); });
  add_action(menu, tr("Next &Along Flow"), {QKeySequence(Qt::Key_BracketRight)}, Needs::document,
             [this] { with_timeline([](TimelineView& view) { view.follow_flow(true); }); });
  add_action(menu, tr("Previous Along &Flow"), {QKeySequence(Qt::Key_BracketLeft)}, Needs::document,
             [this] { with_timeline([](TimelineView& view) { view.follow_flow(false); }); });
  add_action(menu, tr("Next &Exposed Collective"), {QKeySequence(Qt::Key_E)}, Needs::document,
             [this] { with_timeline([](TimelineView& view) { view.step_exposed(1); }); });
  add_action(menu, tr("Previous E&xposed Collective"), {QKeySequence(Qt::SHIFT | Qt::Key_E)},
             Needs::document,
             [this] { with_timeline([](TimelineView& view) { view.step_exposed(-1); }); });
  add_action(menu, tr("&Mark This Moment"), {QKeySequence(Qt::Key_M)}, Needs::document,
             [this] { with_timeline([](TimelineView& view) { view.toggle_mark(); }); });
  menu->addSeparator();
  int number = 0;
  for (PaneDock* dock : docks_)
    add_action(menu, tr("Go to %1").arg(dock->windowTitle()),
               {QKeySequence(QStringLiteral("Alt+%1").arg(++number % 10))}, Needs::document,
               [dock] {
                 dock->show();
                 dock->raise();
                 dock->widget()->setFocus();
               });
  menu->addSeparator();
  const auto go_to_tab = [this](int step) {
    if (const int n = tabs_->count(); n > 0)
      tabs_->setCurrentIndex((tabs_->currentIndex() + step + n) % n);
  };
  add_action(menu, tr("&Next Document"), {QKeySequence(Qt::CTRL | Qt::Key_PageDown)},
             Needs::nothing, [go_to_tab] { go_to_tab(1); });
  add_action(menu, tr("P&revious Document"), {QKeySequence(Qt::CTRL | Qt::Key_PageUp)},
             Needs::nothing, [go_to_tab] { go_to_tab(-1); });
}

// --- Help ---

void MainWindow::make_help_menu() {
  QMenu* menu = menus_->addMenu(tr("&Help"));
  QAction* palette =
      add_action(menu, tr("&Commands..."), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P)},
                 Needs::nothing, [this] { open_palette({}); });
  add_action(menu, tr("&Keys..."), {QKeySequence(Qt::Key_Question)}, Needs::nothing,
             &MainWindow::show_keys);
  menu->addSeparator();
  add_action(menu, tr("&About Jointer"), {}, Needs::nothing, &MainWindow::show_about);

  search_->setText(tr("Search or run a command   %1")
                       .arg(palette->shortcut().toString(QKeySequence::NativeText)));
  connect(search_, &QToolButton::clicked, palette, &QAction::trigger);
}

void MainWindow::open_palette(const QString& text) {
  if (palette_ == nullptr) {
    palette_ = new CommandPalette(this);
    connect(palette_, &CommandPalette::node_chosen, this, [this](NodeId /*node*/) {
      with_timeline([](TimelineView& view) { view.show_selection(); });
    });
  }
  palette_->set_actions(findChildren<QAction*>());
  palette_->set_document(current_document());
  palette_->open(text);
}

void MainWindow::show_keys() {
  QList<KeysGroup> groups;
  for (const QAction* menu : menus_->actions())
    groups.append(keys_of(menu->text().remove(u'&'), menu->menu()->actions()));
  groups.append(GraphView::keys());
  groups.append(TimelineView::keys());
  groups.append(SacTable::keys());
  groups.append(StepList::keys());
  auto* help = new KeysHelp(groups, this);
  help->setAttribute(Qt::WA_DeleteOnClose);
  help->show();
}

void MainWindow::show_about() {
  QMessageBox::about(
      this, tr("About Jointer"),
      tr("<b>Jointer %1</b><p>A workbench for PyTorch joint graphs: where memory peaks, which "
         "communication is exposed, and what can be done about it.</p><p>Times are estimates from "
         "device descriptions unless they are marked as measured.</p>")
          .arg(QApplication::applicationVersion()));
}

}  // namespace jointer::desktop

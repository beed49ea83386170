#include "app/desktop/main_window.h"

#include <QCloseEvent>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QPointer>
#include <QSignalBlocker>
#include <QStatusBar>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "app/desktop/panes.h"
#include "core/capture/measurement_file.h"
#include "core/pass/pipeline_file.h"
#include "core/workspace/workspace_capture.h"
#include "views/graph/graph_pane.h"
#include "views/session/open/open_requests.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/tables/table_pane.h"
#include "views/window/facts_popup.h"
#include "views/window/graph_chooser.h"
#include "views/window/scoreboard.h"

namespace jointer::desktop {
namespace {

using namespace views;

constexpr int kStateVersion = 7;
constexpr int kMessageMs = 8000;

QWidget* make_scoreboard(Session& session) {
  return new Scoreboard(session.document());
}

QStringList dropped_files(const QMimeData* data) {
  QStringList paths;
  for (const QUrl& url : data->urls())
    if (url.isLocalFile()) paths.append(url.toLocalFile());
  return paths;
}

}  // namespace

MainWindow::MainWindow(QSettings& settings, AnalysisOptions analysis, BenchmarkService& service,
                       BenchmarkHistory history, QWidget* parent)
    : QMainWindow(parent),
      settings_(settings),
      analysis_(std::move(analysis)),
      service_(service),
      history_(std::move(history)),
      passes_(settings),
      recent_(settings) {
  setWindowTitle(QStringLiteral("Jointer"));
  setAcceptDrops(true);
  setDockOptions(AllowNestedDocks | AllowTabbedDocks | AnimatedDocks);
  resize(1600, 1000);

  make_top();
  center_ = new QStackedWidget(this);
  empty_page_ = new EmptyPage(center_);
  center_->addWidget(empty_page_);
  setCentralWidget(center_);
  connect(tabs_, &QTabBar::currentChanged, this, &MainWindow::take_tab);
  connect(empty_page_, &EmptyPage::open_requested, this, &MainWindow::choose_files);
  connect(empty_page_, &EmptyPage::sample_requested, this, &MainWindow::open_sample);
  connect(empty_page_, &EmptyPage::file_requested, this, &MainWindow::open_recent);

  make_docks();
  make_file_menu();
  make_edit_menu();
  make_view_menu();
  make_graph_menu();
  make_passes_menu();
  make_go_menu();
  make_help_menu();
  make_status_bar();
  connect(&recent_, &RecentFiles::changed, this, &MainWindow::fill_recent_menu);
  fill_recent_menu();

  restoreGeometry(settings_.value(QStringLiteral("window/geometry")).toByteArray());
  place_docks();
  restoreState(settings_.value(QStringLiteral("window/state")).toByteArray(), kStateVersion);
  show_docks(false);
  take_tab(-1);
}

// Tabs go before the docks, whose panes show their documents.
MainWindow::~MainWindow() {
  tabs_->disconnect(this);
  for (int i = 0; i < tabs_->count(); ++i) delete tab_at(i);
}

// The menus, tabs and scoreboard, which stay at the top of the window above the docks.
void MainWindow::make_top() {
  auto* top = new QWidget(this);
  auto* column = new QVBoxLayout(top);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(0, 2, 8, 2);
  menus_ = new QMenuBar(top);
  search_ = new QToolButton(top);
  search_->setObjectName(QStringLiteral("search"));
  search_->setMinimumSize(260, 22);
  search_->setFocusPolicy(Qt::NoFocus);
  row->addWidget(menus_, 1);
  row->addWidget(search_);
  column->addLayout(row);
  tabs_ = new QTabBar(top);
  tabs_->setDocumentMode(true);
  tabs_->setDrawBase(true);
  tabs_->setMovable(true);
  tabs_->setExpanding(false);
  tabs_->setElideMode(Qt::ElideMiddle);
  column->addWidget(tabs_);
  scoreboards_ = new DocumentStack(make_scoreboard, top);
  column->addWidget(scoreboards_);
  setMenuWidget(top);
}

// --- Documents ---

void MainWindow::open(const OpenRequest& request) {
  if (request.backward.empty() && is_workspace_file(request.path))
    open_workspace(request);
  else
    open_tab(request, analysis_);
}

void MainWindow::open_tab(const OpenRequest& request, const AnalysisOptions& analysis,
                          std::optional<SavedWork> found) {
  const auto make_session = [this](const OpenRequest& source, SnapshotPtr snapshot) {
    return std::make_unique<Session>(source, std::move(snapshot),
                                     SessionServices{.benchmarks = service_,
                                                     .history = history_,
                                                     .passes = passes_,
                                                     .journal_folder = journal_folder_});
  };
  auto* tab = new DocumentTab(request, analysis, make_session, center_);
  if (found) found_.emplace(tab, *std::move(found));
  connect(tab, &DocumentTab::ready, this, [this, tab] { tab_ready(tab); });
  connect(tab, &DocumentTab::several, this,
          [this, tab](const std::vector<GraphEntry>& entries, const Error& error) {
            choose_graph(tab, entries);
            emit choosing(tab, error);
          });
  connect(tab, &DocumentTab::failed, this,
          [this, tab](const Error& error) { tab_failed(tab, error); });
  connect(tab, &DocumentTab::cancelled, this, [this, tab] { close_tab(index_of(tab)); });
  connect(tab, &DocumentTab::open_requested, this, &MainWindow::choose_files);
  center_->addWidget(tab);
  tab->load();
  const QSignalBlocker quiet(tabs_);  // a first tab becomes current before its data is set
  const int index = tabs_->addTab(QString());
  tabs_->setTabData(index, QVariant::fromValue<QObject*>(tab));
  auto* close = new QToolButton(tabs_);
  close->setText(QStringLiteral("\u00d7"));
  close->setAutoRaise(true);
  close->setToolTip(tr("Close"));
  close->setFixedSize(20, 20);
  connect(close, &QToolButton::clicked, this, [this, tab] { close_tab(index_of(tab)); });
  tabs_->setTabButton(index, QTabBar::RightSide, close);
  tabs_->setCurrentIndex(index);
  refresh_tab_texts(tab);
  take_tab(index);
}

void MainWindow::open_all(const std::vector<OpenRequest>& requests) {
  for (const OpenRequest& request : requests) open(request);
}

DocumentTab* MainWindow::current_tab() const {
  return tab_at(tabs_->currentIndex());
}

DocumentTab* MainWindow::tab_at(int index) const {
  return qobject_cast<DocumentTab*>(tabs_->tabData(index).value<QObject*>());
}

int MainWindow::index_of(const DocumentTab* tab) const {
  int index = tabs_->count() - 1;
  while (index >= 0 && tab_at(index) != tab) --index;
  return index;
}

QStringList MainWindow::pane_names() {
  QStringList names;
  for (const PaneKind& kind : pane_kinds()) names << QString::fromLatin1(kind.name);
  return names;
}

PaneDock* MainWindow::dock(const QString& name) const {
  const auto found = std::ranges::find(docks_, name, &PaneDock::objectName);
  return found == docks_.end() ? nullptr : *found;
}

Document* MainWindow::current_document() const {
  const DocumentTab* tab = current_tab();
  return tab == nullptr ? nullptr : tab->document();
}

Session* MainWindow::current_session() const {
  const DocumentTab* tab = current_tab();
  return tab == nullptr ? nullptr : tab->session();
}

TimelineView* MainWindow::timeline() const {
  const DocumentTab* tab = current_tab();
  return tab == nullptr ? nullptr : tab->timeline();
}

void MainWindow::with_timeline(const std::function<void(TimelineView&)>& action) {
  if (TimelineView* view = timeline()) action(*view);
}

void MainWindow::take_tab(int /*index*/) {
  DocumentTab* tab = current_tab();
  center_->setCurrentWidget(tab == nullptr ? static_cast<QWidget*>(empty_page_) : tab);
  tabs_->setVisible(tab != nullptr);
  Session* session = current_session();
  show_docks(session != nullptr);
  scoreboards_->setVisible(session != nullptr);
  scoreboards_->show_session(session);
  for (PaneDock* dock : docks_) dock->show_session(session);
  refresh_actions();
  refresh_title();
  refresh_status();
}

void MainWindow::refresh_actions() {
  const Session* session = current_session();
  for (QAction* action : document_actions_) action->setEnabled(session != nullptr);
  for (QAction* action : run_actions_)
    action->setEnabled(session != nullptr && session->benchmarks().is_running());
  for (QAction* action : pass_actions_)
    action->setEnabled(session != nullptr && session->pipeline().is_running());
  const Editing* editing = session == nullptr ? nullptr : &session->document().editing();
  for (QAction* action : edited_actions_)
    action->setEnabled(editing != nullptr && editing->is_edited());
  const auto name = [](QAction* action, const QString& verb, const EditStep* step) {
    action->setEnabled(step != nullptr);
    action->setText(step != nullptr ? QStringLiteral("%1 %2").arg(verb, step->title) : verb);
  };
  name(undo_, tr("&Undo"), editing == nullptr ? nullptr : editing->undoable());
  name(redo_, tr("&Redo"), editing == nullptr ? nullptr : editing->redoable());
}

void MainWindow::close_tab(int index) {
  if (DocumentTab* tab = tab_at(index)) {
    tabs_->removeTab(index);
    center_->removeWidget(tab);
    found_.erase(tab);
    tab->deleteLater();
  }
}

void MainWindow::tab_ready(DocumentTab* tab) {
  Document* document = tab->document();
  Benchmarks* benchmarks = &tab->session()->benchmarks();
  connect(benchmarks, &Benchmarks::running_changed, this, &MainWindow::refresh_actions);
  connect(
      benchmarks, &Benchmarks::calibrated, this,
      [this, document](const MeasurementPtr& measurement) { keep_costs(*document, measurement); });
  connect(benchmarks, &Benchmarks::message_changed, this,
          [this, benchmarks] { say(benchmarks->message()); });
  listen_to_edits(tab);
  connect_pipeline(tab->session()->pipeline());
  connect(document, &Document::changed, this, &MainWindow::refresh_status);
  connect(document, &Document::failed, this, &MainWindow::say);
  connect(document, &Document::busy_changed, this, [this](bool busy) {
    if (busy)
      statusBar()->showMessage(tr("Computing memory and time..."));
    else
      statusBar()->clearMessage();
  });
  connect(&document->selection(), &Selection::nodes_changed, this, &MainWindow::refresh_status);
  connect(&document->selection(), &Selection::stretch_changed, this, &MainWindow::refresh_status);
  keep(tab);
  refresh_tab_texts(tab);
  if (tab == current_tab()) take_tab(tabs_->currentIndex());
  emit opened(tab);
}

void MainWindow::tab_failed(DocumentTab* tab, const Error& error) {
  if (tab->document() != nullptr)
    say(tr("Reloading failed: %1").arg(QString::fromStdString(error.message)));
  emit open_failed(tab, error);
}

void MainWindow::choose_graph(DocumentTab* tab, const std::vector<GraphEntry>& entries) {
  auto* chooser = new GraphChooser(tab->title(), entries, this);
  chooser->setAttribute(Qt::WA_DeleteOnClose);
  connect(chooser, &QDialog::accepted, this, [this, chooser, request = tab->request()] {
    if (chooser->compares() != nullptr && chooser->compares()->isChecked())
      connect(
          this, &MainWindow::opened, this, [this] { show_pane(QStringLiteral("compare")); },
          Qt::SingleShotConnection);
    for (const std::size_t index : chooser->chosen()) {
      OpenRequest one = request;
      one.index = index;
      open(one);
    }
  });
  connect(chooser, &QDialog::finished, tab, [this, tab] { close_tab(index_of(tab)); });
  chooser->open();
}

void MainWindow::refresh_tab_texts(DocumentTab* tab) {
  const int index = index_of(tab);
  if (index < 0) return;
  const Autosave* autosave = tab->session() == nullptr ? nullptr : &tab->session()->autosave();
  const bool is_dirty = autosave != nullptr && autosave->is_dirty();
  tabs_->setTabText(index, QString(tab->title()).replace(u'&', QStringLiteral("&&")) +
                               (is_dirty ? QStringLiteral(" *") : QString()));
  QString tip = QDir::toNativeSeparators(QString::fromStdString(tab->request().path));
  if (!tab->request().backward.empty())
    tip += u'\n' + QDir::toNativeSeparators(QString::fromStdString(tab->request().backward));
  if (autosave != nullptr && !autosave->path().isEmpty())
    tip = QDir::toNativeSeparators(autosave->path()) + u'\n' + tip;
  tabs_->setTabToolTip(index, tip);
}

// --- Docks ---

void MainWindow::make_docks() {
  const PaneHost host{.say = [this](const QString& sentence) { say(sentence); },
                      .open = [this](const QString& path) { open({.path = path.toStdString()}); }};
  for (const PaneKind& kind : pane_kinds())
    docks_.push_back(new PaneDock(
        QCoreApplication::translate("MainWindow", kind.title), QString::fromLatin1(kind.name),
        [this, host, make = kind.make](Session& session) {
          QWidget* pane = make(session, host);
          connect_pane(*pane);
          return pane;
        },
        this));
}

void MainWindow::connect_pane(QWidget& pane) {
  QList<TablePane*> tables = pane.findChildren<TablePane*>();
  if (auto* table = qobject_cast<TablePane*>(&pane)) tables << table;
  for (TablePane* table : tables) {
    table->addActions(node_actions_);
    connect(table, &TablePane::node_activated, this, [this](NodeId /*node*/) {
      with_timeline([](TimelineView& view) { view.show_selection(); });
    });
  }
  if (auto* graph = qobject_cast<GraphPane*>(&pane)) graph->view().addAction(why_);
  if (auto* pipeline = qobject_cast<PipelinePane*>(&pane)) connect_pipeline_pane(*pipeline);
}

// The default layout: columns of tabs side by side above the timeline, which takes the full width.
// The graph pane has the middle and most of the space.
void MainWindow::place_docks() {
  std::array<std::map<int, PaneDock*>, kPaneColumns> columns;
  for (const PaneKind& kind : pane_kinds()) {
    PaneDock* pane = dock(QString::fromLatin1(kind.name));
    pane->setFloating(false);
    addDockWidget(Qt::TopDockWidgetArea, pane);
    columns[static_cast<std::size_t>(kind.column)].emplace(kind.tab, pane);
  }
  QList<QDockWidget*> fronts;
  for (const auto& column : columns) fronts << column.begin()->second;
  for (int i = 1; i < fronts.size(); ++i) splitDockWidget(fronts[i - 1], fronts[i], Qt::Horizontal);
  for (const auto& column : columns) {
    PaneDock* before = nullptr;
    for (const auto& [tab, pane] : column) {
      if (before != nullptr) tabifyDockWidget(before, pane);
      before = pane;
    }
  }
  for (PaneDock* dock : docks_) dock->show();
  for (QDockWidget* front : fronts) front->raise();
  const int share = width() / 20;
  resizeDocks(fronts, {share * 5, share * 10, share * 5}, Qt::Horizontal);
  resizeDocks({fronts[1]}, {height() * 2 / 5}, Qt::Vertical);
}

// Without a document panes would be empty frames, so they are hidden and later shown as they were.
void MainWindow::show_docks(bool show) {
  if (show == docks_shown_ && isVisible()) return;
  docks_shown_ = show;
  if (show) {
    // No layout was saved, or it was saved by an incompatible version.
    if (!restoreState(settings_.value(QStringLiteral("window/state")).toByteArray(), kStateVersion))
      place_docks();
  } else {
    if (isVisible()) settings_.setValue(QStringLiteral("window/state"), saveState(kStateVersion));
    for (PaneDock* dock : docks_) dock->hide();
  }
  panes_menu_->setEnabled(show);
}

QMenu* MainWindow::createPopupMenu() {
  auto* menu = new QMenu(this);
  for (PaneDock* dock : docks_) menu->addAction(dock->seen_action());
  return menu;
}

void MainWindow::closeEvent(QCloseEvent* event) {
  settings_.setValue(QStringLiteral("window/geometry"), saveGeometry());
  if (docks_shown_) settings_.setValue(QStringLiteral("window/state"), saveState(kStateVersion));
  event->accept();
}

// --- Drag and drop ---

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!dropped_files(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  event->acceptProposedAction();
  // Measurements are overlaid on the current graph and pipelines are loaded for it; everything else
  // is opened as a graph.
  QStringList graphs;
  for (const QString& path : dropped_files(event->mimeData())) {
    if (current_document() != nullptr && is_pipeline_file(path.toStdString()))
      load_pipeline_file(path);
    else if (current_document() != nullptr && is_measurement_file(path.toStdString()))
      import_measurement(path);
    else
      graphs << path;
  }
  open_all(requests_for(graphs));
}

// --- Status line ---

void MainWindow::make_status_bar() {
  facts_ = new QToolButton(this);
  facts_->setObjectName(QStringLiteral("facts"));
  facts_->setAutoRaise(true);
  facts_->setToolTip(tr("Facts that the capture does not record and that were derived or assumed"));
  connect(facts_, &QToolButton::clicked, this, [this] {
    if (const Document* document = current_document())
      (new FactsPopup(document->graph(), this))->show_above(*facts_);
  });
  connect(statusBar(), &QStatusBar::messageChanged, this, [this](const QString& message) {
    if (message.isEmpty()) refresh_status();
  });
  selection_ = new QLabel(this);
  statusBar()->addWidget(facts_);
  selection_->setContentsMargins(0, 0, 10, 0);
  statusBar()->addPermanentWidget(selection_);
  statusBar()->setSizeGripEnabled(false);
}

void MainWindow::refresh_status() {
  const Document* document = current_document();
  if (document == nullptr) {
    facts_->hide();
    return selection_->clear();
  }
  // A message covers the status line; this is shown again when it disappears.
  if (statusBar()->currentMessage().isEmpty()) facts_->show();
  facts_->setText(graph_summary(document->graph()));
  const auto nodes = document->selection().nodes();
  if (nodes.empty()) return selection_->setText(tr("Nothing selected"));
  std::int64_t bytes = 0, ns = 0;
  for (const NodeId node : nodes) {
    bytes += document->graph().output_bytes(document->graph().node(node));
    ns += document->analysis().costs[node.index()].ns;
  }
  const QString what = nodes.size() == 1 ? to_qstring(document->graph().name(nodes.front()))
                                         : tr("%1 nodes").arg(count_text(nodes.size()));
  selection_->setText(tr("%1: outputs %2, %3").arg(what, bytes_text(bytes), time_text(ns)));
}

void MainWindow::say(const QString& message) {
  statusBar()->showMessage(message, kMessageMs);
}

}  // namespace jointer::desktop

#include "app/desktop/main_window.h"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QMenuBar>
#include <QMimeData>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>

#include "app/desktop/closing.h"
#include "app/desktop/command_search.h"
#include "app/desktop/edit_menu.h"
#include "app/desktop/file_menu.h"
#include "app/desktop/first_minutes.h"
#include "app/desktop/go_menu.h"
#include "app/desktop/graph_menu.h"
#include "app/desktop/help_menu.h"
#include "app/desktop/pane_focus.h"
#include "app/desktop/pass_menu.h"
#include "app/desktop/recipes.h"
#include "app/desktop/status_line.h"
#include "app/desktop/view_menu.h"
#include "app/desktop/window_geometry.h"
#include "app/desktop/workspaces.h"
#include "core/capture/measurement_file.h"
#include "core/pass/pipeline_file.h"
#include "views/sac/sac_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/open/open_requests.h"
#include "views/session/pipeline/pipeline_session.h"
#include "views/session/tune/tune_session.h"
#include "views/session/workspace/autosave.h"
#include "views/tables/table_pane.h"
#include "views/tune/tune_pane.h"
#include "views/widgets/controls.h"
#include "views/widgets/number_keys.h"
#include "views/widgets/undo_keys.h"
#include "views/window/graph_chooser.h"
#include "views/window/scoreboard.h"

namespace jointer::desktop {
namespace {

using namespace views;

const QString kGeometry = QStringLiteral("window/geometry");

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

// The widgets at the top of the window that the parts and the menus use.
struct MainWindow::Top {
  QMenuBar* menus = nullptr;
  QToolButton* search = nullptr;
  QTabBar* tabs = nullptr;
};

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

  const Top top = make_top();
  make_parts(top);
  make_menus(top);
  connect(documents_.get(), &Documents::loaded, this, &MainWindow::follow);
  connect(documents_.get(), &Documents::opened, this, &MainWindow::opened);
  connect(documents_.get(), &Documents::failed, this, &MainWindow::report_failure);
  connect(documents_.get(), &Documents::several, this,
          [this](DocumentTab* tab, const std::vector<GraphEntry>& entries, const Error& error) {
            choose_graph(tab, entries);
            emit choosing(tab, error);
          });
  connect(documents_.get(), &Documents::current_changed, this, &MainWindow::follow_current);
  connect(documents_.get(), &Documents::texts_changed, this, &MainWindow::refresh_title);
  connect(panes_.get(), &PaneDocks::made, this, &MainWindow::connect_pane);

  const QByteArray geometry = settings_.value(kGeometry).toByteArray();
  restore_geometry(*this, geometry);
  panes_->place();
  panes_->restore_layout();
  panes_->set_shown(false);
  restore_geometry(*this, geometry);  // the docks may have enlarged the window
  follow_current();
}

// Closes the documents before the docks, whose panes show them.
MainWindow::~MainWindow() {
  focus_.reset();
  documents_->close_all();
}

MainWindow::Top MainWindow::make_top() {
  Top parts;
  auto* top = new QWidget(this);
  QVBoxLayout* column = make_column(top, {}, 0);
  QHBoxLayout* row = make_row(nullptr, {0, 2, 8, 2});
  parts.menus = new QMenuBar(top);
  parts.search = new QToolButton(top);
  parts.search->setObjectName(QStringLiteral("search"));
  parts.search->setMinimumSize(260, 22);
  parts.search->setFocusPolicy(Qt::TabFocus);
  row->addWidget(parts.menus, 1);
  row->addWidget(parts.search);
  column->addLayout(row);
  parts.tabs = new QTabBar(top);
  parts.tabs->setObjectName(QStringLiteral("documents"));
  parts.tabs->setDocumentMode(true);
  parts.tabs->setDrawBase(true);
  parts.tabs->setMovable(true);
  parts.tabs->setExpanding(false);
  parts.tabs->setElideMode(Qt::ElideMiddle);
  column->addWidget(parts.tabs);
  scoreboards_ = new DocumentStack(make_scoreboard, top);
  column->addWidget(scoreboards_);
  failures_ = new MessageBar(top);
  column->addWidget(failures_);
  setMenuWidget(top);
  return parts;
}

void MainWindow::make_parts(const Top& top) {
  auto* center = new QStackedWidget(this);
  empty_page_ = new EmptyPage(center);
  center->addWidget(empty_page_);
  setCentralWidget(center);
  const auto make_session = [this](const OpenRequest& source, SnapshotPtr snapshot) {
    return std::make_unique<Session>(
        source, std::move(snapshot),
        SessionServices{.benchmarks = service_,
                        .history = history_,
                        .passes = passes_,
                        .documents = open_documents_,
                        .journal_folder = workspaces_->journal_folder()});
  };
  documents_ = std::make_unique<Documents>(*top.tabs, *center, *empty_page_, make_session);
  status_ = std::make_unique<StatusLine>(*statusBar(), *failures_, *documents_);
  panes_ = std::make_unique<PaneDocks>(
      *this, settings_,
      PaneHost{.say = [this](const QString& sentence) { status_->say(sentence); },
               .warn = [this](const QString& sentence) { status_->warn(sentence); },
               .open =
                   [this](const OpenRequest& request, const AnalysisOptions& analysis) {
                     workspaces_->open_made(request, analysis);
                   }});
  focus_ = std::make_unique<PaneFocus>(*this, *documents_, *panes_);
  new NumberKeys(this);
  new UndoKeys(this);
  workspaces_ = std::make_unique<Workspaces>(*this, *documents_, recent_, folder_, analysis_);
  closing_ = std::make_unique<Closing>(*this, *documents_, *workspaces_);
  first_minutes_ = std::make_unique<FirstMinutes>(*documents_, *panes_, settings_);
  connect(workspaces_.get(), &Workspaces::message, status_.get(), &StatusLine::say);
  connect(workspaces_.get(), &Workspaces::failed, status_.get(), &StatusLine::warn);
}

void MainWindow::make_menus(const Top& top) {
  actions_ = std::make_unique<ActionSet>(*this);
  const MenuContext context{.window = *this,
                            .bar = *top.menus,
                            .actions = *actions_,
                            .documents = *documents_,
                            .panes = *panes_,
                            .focus = *focus_,
                            .status = *status_,
                            .folder = folder_};
  recipes_ = std::make_unique<Recipes>(context);
  search_ = std::make_unique<CommandSearch>(*this, *documents_);
  file_menu_ = std::make_unique<FileMenu>(context, *workspaces_, *closing_, *recipes_, recent_);
  edit_menu_ = std::make_unique<EditMenu>(context, settings_);
  view_menu_ = std::make_unique<ViewMenu>(context, settings_);
  graph_menu_ = std::make_unique<GraphMenu>(context);
  pass_menu_ = std::make_unique<PassMenu>(context, passes_, *workspaces_, *recipes_);
  go_menu_ = std::make_unique<GoMenu>(context, *search_);
  help_menu_ = std::make_unique<HelpMenu>(context, *search_, *first_minutes_, *top.search);

  FileMenu* files = file_menu_.get();
  connect(documents_.get(), &Documents::open_requested, files, &FileMenu::choose_files);
  connect(empty_page_, &EmptyPage::open_requested, files, &FileMenu::choose_files);
  connect(empty_page_, &EmptyPage::sample_requested, files, &FileMenu::open_sample);
  connect(empty_page_, &EmptyPage::file_requested, files, &FileMenu::open_recent);
  const auto show_recent = [this] { empty_page_->set_recent(recent_.list()); };
  connect(&recent_, &RecentFiles::changed, empty_page_, show_recent);
  show_recent();
}

// --- Documents ---

void MainWindow::open(const OpenRequest& request) {
  workspaces_->open(request);
}

void MainWindow::open_all(const std::vector<OpenRequest>& requests, const std::string& device) {
  workspaces_->open_all(requests, device);
}

DocumentTab* MainWindow::current_tab() const {
  return documents_->tab();
}

void MainWindow::set_journal_folder(const QString& folder) {
  workspaces_->set_journal_folder(folder);
}

void MainWindow::restore_left(const std::vector<OpenRequest>& asked) {
  workspaces_->restore_left(asked);
}

void MainWindow::follow(DocumentTab* tab) {
  const Session* session = tab->session();
  connect(&session->benchmarks(), &Benchmarks::running_changed, this, &MainWindow::refresh_actions);
  connect(&session->pipeline(), &PipelineSession::changed, this, &MainWindow::refresh_actions);
  connect(&session->document().editing(), &Editing::changed, this, [this, tab] {
    documents_->refresh_texts(tab);
    refresh_actions();
  });
  connect(tab->timeline(), &TimelineView::plan_peak_clicked, this, [this] {
    panes_->bring_up(QStringLiteral("sac"));
    if (auto* sac = panes_->pane<SacPane>(QStringLiteral("sac"))) sac->show_peak();
  });
}

void MainWindow::follow_current() {
  Session* session = documents_->session();
  panes_->set_shown(session != nullptr);
  scoreboards_->setVisible(session != nullptr);
  scoreboards_->show_session(session);
  panes_->show_session(session);
  refresh_actions();
  refresh_title();
}

void MainWindow::refresh_actions() {
  actions_->refresh(documents_->session());
  edit_menu_->refresh();
}

void MainWindow::refresh_title() {
  const Session* session = documents_->session();
  setWindowTitle(session == nullptr ? QStringLiteral("Jointer")
                                    : tr("%1[*] - Jointer").arg(session->document().title()));
  setWindowModified(session != nullptr && session->autosave().is_dirty());
}

void MainWindow::report_failure(DocumentTab* tab, const Error& error) {
  if (tab->document() != nullptr) {
    const QString why = QString::fromStdString(error.message);
    status_->warn(tab == documents_->tab() ? tr("Reloading failed: %1").arg(why)
                                           : tr("Reloading %1 failed: %2").arg(tab->title(), why));
  }
  emit open_failed(tab, error);
}

void MainWindow::choose_graph(DocumentTab* tab, const std::vector<GraphEntry>& entries) {
  auto* chooser = new GraphChooser(tab->title(), entries, this);
  chooser->setAttribute(Qt::WA_DeleteOnClose);
  connect(chooser, &QDialog::accepted, this, [this, chooser, request = tab->request()] {
    if (chooser->compares() != nullptr && chooser->compares()->isChecked())
      connect(
          this, &MainWindow::opened, this, [this] { panes_->bring_up(QStringLiteral("compare")); },
          Qt::SingleShotConnection);
    for (const std::size_t index : chooser->chosen()) {
      OpenRequest one = request;
      one.index = index;
      open(one);
    }
  });
  connect(chooser, &QDialog::finished, tab, [this, tab] { documents_->close(tab); });
  chooser->open();
}

// --- Docks ---

QStringList MainWindow::pane_names() {
  return PaneDocks::names();
}

PaneDock* MainWindow::dock(const QString& name) const {
  return panes_->dock(name);
}

// Connects a pane's tables with the timeline, and the SAC and Tune panes with each other.
void MainWindow::connect_pane(QWidget* pane) {
  QList<TablePane*> tables = pane->findChildren<TablePane*>();
  if (auto* table = qobject_cast<TablePane*>(pane)) tables << table;
  for (const TablePane* table : tables)
    connect(table, &TablePane::node_activated, this, [this](NodeId /*node*/) {
      documents_->with_timeline([](TimelineView& view) { view.range().show_selection(); });
    });
  if (auto* sac = qobject_cast<SacPane*>(pane))
    connect(sac, &SacPane::tune_wanted, this, [this](std::int64_t peak_bytes) {
      documents_->session()->tune().set_limit(peak_bytes);
      panes_->bring_up(QStringLiteral("tune"));
    });
  if (auto* tune = qobject_cast<TunePane*>(pane))
    connect(tune, &TunePane::plan_wanted, this, [this](const ParetoPoint& plan) {
      panes_->bring_up(QStringLiteral("sac"));
      if (auto* sac = panes_->pane<SacPane>(QStringLiteral("sac"))) sac->show_plan(plan);
    });
}

QMenu* MainWindow::createPopupMenu() {
  auto* menu = new QMenu(this);
  panes_->add_actions(*menu);
  return menu;
}

bool MainWindow::focusNextPrevChild(bool next) {
  return (focus_ != nullptr && focus_->step_in_area(next)) || QMainWindow::focusNextPrevChild(next);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!closing_->may_close_window()) return event->ignore();
  settings_.setValue(kGeometry, saveGeometry());
  panes_->save_layout();
  event->accept();
}

// --- Drag and drop ---

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!dropped_files(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  event->acceptProposedAction();
  // If a graph is open, measurements and pipelines are loaded for it. Everything else is opened as
  // a graph or a workspace.
  QStringList graphs;
  const bool has_graph = documents_->document() != nullptr;
  for (const QString& path : dropped_files(event->mimeData())) {
    if (has_graph && is_pipeline_file(path.toStdString()))
      pass_menu_->load_pipeline_file(path);
    else if (has_graph && is_measurement_file(path.toStdString()))
      graph_menu_->import_measurement(path);
    else
      graphs << path;
  }
  open_all(requests_for(graphs));
}

}  // namespace jointer::desktop

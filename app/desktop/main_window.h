#pragma once

#include <QLabel>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "app/desktop/local_passes.h"
#include "core/bench/history.h"
#include "views/palette/command_palette.h"
#include "views/pipeline/code_questions.h"
#include "views/pipeline/pipeline_pane.h"
#include "views/session/benchmark/benchmarks.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/move_planner.h"
#include "views/session/edit/policy_edit.h"
#include "views/session/workspace/autosave.h"
#include "views/theme/theme_choice.h"
#include "views/window/document_tab.h"
#include "views/window/pages.h"
#include "views/window/pane_dock.h"
#include "views/window/recent_files.h"

namespace jointer::desktop {

// The main window: documents as tabs, docked panes that show the current document, menus and the
// status line. It connects parts and contains none of their logic; no part holds a reference to it.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  // `settings` stores the layout, recent files and the theme. `analysis` is used for new documents.
  // `service` runs benchmarks and `history` stores them. `settings` and `service` must outlive the
  // window.
  MainWindow(QSettings& settings, AnalysisOptions analysis, views::BenchmarkService& service,
             BenchmarkHistory history, QWidget* parent = nullptr);
  ~MainWindow() override;
  MainWindow(const MainWindow&) = delete;
  MainWindow& operator=(const MainWindow&) = delete;

  // Opens a graph in a new tab and makes it current.
  void open(const OpenRequest& request);
  void open_all(const std::vector<OpenRequest>& requests);

  // Applies the edits of a recipe that fit the current document and reports the others.
  void apply_recipe(const QString& path);

  [[nodiscard]] views::DocumentTab* current_tab() const;
  [[nodiscard]] int tab_count() const { return tabs_->count(); }
  // Sets where journals of edits are written. With an empty folder, the default, none are written.
  void set_journal_folder(const QString& folder);
  // Reopens documents that were open when the program ended, except those in `asked`: these are
  // restored when they are opened, which has to follow.
  void restore_left(const std::vector<OpenRequest>& asked = {});
  // Object names of the docks: "modules", "sac", ...
  static QStringList pane_names();
  [[nodiscard]] views::PaneDock* dock(const QString& name) const;

 signals:
  // A document was loaded, or failed to load.
  void opened(jointer::views::DocumentTab* tab);
  void open_failed(jointer::views::DocumentTab* tab, const jointer::Error& error);
  // The user is asked which of several graphs to open.
  void choosing(jointer::views::DocumentTab* tab, const jointer::Error& error);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  // The menu of the docks: Qt's default also lists actions that are not shown.
  QMenu* createPopupMenu() override;
  void closeEvent(QCloseEvent* event) override;

 private:
  // When an action is enabled.
  enum class Needs : std::uint8_t { nothing, document, run, passes, undo, redo, edits };
  template <class Slot>
  QAction* add_action(QMenu* menu, const QString& text, const QList<QKeySequence>& keys,
                      Needs needs, Slot slot);

  // Construction, in main_window_actions.cpp.
  void make_file_menu();
  void make_edit_menu();
  void add_edit_actions(QMenu* menu);  // these four are in main_window_edit.cpp
  QMenu* make_policy_menu();
  void add_recipe_actions(QMenu* menu);
  void listen_to_edits(views::DocumentTab* tab);
  void make_view_menu();
  void make_graph_menu();
  void make_passes_menu();  // this and the following ones are in main_window_passes.cpp
  void fill_pass_menu();
  void connect_pipeline(views::PipelineSession& session);
  void connect_pipeline_pane(views::PipelinePane& pane);
  void show_pane(const QString& name);
  void with_pipeline(const std::function<void(views::PipelineSession&)>& action);
  void with_pipeline_pane(std::function<void(views::PipelinePane&)> action);
  void add_pass(const QString& name);
  void load_pipeline_file(const QString& path);
  void open_graph_of_step(const QString& capture, const QString& recipe);
  void make_go_menu();
  void make_help_menu();
  void fill_recent_menu();
  void fill_sample_menu(QMenu* menu);
  void fill_export_menu(QMenu* menu);
  void fill_theme_menu(QMenu* menu);

  void make_top();
  void make_docks();
  void connect_pane(QWidget& pane);
  void make_status_bar();
  void place_docks();
  void show_docks(bool show);

  // Commands.
  void open_tab(const OpenRequest& request, const AnalysisOptions& analysis,
                std::optional<views::SavedWork> found = {});

  // In main_window_workspace.cpp.
  void open_workspace(const OpenRequest& request);
  void open_found(views::SavedWork found, const OpenRequest& request);
  void ask_for_capture(const std::string& path, const Workspace& workspace);
  void keep(views::DocumentTab* tab);
  void restore_found(views::DocumentTab* tab, views::Autosave& autosave);
  void reload();
  void show_restored(views::DocumentTab* tab, const views::SavedWork& found, int edits,
                     const QStringList& refused);
  void save_workspace();
  void save_workspace_as();
  void refresh_title();
  void check_ranks();

  void choose_files();
  void choose_pair();
  void choose_folder();
  void open_sample();
  void open_recent(const QString& entry);
  void export_as(const QString& format, const QString& suffix);
  void save_picture();
  void copy_report();
  void run_benchmark(void (views::Benchmarks::*start)());
  void choose_measurement();
  void import_measurement(const QString& path);
  void keep_costs(views::Document& document, const views::MeasurementPtr& measurement);
  void with_planner(const std::function<void(views::MovePlanner&)>& action);
  void hold_selection();
  void ask_why();
  void set_policy(views::PolicyScope scope, MemoryPolicy policy);
  void change_collectives(bool merge);
  void choose_operator();
  void export_recipe();
  void choose_recipe();
  void show_find_bar();
  void escape();
  void open_palette(const QString& text);
  void show_keys();
  void show_about();

  void take_tab(int index);
  void close_tab(int index);
  void tab_ready(views::DocumentTab* tab);
  void tab_failed(views::DocumentTab* tab, const Error& error);
  void choose_graph(views::DocumentTab* tab, const std::vector<GraphEntry>& entries);
  void refresh_tab_texts(views::DocumentTab* tab);
  void refresh_status();
  void refresh_actions();
  void say(const QString& message);

  [[nodiscard]] views::DocumentTab* tab_at(int index) const;
  [[nodiscard]] int index_of(const views::DocumentTab* tab) const;
  [[nodiscard]] views::Document* current_document() const;
  // Null until its graph has loaded.
  [[nodiscard]] views::Session* current_session() const;
  [[nodiscard]] views::TimelineView* timeline() const;
  void with_timeline(const std::function<void(views::TimelineView&)>& action);

  QSettings& settings_;
  AnalysisOptions analysis_;
  views::BenchmarkService& service_;
  BenchmarkHistory history_;
  LocalPasses passes_;
  views::CodeQuestions* questions_ = nullptr;
  QString journal_folder_;
  std::map<views::DocumentTab*, views::SavedWork> found_;  // while their graphs are loading
  views::RecentFiles recent_;
  QMenuBar* menus_ = nullptr;
  views::CommandPalette* palette_ = nullptr;
  QToolButton* search_ = nullptr;
  QTabBar* tabs_ = nullptr;  // each tab's data is its DocumentTab
  views::DocumentStack* scoreboards_ = nullptr;
  QStackedWidget* center_ = nullptr;
  views::EmptyPage* empty_page_ = nullptr;
  std::vector<views::PaneDock*> docks_;
  std::vector<QAction*> document_actions_;
  std::vector<QAction*> edited_actions_;  // enabled while there are edits
  QList<QAction*> node_actions_;          // for the selected nodes; shown in menus of panes
  QAction* why_ = nullptr;                // one of them: explains a node's position
  QAction* undo_ = nullptr;
  QAction* redo_ = nullptr;
  std::vector<QAction*> run_actions_;   // enabled while the current document's benchmark runs
  std::vector<QAction*> pass_actions_;  // enabled while its pipeline runs
  QMenu* pass_menu_ = nullptr;          // one entry per pass
  QMenu* recent_menu_ = nullptr;
  QMenu* panes_menu_ = nullptr;
  QToolButton* facts_ = nullptr;
  QLabel* selection_ = nullptr;
  QString last_folder_;
  bool docks_shown_ = false;
};

}  // namespace jointer::desktop

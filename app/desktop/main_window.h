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
#include <vector>

#include "core/bench/history.h"
#include "views/benchmark/benchmarks.h"
#include "views/palette/command_palette.h"
#include "views/theme/theme_choice.h"
#include "views/window/document_tab.h"
#include "views/window/pages.h"
#include "views/window/pane_dock.h"
#include "views/window/recent_files.h"

namespace jointer::desktop {

// The window: documents as tabs, panes in docks around them that show the document in front, menus,
// the status line. It puts parts together and holds no logic of theirs; nothing holds it.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  // `settings` keeps the layout, recent files and the theme. `analysis` is what new documents are
  // computed with. `service` runs benchmarks, `history` keeps them. Settings and service must
  // outlive the window.
  MainWindow(QSettings& settings, AnalysisOptions analysis, views::BenchmarkService& service,
             BenchmarkHistory history, QWidget* parent = nullptr);
  ~MainWindow() override;
  MainWindow(const MainWindow&) = delete;
  MainWindow& operator=(const MainWindow&) = delete;

  // In a tab of its own, which comes to the front.
  void open(const OpenRequest& request);
  void open_all(const std::vector<OpenRequest>& requests);

  [[nodiscard]] views::DocumentTab* current_tab() const;
  [[nodiscard]] int tab_count() const { return tabs_->count(); }
  // A dock by its object name: "modules", "operators", "benchmark", "alive", "inspector".
  [[nodiscard]] views::PaneDock* dock(const QString& name) const;

 signals:
  // A document was read, or could not be.
  void opened(jointer::views::DocumentTab* tab);
  void open_failed(jointer::views::DocumentTab* tab, const jointer::Error& error);
  // The person is asked which of several graphs to open.
  void choosing(jointer::views::DocumentTab* tab, const jointer::Error& error);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  // Which documents an action works on.
  enum class Needs : std::uint8_t { nothing, document, run };
  template <class Slot>
  QAction* add_action(QMenu* menu, const QString& text, const QList<QKeySequence>& keys,
                      Needs needs, Slot slot);

  // Building, in main_window_actions.cpp.
  void make_file_menu();
  void make_edit_menu();
  void make_view_menu();
  void make_graph_menu();
  void make_go_menu();
  void make_help_menu();
  void fill_recent_menu();
  void fill_sample_menu(QMenu* menu);
  void fill_export_menu(QMenu* menu);
  void fill_theme_menu(QMenu* menu);

  void make_top();
  void make_docks();
  void make_status_bar();
  void place_docks();
  void show_docks(bool show);

  // Commands.
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
  // Of a document that is shown; made when it is ready.
  [[nodiscard]] static views::Benchmarks* benchmarks_of(const views::Document* document);
  [[nodiscard]] views::TimelineView* timeline() const;
  void with_timeline(const std::function<void(views::TimelineView&)>& action);

  QSettings& settings_;
  AnalysisOptions analysis_;
  views::BenchmarkService& service_;
  BenchmarkHistory history_;
  views::RecentFiles recent_;
  QMenuBar* menus_ = nullptr;
  views::CommandPalette* palette_ = nullptr;
  QToolButton* search_ = nullptr;
  QTabBar* tabs_ = nullptr;  // one a DocumentTab, which is its data
  views::DocumentStack* scoreboards_ = nullptr;
  QStackedWidget* center_ = nullptr;
  views::EmptyPage* empty_page_ = nullptr;
  std::vector<views::PaneDock*> docks_;
  std::vector<QAction*> document_actions_;
  std::vector<QAction*> run_actions_;  // while a benchmark of the document in front runs
  QMenu* recent_menu_ = nullptr;
  QMenu* panes_menu_ = nullptr;
  QToolButton* facts_ = nullptr;
  QLabel* selection_ = nullptr;
  QString last_folder_;
  bool docks_shown_ = false;
};

}  // namespace jointer::desktop

#pragma once

#include <QMainWindow>
#include <QMenu>
#include <QSettings>
#include <memory>
#include <vector>

#include "app/desktop/last_folder.h"
#include "app/desktop/local_passes.h"
#include "core/bench/history.h"
#include "views/session/benchmark/benchmarks.h"
#include "views/session/document/open_documents.h"
#include "views/window/document_tab.h"
#include "views/window/message_bar.h"
#include "views/window/pages.h"
#include "views/window/pane_dock.h"
#include "views/window/recent_files.h"

namespace jointer::desktop {

class ActionSet;
class Closing;
class CommandSearch;
class Documents;
class EditMenu;
class FileMenu;
class FirstMinutes;
class GoMenu;
class GraphMenu;
class HelpMenu;
class PaneDocks;
class PaneFocus;
class PassMenu;
class Recipes;
class StatusLine;
class ViewMenu;
class Workspaces;

// The main window: documents in tabs, docked panes that show the current document, menus, and the
// status line. It connects these parts and contains none of their logic. Parts know it only as a
// QMainWindow or QWidget.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  // `settings` stores the layout, recent files and the user's choices, such as the theme.
  // `analysis` is used for new documents. `service` runs benchmarks and `history` stores them.
  // `settings` and `service` must outlive the window.
  MainWindow(QSettings& settings, AnalysisOptions analysis, views::BenchmarkService& service,
             BenchmarkHistory history, QWidget* parent = nullptr);
  ~MainWindow() override;

  // Opens a graph or a workspace in a new tab and makes it current. The request's assumptions and
  // `device`, unless it is empty, take precedence over those of a workspace or journal.
  void open(const OpenRequest& request);
  void open_all(const std::vector<OpenRequest>& requests, const std::string& device = {});

  [[nodiscard]] views::DocumentTab* current_tab() const;
  // Sets the folder for journals of edits. If it is empty, the default, no journals are written.
  void set_journal_folder(const QString& folder);
  // Reopens the documents that had unsaved changes when an earlier run was killed, except those in
  // `asked`: the caller opens these next, which restores their edits.
  void restore_left(const std::vector<OpenRequest>& asked = {});
  // Object names of the docks: "modules", "sac", ...
  static QStringList pane_names();
  [[nodiscard]] views::PaneDock* dock(const QString& name) const;

 signals:
  // A document was loaded or reloaded, or could not be loaded.
  void opened(jointer::views::DocumentTab* tab);
  void open_failed(jointer::views::DocumentTab* tab, const jointer::Error& error);
  // The file contains several graphs, and the user is asked which of them to open.
  void choosing(jointer::views::DocumentTab* tab, const jointer::Error& error);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  // Lists the docks. Qt's default menu would contain their toggle actions, which PaneDock hides.
  QMenu* createPopupMenu() override;
  void closeEvent(QCloseEvent* event) override;
  // Keeps the Tab key within the area that has the focus (pane_focus.h).
  bool focusNextPrevChild(bool next) override;

 private:
  struct Top;

  [[nodiscard]] Top make_top();
  void make_parts(const Top& top);
  void make_menus(const Top& top);
  void follow(views::DocumentTab* tab);
  void connect_pane(QWidget* pane);
  void follow_current();
  void report_failure(views::DocumentTab* tab, const Error& error);
  void choose_graph(views::DocumentTab* tab, const std::vector<GraphEntry>& entries);
  void refresh_actions();
  void refresh_title();

  QSettings& settings_;
  AnalysisOptions analysis_;
  views::BenchmarkService& service_;
  BenchmarkHistory history_;
  LocalPasses passes_;
  views::OpenDocuments open_documents_;
  views::RecentFiles recent_;
  LastFolder folder_;
  views::EmptyPage* empty_page_ = nullptr;
  views::DocumentStack* scoreboards_ = nullptr;
  views::MessageBar* failures_ = nullptr;
  std::unique_ptr<Documents> documents_;
  std::unique_ptr<PaneDocks> panes_;
  std::unique_ptr<StatusLine> status_;
  std::unique_ptr<PaneFocus> focus_;
  std::unique_ptr<Workspaces> workspaces_;
  std::unique_ptr<Closing> closing_;
  std::unique_ptr<FirstMinutes> first_minutes_;
  std::unique_ptr<ActionSet> actions_;
  std::unique_ptr<Recipes> recipes_;
  std::unique_ptr<CommandSearch> search_;
  std::unique_ptr<FileMenu> file_menu_;
  std::unique_ptr<EditMenu> edit_menu_;
  std::unique_ptr<ViewMenu> view_menu_;
  std::unique_ptr<GraphMenu> graph_menu_;
  std::unique_ptr<PassMenu> pass_menu_;
  std::unique_ptr<GoMenu> go_menu_;
  std::unique_ptr<HelpMenu> help_menu_;
};

}  // namespace jointer::desktop

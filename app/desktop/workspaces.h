#pragma once

#include <QMainWindow>
#include <QObject>
#include <map>
#include <string>
#include <vector>

#include "app/desktop/documents.h"
#include "app/desktop/last_folder.h"
#include "views/session/workspace/autosave.h"
#include "views/session/workspace/workspace_options.h"
#include "views/window/recent_files.h"

namespace jointer::desktop {

// Opens graphs and workspaces, saves workspaces, and restores edits from journals.
class Workspaces : public QObject {
  Q_OBJECT
 public:
  // `window` is the parent of dialogs, and its layout is part of a workspace. `analysis` is used
  // for new documents. All reference arguments must outlive this object.
  Workspaces(QMainWindow& window, Documents& documents, views::RecentFiles& recent,
             LastFolder& folder, AnalysisOptions analysis);

  // Opens a graph or a workspace in a new tab and makes it current. The request's assumptions and
  // `device`, unless it is empty, take precedence over those of a workspace or journal.
  void open(const OpenRequest& request, const std::string& device = {});
  void open_all(const std::vector<OpenRequest>& requests, const std::string& device = {});
  // Opens a graph that was made from a document, with the options of that document, so that the
  // numbers of both can be compared. Returns the new tab, which is current and still loading.
  views::DocumentTab* open_made(const OpenRequest& request, const AnalysisOptions& analysis);

  // The path of the folder for journals of edits. Empty (the default): no journals are written.
  [[nodiscard]] const QString& journal_folder() const { return journal_folder_; }
  void set_journal_folder(const QString& folder) { journal_folder_ = folder; }
  // Reopens the documents that had unsaved changes when an earlier run was killed, except those in
  // `asked`: the caller opens these next, which restores their edits.
  void restore_left(const std::vector<OpenRequest>& asked);

 public slots:
  // These apply to the current document.
  void reload();
  // Return false if nothing is being saved, for example because the user chose no file.
  bool save();
  bool save_as();

 signals:
  // A message for the status line.
  void message(const QString& sentence);
  // A capture was not found, a workspace could not be read or written, or a journal could not be
  // written.
  void failed(const QString& sentence);

 private:
  // The options that the user gave for a tab's file, and whether they were already applied to its
  // saved work. They are applied only once, so a reload keeps later changes of the user.
  struct Opening {
    views::GivenOptions given;
    bool is_restored = false;
  };

  // Opens a graph that is not known to have saved work.
  views::DocumentTab* open_graph(const OpenRequest& request, const AnalysisOptions& analysis,
                                 const std::string& device);
  void open_workspace(const OpenRequest& request, const std::string& device);
  void open_found(views::SavedWork found, const OpenRequest& request,
                  const views::GivenOptions& given);
  void ask_for_capture(const OpenRequest& asked, const std::string& device,
                       const Workspace& workspace);
  // Keeps the saved work of a document that is being reloaded, unless it has unsaved changes.
  void keep_saved(views::DocumentTab* tab);
  void follow(views::DocumentTab* tab);
  void restore_found(views::DocumentTab* tab, views::Autosave& autosave);
  void show_restored(views::DocumentTab* tab, const views::SavedWork& found, int edits,
                     const QStringList& refused);

  QMainWindow& window_;
  Documents& documents_;
  views::RecentFiles& recent_;
  LastFolder& folder_;
  AnalysisOptions analysis_;
  QString journal_folder_;
  std::map<views::DocumentTab*, views::SavedWork> found_;  // while their graphs are loading
  std::map<views::DocumentTab*, Opening> openings_;
};

}  // namespace jointer::desktop

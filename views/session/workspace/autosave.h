#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QThreadPool>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/workspace/journal.h"
#include "core/workspace/workspace.h"
#include "views/session/benchmark/benchmarks.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/session/pipeline/pipeline_draft.h"
#include "views/session/work/mailbox.h"
#include "views/session/work/precomputed.h"
#include "views/session/workspace/workspace_options.h"

namespace jointer::views {

// Saved work for a document that is being opened: a workspace, a journal, or both.
struct SavedWork {
  Workspace workspace;          // the state to restore
  QString path;                 // the workspace file; empty if there is none
  QString journal;              // the journal file; empty if `workspace` has no unsaved changes
  std::int64_t changed_at = 0;  // seconds since 1970; 0 if unknown
};

// Saves a user's work on a document: each change to a journal as it is made, and everything to a
// workspace on save. Lives as long as the document. If the document is closed with unsaved changes,
// the journal is kept for the next start.
class Autosave : public QObject {
  Q_OBJECT
 public:
  // Journals are files in `folder`; if `folder` is empty, none are written. `pipeline`: the
  // document's pipeline draft, or null. The document, the benchmarks and the draft must outlive
  // this object.
  Autosave(Document& document, Benchmarks& benchmarks, QString folder,
           PipelineDraft* pipeline = nullptr, QObject* parent = nullptr);
  ~Autosave() override;

  [[nodiscard]] Document& document() const { return document_; }
  // The workspace file; empty if the document was neither opened from one nor saved.
  [[nodiscard]] const QString& path() const { return path_; }
  // The file that `path` returns once all requested saves have ended without errors.
  [[nodiscard]] const QString& next_path() const {
    return saves_.empty() ? path_ : saves_.back().path;
  }
  [[nodiscard]] bool is_saving() const { return !saves_.empty(); }
  // Returns true if there are changes that are not in a workspace file.
  [[nodiscard]] bool is_dirty() const { return is_dirty_; }

  // Uses the options and assumptions of saved work for the estimates, replays its edits, then emits
  // `restored` once, with the number of applied edits and one sentence for each skipped edit, or
  // `restore_failed`.
  void restore(const SavedWork& found);
  // Returns true if the opened graph differs from the one that the saved work is based on.
  [[nodiscard]] bool has_changed(const SavedWork& found) const;
  // The state that `discard` restores. Errors: those of read_workspace.
  [[nodiscard]] Result<Workspace> without_changes(const AnalysisOptions& options,
                                                  const GivenOptions& given) const;
  // Returns to the saved workspace or, without one, to the graph as opened. `options`: for the
  // estimates; those in the workspace take precedence over them, and `given` over both.
  void discard(const AnalysisOptions& options, const GivenOptions& given);
  // Removes the journal. Called when the user closes the document without saving.
  void forget();

  // Saves on a worker thread; emits `saved` or `failed`. While another save is running, the request
  // waits; if several requests wait for the same file, only the last one runs.
  void save(const QString& path, const QByteArray& layout);

 signals:
  void dirty_changed();
  // The answer to `restore` is one of these. `refused`: one sentence per edit that no longer
  // applies.
  void restored(int edits, const QStringList& refused);
  void restore_failed(const QString& why);
  void saved(const QString& path);
  // No save is running or waiting any more; follows the last `saved` or `failed`.
  void saves_ended();
  // Saving or reading the workspace, or writing the journal, failed; `sentence` says why.
  void failed(const QString& sentence);

 private:
  // A short form of the history in the journal or workspace, so that edits need not be compared:
  // each list of edits is identified by its length and last edit.
  struct Summary {
    struct Line {
      std::size_t edits = 0;
      const DoneEdit* last = nullptr;
      friend bool operator==(const Line&, const Line&) = default;
    };
    struct State {
      QString name;
      std::size_t edits = 0;
      const DoneEdit* last = nullptr;
      friend bool operator==(const State&, const State&) = default;
    };
    std::vector<Line> steps;
    std::size_t place = 0;
    std::vector<State> states;
    friend bool operator==(const Summary&, const Summary&) = default;
  };

  // The other changes that a journal stores.
  struct Setup {
    WorkspaceOptions options;
    std::string assume;  // CaptureReference::assume
    WorkspacePipeline pipeline;
    std::vector<MarkedMoment> marks;
    NamedKernelMoves kernel_moves;
    friend bool operator==(const Setup&, const Setup&) = default;
  };

  struct Save {
    QString path;
    QByteArray layout;
  };

  void follow();
  void write_difference(const Summary& now, const Setup& setup);
  void start_journal(const Workspace& start);
  [[nodiscard]] bool differs_from_saved() const;
  // Restores saved work. `options`: used where the work does not contain its own.
  void restore_with(const SavedWork& found, const AnalysisOptions& options);
  // Recomputes the estimates if the options and assumptions in `found` require it. `options`: as
  // for restore_with.
  void restore_estimates(const Workspace& found, const AnalysisOptions& options);
  void set_dirty(bool dirty) {
    if (std::exchange(is_dirty_, dirty) != dirty) emit dirty_changed();
  }
  void handle_restored(int edits, const QStringList& refused);
  void give_up_restoring(const QString& why);
  // Saves the first of `saves_`.
  void begin_save();
  void write_when_loaded();
  void write_file();
  void end_save(const Result<void>& written, const Summary& known, const Setup& setup,
                History history);
  void handle_saved();
  void remember(const Summary& known, const Setup& setup, History history);
  [[nodiscard]] Summary current_summary() const;
  [[nodiscard]] Setup current_setup() const;
  // The hash of the graph as opened. Blocks this thread until it is computed, which has usually
  // happened by the time the first edit is made.
  [[nodiscard]] std::string hash() const;
  // The workspace without benchmarks and layout.
  [[nodiscard]] Workspace workspace();

  Document& document_;
  Benchmarks& benchmarks_;
  PipelineDraft* draft_;
  QString folder_, path_;
  Precomputed<std::string> hash_;  // of the graph as opened
  std::unique_ptr<Journal> journal_;
  // False after work was restored from a journal: the saved state is then unknown until a save.
  bool is_saved_known_ = true;
  Summary known_, saved_known_;  // in the journal (or the file, if there is none); in the file
  Setup known_setup_, saved_setup_;
  History saved_history_;               // the base of a new journal
  NamedKernelMoves found_moves_;        // moves of kernels, restored after the history
  std::string extra_;                   // members of the file that this version does not recognize
  std::unique_ptr<QObject> restoring_;  // set while a history is being replayed
  std::deque<Save> saves_;              // the first one is running, the others wait
  bool is_dirty_ = false, is_restoring_ = false, is_found_dirty_ = false;
  QThreadPool saving_;
  Mailbox complaints_;  // errors of the journal, which writes on its own thread
};

// The latest journal that belongs to the requested workspace or capture, or null.
const LeftJournal* journal_of(std::span<const LeftJournal> left, const OpenRequest& request);

}  // namespace jointer::views

#pragma once

#include <QFuture>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/workspace/journal.h"
#include "core/workspace/workspace.h"
#include "views/benchmark/benchmarks.h"
#include "views/document/document.h"
#include "views/edit/editing.h"
#include "views/pipeline/pipeline_draft.h"

namespace jointer::views {

// What is found of a document when it is opened: a workspace, a journal, or both.
struct Found {
  Workspace workspace;  // where it was left
  QString path;         // the workspace's file, or empty
  QString journal;      // the journal's file, or empty: the workspace is as it was saved
  std::int64_t changed_at = 0;
};

// Keeps what a person does with a document: every step in a journal as it is done, all of it in a
// workspace when it is saved. Lives as long as the document. A document that ends with steps that
// are not saved leaves its journal behind, for the next time.
class Keeper : public QObject {
  Q_OBJECT
 public:
  // Owned by the document. Journals are files in `folder`; empty: none are kept. `pipeline`: what
  // is edited beside the graph, where there is such a thing; of the same document.
  Keeper(Document& document, Benchmarks& benchmarks, QString folder,
         PipelineDraft* pipeline = nullptr);
  ~Keeper() override;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  [[nodiscard]] Document& document() const { return document_; }
  // Empty until it is saved.
  [[nodiscard]] const QString& path() const { return path_; }
  // There is something that no workspace has.
  [[nodiscard]] bool is_dirty() const { return is_dirty_; }
  [[nodiscard]] bool is_saving() const { return is_saving_; }

  // Does again what was found; `restored` follows, once, with what does not fit.
  void restore(const Found& found);
  // The graph as it was opened is another one than what was found was done on.
  [[nodiscard]] bool has_changed(const Found& found) const;
  // Back to the workspace as it was saved, or to the graph as it was opened.
  void discard();

  // On a working thread; `saved` follows, or `failed`.
  void save(const QString& path, const QByteArray& layout);

 signals:
  void dirty_changed();
  void restored(int edits, const QStringList& refused);
  void saved(const QString& path);
  // It could not be saved, or the journal could not be written: a sentence.
  void failed(const QString& sentence);

 private:
  // What the journal or the workspace has, told apart without comparing edits: a line is known by
  // how many edits it has and the last of them.
  struct Known {
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
    friend bool operator==(const Known&, const Known&) = default;
  };

  void follow();
  void write_difference(const Known& now);
  void start_journal(const Workspace& start);
  [[nodiscard]] bool differs_from_saved() const;
  void set_dirty(bool dirty);
  void take_restored(int edits, const QStringList& refused);
  void give_up_restoring(const QString& why);
  void write_file(const QString& path, const QByteArray& layout);
  void take_saved();
  void remember(const Known& known, const WorkspaceOptions& options,
                const WorkspacePipeline& pipeline, History history);
  [[nodiscard]] Known known_now() const;
  [[nodiscard]] WorkspaceOptions options() const;
  [[nodiscard]] WorkspacePipeline pipeline() const;
  // Without benchmarks and layout.
  [[nodiscard]] Workspace workspace();

  Document& document_;
  Benchmarks& benchmarks_;
  PipelineDraft* draft_;
  QString folder_, path_;
  QFuture<std::string> hash_;  // of the graph as it was opened
  std::unique_ptr<Journal> journal_;
  Known known_, saved_known_;  // of the journal, or else the file; of the file
  WorkspaceOptions known_options_, saved_options_;
  WorkspacePipeline known_pipeline_, saved_pipeline_;
  History saved_history_;               // what a journal starts from
  std::string extra_;                   // members of the file that this version does not know
  std::unique_ptr<QObject> restoring_;  // while a history is done again
  bool is_dirty_ = false, is_saving_ = false, is_restoring_ = false, is_found_dirty_ = false;
  QThreadPool saving_;
};

// Of the journals that are left, what comes with the graph that is opened: the latest of that
// workspace, or of that capture. Null if none does.
const LeftJournal* journal_of(std::span<const LeftJournal> left, const OpenRequest& request);

}  // namespace jointer::views

#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "core/bench/history.h"
#include "core/open/open.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

class Autosave;
class BenchmarkService;
class Benchmarks;
class Document;
class OpenDocuments;
class PassService;
class PipelineSession;
class TuneSession;

// The parts of the program that sessions use. The services must outlive the sessions.
struct SessionServices {
  BenchmarkService& benchmarks;
  BenchmarkHistory history;  // stores the results of benchmarks
  PassService& passes;
  OpenDocuments& documents;
  QString journal_folder;  // if it is empty, no journals are written
};

// An open document and everything that works on it: benchmarks, the pipeline, the search over
// pipelines, and autosave. Owns these parts and gives panes and the window access to them.
class Session : public QObject {
  Q_OBJECT
 public:
  Session(OpenRequest source, SnapshotPtr snapshot, const SessionServices& services,
          QObject* parent = nullptr);
  ~Session() override;

  [[nodiscard]] Document& document() const { return *document_; }
  [[nodiscard]] Benchmarks& benchmarks() const { return *benchmarks_; }
  [[nodiscard]] PipelineSession& pipeline() const { return *pipeline_; }
  [[nodiscard]] TuneSession& tune() const { return *tune_; }
  [[nodiscard]] Autosave& autosave() const { return *autosave_; }
  // All open documents, including this one.
  [[nodiscard]] OpenDocuments& open_documents() const { return open_documents_; }

 signals:
  // The session is being destroyed, but its parts are still valid: widgets that show them must be
  // deleted now.
  void closing();

 private:
  OpenDocuments& open_documents_;
  std::unique_ptr<Document> document_;
  std::unique_ptr<Benchmarks> benchmarks_;
  std::unique_ptr<PipelineSession> pipeline_;
  std::unique_ptr<TuneSession> tune_;
  std::unique_ptr<Autosave> autosave_;
};

}  // namespace jointer::views

#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "passes/tune/tuner.h"
#include "views/document/snapshot.h"
#include "views/edit/edit_line.h"

namespace jointer::views {

class Document;

struct TuneSettings {
  std::int64_t budget = 0;        // bytes of peak
  std::size_t evaluations = 200;  // at most
  std::optional<double> seconds;  // and no longer than that
  std::uint64_t seed = 0;
};

// Searches passes for the graph that a document shows, on working threads, and takes what was
// found. Deleting it, or a newer search, ends one that is under way without waiting.
class TuneSession : public QObject {
  Q_OBJECT
 public:
  // The document must outlive it.
  explicit TuneSession(Document& document, QObject* parent = nullptr);
  ~TuneSession() override;
  TuneSession(const TuneSession&) = delete;
  TuneSession& operator=(const TuneSession&) = delete;

  [[nodiscard]] Document& document() const { return document_; }
  [[nodiscard]] bool is_running() const { return running_ != nullptr; }
  // What there is so far, or was when it ended; null before the first search.
  [[nodiscard]] const TuneResult* result() const { return result_ ? &*result_ : nullptr; }
  // Whether the graph that was searched is the one that is shown, or a place in its history.
  [[nodiscard]] bool can_take() const;
  // Whether what is taken is a pair of its own, and not edits.
  [[nodiscard]] bool makes_a_pair() const;

  void start(const TuneSettings& settings);
  // Ends with what there is.
  void stop();
  // Runs the pipeline on the graph that was searched; its steps become edits of the document, each
  // of which can be undone. Of a joint graph, `pair_made` follows.
  void take(const Pipeline& pipeline);

 signals:
  void changed();
  // What was done, or why it was not.
  void told(const QString& sentence);
  // The file of the pair, to be opened.
  void pair_made(const QString& path);

 private:
  struct Shared {
    std::atomic<bool> cancel = false;
    std::mutex mutex;
    std::optional<TuneResult> so_far;  // not yet taken
  };
  using SharedPtr = std::shared_ptr<Shared>;
  void take_news();
  void apply(const std::vector<Edit>& edits, const StepFigures& figures);
  [[nodiscard]] std::optional<int> searched_place() const;

  Document& document_;
  SharedPtr running_;  // of the search that runs
  SharedPtr shared_;   // of the last one
  std::optional<TuneResult> result_;
  SnapshotPtr searched_;
  EditLine line_;  // that leads to what was searched
  QTimer timer_;
  bool is_taking_ = false;
};

}  // namespace jointer::views

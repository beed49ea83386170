#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>
#include <mutex>
#include <optional>

#include "passes/tune/training_flags.h"
#include "passes/tune/tuner.h"
#include "views/session/edit/edit_history.h"
#include "views/session/sac/pair_file.h"
#include "views/session/snapshot/snapshot.h"
#include "views/session/work/task.h"

namespace jointer::views {

class Document;

struct TuneSettings {
  std::int64_t budget = 0;        // maximum peak memory in bytes
  std::size_t evaluations = 200;  // maximum number of evaluated pipelines
  std::optional<double> seconds;  // time limit
  std::uint64_t seed = 0;
  bool twin_groups = true;  // pipelines may use additional process groups
};

// The form in which the best pipeline goes to training.
enum class TrainingForm : std::uint8_t { recipe, pipeline, flags };

// Searches on worker threads for the best pipeline for a document's graph, and applies results.
// Destroying the object, or starting a new search, cancels a running search without waiting.
class TuneSession : public QObject {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit TuneSession(Document& document, QObject* parent = nullptr);

  [[nodiscard]] Document& document() const { return document_; }
  [[nodiscard]] bool is_running() const { return running_ != nullptr; }
  // The result so far or the final one; null until a search has found something.
  [[nodiscard]] const TuneResult* result() const { return result_ ? &*result_ : nullptr; }
  // Returns true if the result can no longer be applied: it does not open a new pair, and the
  // searched graph is not a state in the document's history.
  [[nodiscard]] bool is_outdated() const { return result_ && !makes_a_pair() && !searched_place(); }
  // Returns true if there is a result that is not outdated, and none is being applied.
  [[nodiscard]] bool can_apply() const { return result_ && !is_applying() && !is_outdated(); }
  // Returns true if the document shows the state that applying the best pipeline led to.
  [[nodiscard]] bool is_winner_applied() const;
  // Returns true if the searched graph is a joint graph: applying a result then opens a new pair.
  [[nodiscard]] bool makes_a_pair() const;

  // Maximum peak memory for the next search, in bytes; initially the graph's peak.
  [[nodiscard]] std::int64_t limit() const { return limit_; }
  void set_limit(std::int64_t peak_bytes);

  void start(const TuneSettings& settings);
  // Stops the search and keeps its result so far.
  void stop();
  // Runs the pipeline on the graph that was searched. Its steps become edits of the document. If a
  // step partitions a joint graph, `graph_made` follows, and later steps become edits of the pair.
  void apply(const Pipeline& pipeline);
  void apply_winner() {
    if (result_ && result_->winner) apply(result_->winner->pipeline);
  }
  // The settings of torch and torchtitan for the best pipeline. Requires a winner.
  [[nodiscard]] TrainingFlags flags() const;
  // Flags, if they express every step of the best pipeline and no edits precede it, but not for a
  // pair, whose order torch would decide again. Otherwise a recipe with the edits that lead from
  // the graph as opened to the pipeline's result or, for a joint graph, a pipeline file, since a
  // recipe cannot express partitioning. `flags`: those of the best pipeline. Requires a winner.
  [[nodiscard]] TrainingForm form(const TrainingFlags& flags) const;
  // Why the best pipeline has this form, in sentences.
  [[nodiscard]] QString why(TrainingForm form, const TrainingFlags& flags) const;
  // Writes the best pipeline for use in training, in its form. `message` or `failed` follows.
  void write_winner(const QString& path);

 signals:
  void changed();
  void limit_changed();
  // The result of a command, or why it is refused.
  void message(const QString& sentence);
  // Why a command failed; `title` names the command.
  void failed(const QString& title, const QString& why);
  // A pair was made. The receiver should open it and apply the recipe, if there is one.
  void graph_made(const jointer::OpenRequest& graph, const QString& recipe);

 private:
  struct Shared {
    std::mutex mutex;
    std::optional<TuneResult> so_far;  // not yet moved to result_
  };
  using SharedPtr = std::shared_ptr<Shared>;
  struct PipelineResult {
    std::vector<Edit> edits;  // edits of the document's graph
    StepFigures figures;
    std::optional<GraphFiles> pair;
  };
  static Result<PipelineResult> run(const Snapshot& snapshot, const Pipeline& pipeline,
                                    std::int64_t budget, const QString& title);
  // Returns true if the searched graph is a flat training step.
  [[nodiscard]] bool is_flat_step() const;
  void publish_news();
  void publish();
  void find_reserved();
  [[nodiscard]] bool is_applying() const {
    return applying_.is_running() || edits_wait_ != nullptr;
  }
  void apply_edits(const std::vector<Edit>& edits, const StepFigures& figures);
  // Reports the result of applying `edits` edits to the state that `start` leads to.
  void handle_applied(const EditHistory& start, std::size_t edits, const StepFigures& figures,
                      const QStringList& refused);
  [[nodiscard]] std::optional<int> searched_place() const;

  Document& document_;
  std::int64_t limit_ = 0;
  SharedPtr running_;  // of the running search; null once it has been stopped
  Task<TuneResult> search_;
  std::optional<TuneResult> result_;
  std::optional<std::int64_t> reserved_;  // the winner's, after the search; nullopt if not known
  SnapshotPtr searched_;
  EditHistory history_;  // leads to `searched_`
  QTimer timer_;
  Task<PipelineResult> applying_;
  Pipeline latest_;                      // the pipeline that was applied last
  std::optional<EditHistory> applied_;   // the state that it led to; nullopt unless it was applied
  std::unique_ptr<QObject> edits_wait_;  // set while the document applies a pipeline's edits
  Task<std::int64_t> finding_reserved_;
};

}  // namespace jointer::views

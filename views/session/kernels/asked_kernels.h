#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <cstdint>

#include "views/session/kernels/ask_kernels.h"
#include "views/session/work/task.h"

namespace jointer::views {

class OpenGraph;

// The kernels that Inductor makes of an open graph. Its scheduler can take minutes, so it is asked
// only on request, about the graph as it is at that moment. When the graph changes, the answer is
// kept, and counts as one about an earlier graph until the graph is the same again.
class AskedKernels : public QObject {
  Q_OBJECT
 public:
  // `open` must outlive this object.
  explicit AskedKernels(OpenGraph& open, QObject* parent = nullptr);
  // Cancels a running request and waits until its processes have ended.
  ~AskedKernels() override;

  // Asks about the current graph. Replaces a running request.
  void ask();
  // Cancels the running request and ends its processes. The previous answer is kept.
  void cancel();
  [[nodiscard]] bool is_running() const { return asking_.is_running(); }
  [[nodiscard]] const AskedProgress& progress() const { return progress_; }

  // The latest answer; null if there is none.
  [[nodiscard]] const AskedAnswerPtr& answer() const { return answer_; }
  // Returns true if the last request was answered: it has ended, and neither failed nor was
  // cancelled.
  [[nodiscard]] bool has_answered() const { return has_answered_; }
  // Returns true if the current graph is known to differ from the one that the answer is about.
  [[nodiscard]] bool is_of_earlier_graph() const { return answer_ && age_ == Age::earlier; }
  // Returns true if the answer is known to be about the current graph.
  [[nodiscard]] bool is_current() const { return answer_ && age_ == Age::current; }
  // Why the last request failed, in one sentence that says what to do; otherwise empty.
  [[nodiscard]] const QString& problem() const { return problem_; }

 signals:
  // A request has begun or ended, or the answer, its age or the problem has changed.
  void changed();
  void progressed();

 private:
  enum class Age : std::uint8_t { current, unknown, earlier };

  void take(Result<AskedAnswerPtr> answer);
  // Finds out whether the answer is about the current graph.
  void follow();
  void handle_age(const SnapshotPtr& snapshot, const Result<AskedAnswerPtr>& same);

  OpenGraph& open_;
  QThreadPool pool_;  // one thread for requests, which would keep a shared one busy for minutes
  Task<AskedAnswerPtr, AskedProgress> asking_{pool_};
  Task<AskedAnswerPtr> comparing_;
  AskedProgress progress_;
  AskedAnswerPtr answer_;
  Age age_ = Age::current;
  bool has_answered_ = false;
  QString problem_;
};

}  // namespace jointer::views

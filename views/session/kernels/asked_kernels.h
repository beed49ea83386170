#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <cstdint>

#include "views/session/kernels/ask_kernels.h"
#include "views/session/work/task.h"

namespace jointer::views {

class OpenGraph;

// The kernels that Inductor makes of an open graph. Its scheduler, which takes up to minutes, is
// asked only on request, about the graph as it is at that moment. When the graph changes, the
// answer stays, and is of an earlier graph until the graph is the same again.
class AskedKernels : public QObject {
  Q_OBJECT
 public:
  // `open` must outlive this object.
  explicit AskedKernels(OpenGraph& open, QObject* parent = nullptr);
  // Ends a question that is running: its processes are gone when the destructor returns.
  ~AskedKernels() override;

  // Asks about the current graph. Replaces a question that is running.
  void ask();
  // Ends the question and everything that it started. The previous answer stays.
  void cancel();
  [[nodiscard]] bool is_running() const { return asking_.is_running(); }
  [[nodiscard]] const AskedProgress& progress() const { return progress_; }

  // The latest answer; null if there is none.
  [[nodiscard]] const AskedAnswerPtr& answer() const { return answer_; }
  // True if the last question was answered: it neither failed nor was cancelled.
  [[nodiscard]] bool has_answered() const { return has_answered_; }
  // True if the current graph is known to differ from the answer's.
  [[nodiscard]] bool is_of_earlier_graph() const { return answer_ && age_ == Age::earlier; }
  // True if the answer is of the current snapshot.
  [[nodiscard]] bool is_current() const { return answer_ && age_ == Age::current; }
  // Why the last question has no answer, in one sentence that says what to do; otherwise empty.
  [[nodiscard]] const QString& problem() const { return problem_; }

 signals:
  // A question has begun or ended, or the answer, its age or the problem has changed.
  void changed();
  void progressed();

 private:
  enum class Age : std::uint8_t { current, unknown, earlier };

  void take(Result<AskedAnswerPtr> answer);
  // Finds out whether the answer is of the current graph.
  void follow();
  void take_age(const SnapshotPtr& snapshot, const Result<AskedAnswerPtr>& same);

  OpenGraph& open_;
  QThreadPool pool_;  // of one thread: a question would occupy a thread that other work needs
  Task<AskedAnswerPtr, AskedProgress> asking_{pool_};
  Task<AskedAnswerPtr> comparing_;
  AskedProgress progress_;
  AskedAnswerPtr answer_;
  Age age_ = Age::current;
  bool has_answered_ = false;
  QString problem_;
};

}  // namespace jointer::views

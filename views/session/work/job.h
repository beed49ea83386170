#pragma once

// The part of a job that runs on a worker thread: cancellation, reports, and exceptions, which
// become errors. task.h starts jobs.

#include <QThreadPool>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/base/result.h"

namespace jointer::views {

// Asks a job to end early. Copies refer to the same job.
class Cancellation {
 public:
  [[nodiscard]] bool is_cancelled() const { return *flag_; }
  void cancel() const { *flag_ = true; }
  // For functions that poll a flag. Valid as long as any copy of this object exists.
  [[nodiscard]] const std::atomic<bool>& flag() const { return *flag_; }
  // Returns true if both belong to the same job.
  friend bool operator==(const Cancellation&, const Cancellation&) = default;

 private:
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

// The cancellation of a job that also reports intermediate results.
template <class Report>
class Reporter : public Cancellation {
 public:
  Reporter(const Cancellation& cancellation, std::function<void(Report)> report)
      : Cancellation(cancellation), report_(std::move(report)) {}
  // The task's thread receives reports in order, and before the result. Those of a job that
  // Task::cancel has cancelled are dropped.
  void report(Report report) const { report_(std::move(report)); }

 private:
  std::function<void(Report)> report_;
};

namespace work {

template <class T>
struct Value {
  using Type = T;
};
template <class T>
struct Value<Result<T>> {
  using Type = T;
};
// The T of a function that returns T or Result<T>.
template <class Function>
using ValueOf = typename Value<std::invoke_result_t<Function&>>::Type;

Error error_of(const std::exception_ptr& thrown);

// Calls a function that returns T or Result<T>. An exception becomes an Error (run).
template <class T, class Function, class... Args>
Result<T> result_of(Function& function, const Args&... args) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Function&, const Args&...>>) {
      function(args...);
      return {};
    } else {
      return function(args...);
    }
  } catch (...) {
    return tl::unexpected<Error>(error_of(std::current_exception()));
  }
}

// The threads of all jobs for which no other pool is given. They are not those of Qt's global pool:
// painting large areas waits for threads of that pool, so jobs on them could block the window.
QThreadPool& pool();

// Runs a function on a thread of the pool. The function must not throw.
void start(QThreadPool& pool, std::function<void()> function);

}  // namespace work

// Blocks this thread until all jobs in the pool have finished. For destructors of objects whose
// files must be complete once the object is gone.
void wait_on_close(QThreadPool& pool);

}  // namespace jointer::views

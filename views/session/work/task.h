#pragma once

// Work on other threads. Sessions, panes and the window start it only in these ways;
// scripts/check_threads finds others.
//
//   Task                the current job of an object: a newer one replaces it
//   run_in_background   a job that always runs to its end
//   Precomputed         a value that will be needed later (precomputed.h)
//
// A job gets copies of what it uses, and no reference to the object that starts it. The result of
// the first two arrives as a Result<T> on the thread of that object, unless the object is gone or
// the task was cancelled. An exception becomes an Error (run). Only wait_on_close,
// Precomputed::block_until_known and the end of the application wait for jobs.

#include <QObject>
#include <QThread>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "views/session/work/job.h"
#include "views/session/work/mailbox.h"

namespace jointer::views {

struct NoReport {};

// A member of the object that receives the results of its jobs. Destroying the task cancels its job
// without waiting. `Report` is the type of intermediate results.
template <class T, class Report = NoReport>
class Task {
 public:
  using Done = std::function<void(Result<T>)>;
  using Receive = std::function<void(Report)>;
  // Tells a job whether it is cancelled; with a Report, also receives its intermediate results.
  using Handle =
      std::conditional_t<std::is_same_v<Report, NoReport>, Cancellation, Reporter<Report>>;

  // The pool must outlive the task.
  explicit Task(QThreadPool& pool = work::pool()) : pool_(pool) {}
  ~Task() { cancel(); }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Returns true from `start` until the result is delivered, or dropped by `cancel`.
  [[nodiscard]] bool is_running() const { return job_.has_value(); }

  // Cancels the current job and starts another one. `function` returns T or Result<T>, and may have
  // a `const Handle&` parameter. A job that is cancelled before its turn does not run.
  template <class Function>
  void start(Function function, Done done, Receive receive = {}) {
    Q_ASSERT(mailbox_.thread() == QThread::currentThread());
    cancel();
    const Cancellation job = job_.emplace();
    done_ = std::move(done);
    receive_ = std::make_shared<const Receive>(std::move(receive));
    // The worker thread only passes `this` on: the mailbox drops calls once the task is destroyed.
    work::start(pool_, [this, address = mailbox_.address(), job,
                        function = std::move(function)]() mutable {
      auto result = std::make_shared<Result<T>>(run(function, job, [this, address, job](Report r) {
        auto report = std::make_shared<Report>(std::move(r));
        address.post([this, job, report] { take(job, std::move(*report)); });
      }));
      address.post([this, job, result] { finish(job, std::move(*result)); });
    });
  }

  // Cancels the current job and drops its result.
  void cancel() {
    if (!job_) return;
    job_->cancel();
    forget();
  }
  // Cancels the current job, but still delivers its result, which may be an Error (cancelled).
  void end_early() {
    if (job_) job_->cancel();
  }

 private:
  template <class Function, class ReportFunction>
  static Result<T> run(Function& function, const Cancellation& job, ReportFunction report) {
    if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
    if constexpr (std::is_invocable_v<Function&>)
      return work::result_of<T>(function);
    else if constexpr (std::is_same_v<Report, NoReport>)
      return work::result_of<T>(function, job);
    else
      return work::result_of<T>(function, Handle(job, std::move(report)));
  }

  void take(const Cancellation& job, Report report) {
    if (job_ != job) return;
    const auto receive = receive_;  // the call may start another job
    if (*receive) (*receive)(std::move(report));
  }

  void finish(const Cancellation& job, Result<T> result) {
    if (job_ != job) return;
    const Done done = std::move(done_);
    forget();
    done(std::move(result));  // may start another job, or destroy the task
  }

  void forget() {
    job_.reset();
    done_ = nullptr;
    receive_.reset();
  }

  QThreadPool& pool_;
  std::optional<Cancellation> job_;
  Done done_;
  std::shared_ptr<const Receive> receive_;
  Mailbox mailbox_;
};

namespace work {

// Receives one result and then deletes itself.
template <class T>
class Delivery : public Mailbox {
 public:
  Delivery(QObject* receiver, std::function<void(Result<T>)> done) : done_(std::move(done)) {
    setParent(receiver);
  }
  void finish(Result<T> result) {
    deleteLater();
    const auto done = std::move(done_);
    done(std::move(result));  // may destroy the receiver
  }

 private:
  std::function<void(Result<T>)> done_;
};

}  // namespace work

// Runs a function that returns T or Result<T>, even if the receiver is destroyed first. `done` is
// called with a Result<T> unless the receiver is gone. Must be called on the receiver's thread.
template <class Function, class Done>
void run_in_background(QObject* receiver, Function function, Done done,
                       QThreadPool& pool = work::pool()) {
  using T = work::ValueOf<Function>;
  Q_ASSERT(receiver->thread() == QThread::currentThread());
  auto* delivery = new work::Delivery<T>(receiver, std::move(done));  // owned by the receiver
  work::start(pool,
              [delivery, address = delivery->address(), function = std::move(function)]() mutable {
                auto result = std::make_shared<Result<T>>(work::result_of<T>(function));
                address.post([delivery, result] { delivery->finish(std::move(*result)); });
              });
}

}  // namespace jointer::views

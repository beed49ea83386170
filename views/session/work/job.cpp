#include "views/session/work/job.h"

#include <QCoreApplication>
#include <QRunnable>
#include <QThread>
#include <new>

namespace jointer::views {
namespace work {
namespace {

// Threads in addition to one for each core. Searches and predictions of kernels take minutes in
// large graphs; on a machine with few cores, they would otherwise occupy all threads, and edits and
// estimates that take milliseconds would wait for their end.
constexpr int kExtraThreads = 6;

class Job : public QRunnable {
 public:
  explicit Job(std::function<void()> function) : function_(std::move(function)) {
    is_complete_.store(true, std::memory_order_release);
  }
  void run() override {
    // The pool's lock already orders both threads, but ThreadSanitizer cannot see inside Qt.
    if (is_complete_.load(std::memory_order_acquire)) function_();
  }

 private:
  std::function<void()> function_;
  std::atomic<bool> is_complete_ = false;
};

}  // namespace

Error error_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return {Error::Kind::run, "not enough memory; close other graphs and try again"};
  } catch (const std::exception& exception) {
    return {Error::Kind::run, fmt::format("unexpected error: {}", exception.what())};
  } catch (...) {
    return {Error::Kind::run, "unexpected error"};
  }
}

QThreadPool& pool() {
  static QThreadPool jobs;
  // At exit, the application waits for these jobs, as it does for those of Qt's global pool.
  static const bool is_ready = [] {
    jobs.setMaxThreadCount(QThread::idealThreadCount() + kExtraThreads);
    qAddPostRoutine([] { jobs.waitForDone(); });
    return true;
  }();
  static_cast<void>(is_ready);
  return jobs;
}

void start(QThreadPool& pool, std::function<void()> function) {
  pool.start(new Job(std::move(function)));  // the pool deletes it
}

}  // namespace work

void wait_on_close(QThreadPool& pool) {
  pool.waitForDone();
}

}  // namespace jointer::views

#pragma once

#include <QCoreApplication>
#include <QThreadPool>
#include <memory>
#include <semaphore>

#include "views/session/work/job.h"

namespace jointer::test {

// Holds every job that is started on work::pool until the test lets it run.
class HeldPool {
 public:
  HeldPool() {
    pool_.waitForDone();
    pool_.setMaxThreadCount(1);
    gate_ = close();
  }
  ~HeldPool() {
    gate_->leave.release();
    pool_.waitForDone();
    pool_.setMaxThreadCount(threads_);
  }
  HeldPool(const HeldPool&) = delete;
  HeldPool& operator=(const HeldPool&) = delete;

  // Runs what has been started so far to its end. Results are delivered when the test processes
  // events.
  void run_started() {
    gate_->leave.release();
    gate_ = close();
  }
  // Runs what has been started and delivers it, this many times.
  void run_all(int rounds = 30) {
    for (int i = 0; i < rounds; ++i) {
      run_started();
      QCoreApplication::processEvents();
    }
  }

 private:
  struct Gate {
    std::binary_semaphore entered{0}, leave{0};
  };

  // Waits until the only thread is at a new gate, after everything that was started before.
  std::shared_ptr<Gate> close() {
    auto gate = std::make_shared<Gate>();
    views::work::start(pool_, [gate] {
      gate->entered.release();
      gate->leave.acquire();
    });
    gate->entered.acquire();
    return gate;
  }

  QThreadPool& pool_ = views::work::pool();
  int threads_ = pool_.maxThreadCount();
  std::shared_ptr<Gate> gate_;
};

}  // namespace jointer::test

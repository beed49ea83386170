#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "core/bench/event.h"

namespace jointer::runner {

// Writes events to the stream that was standard output when this object was created. From then on,
// everything else that is written to standard output is redirected to standard error, and the
// process ignores SIGPIPE, so that the run continues if the listener exits. Safe to use from any
// thread.
class Reporter {
 public:
  Reporter();
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  void report(const RankEvent& event);
  // Reports at most twenty times a second per stage, so that measured steps do not wait for a
  // listener.
  void stage(std::string name, std::int64_t done = 0, std::int64_t total = 0);
  void note(std::string text) { report(RankNote{std::move(text)}); }
  // The number of calls of report, stage and note so far, which serves as a sign of life.
  [[nodiscard]] std::int64_t count() const { return count_.load(); }

 private:
  int descriptor_;
  std::mutex mutex_;
  std::string last_stage_;
  std::chrono::steady_clock::time_point last_time_;
  std::atomic<std::int64_t> count_{0};
};

}  // namespace jointer::runner

#pragma once

// The process of one rank: what it reported, and how it ended.

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string>

#include "app/launch/place_names.h"
#include "core/bench/result.h"
#include "core/bench/status_file.h"
#include "core/process/child.h"

namespace jointer {

class RankProcess {
 public:
  using Clock = std::chrono::steady_clock;

  struct Setup {
    int rank = 0;
    std::string status_path;  // of the status file to create
    Clock::time_point run_start;
    std::chrono::milliseconds startup{0};  // the extra time until the first sign of life
    bool is_profiled = false;              // the process is a profiler, which runs the rank
  };
  // Error (run): the process cannot be started.
  static Result<std::unique_ptr<RankProcess>> start(const Setup& setup, ChildOptions options);

  [[nodiscard]] Child& child() { return *child_; }
  [[nodiscard]] const RankResult& result() const { return result_; }
  [[nodiscard]] RankResult& result() { return result_; }
  [[nodiscard]] bool is_running() const { return !child_->end().has_value(); }
  [[nodiscard]] bool has_failed() const {
    return result_.status == RankResult::Status::failed ||
           result_.status == RankResult::Status::died || result_.status == RankResult::Status::hung;
  }
  // True if another process or the kernel killed the rank: a program does not send SIGKILL to
  // itself.
  [[nodiscard]] bool was_killed() const {
    const auto ended = end();
    return ended && ended->signal == SIGKILL;
  }
  // The time when the rank reported that it was done. It may still be shutting down.
  [[nodiscard]] const std::optional<Clock::time_point>& done_at() const { return done_at_; }
  // The time of the last sign of life. It is in the future while the rank starts up.
  [[nodiscard]] Clock::time_point last_sign() const { return last_sign_; }
  // The position in program order of the node that the rank last reported; -1 outside of nodes.
  [[nodiscard]] std::int64_t position() const { return status_.read().position; }

  // Checks for signs of life and for the end of the process. Returns true if the result has changed
  // since the last call.
  bool look(Clock::time_point now, PlaceNames& places);
  // Records that the rank makes no progress, with `reason` as the message.
  void hang(Clock::time_point now, const NodePlace& place, std::string reason);
  // Asks the process to end, and kills it after `grace`. If the rank has neither failed nor
  // reported that it was done, its status becomes `stopped`, for this reason.
  void stop(std::chrono::milliseconds grace, const std::string& reason);
  // Like `stop`, but kills the process immediately.
  void kill(const std::string& reason);

 private:
  RankProcess(const Setup& setup, StatusReader status);
  // How the rank ended; std::nullopt while it runs.
  [[nodiscard]] std::optional<ChildEnd> end() const;
  void handle_line(std::string_view line);
  void record_end(Clock::time_point now, PlaceNames& places);
  void set_ended(Clock::time_point now);

  std::optional<Child> child_;
  StatusReader status_;
  RankStatus seen_;
  RankResult result_;
  Clock::time_point run_start_, last_sign_;
  std::optional<Clock::time_point> done_at_;
  bool has_news_ = true;
  bool is_stopped_ = false, is_concluded_ = false, is_profiled_ = false;
  std::int64_t kills_before_ = 0;  // out_of_memory_kills() before the start
};

}  // namespace jointer

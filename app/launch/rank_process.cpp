#include "app/launch/rank_process.h"

#include <fmt/core.h>

#include <csignal>
#include <fstream>

namespace jointer {
namespace {

// The number of processes that the kernel has killed since boot because memory ran out; 0 if the
// kernel does not report it.
std::int64_t out_of_memory_kills() {
  std::ifstream file("/proc/vmstat");
  std::string name;
  for (std::int64_t count = 0; file >> name >> count;)
    if (name == "oom_kill") return count;
  return 0;
}

// Returns the reason why a process ended without reporting a failure.
std::string why_it_died(const Child& child, const ChildEnd& end, bool said_done,
                        bool memory_was_short) {
  std::string why = to_string(end);
  if (end.signal == SIGKILL)
    why += memory_was_short ? ": the system was out of memory"
                            : ", sent by a user or by the system, which may have run out of memory";
  else if (end.succeeded())
    why = "exited with code 0 without reporting that it was done";
  if (said_done) why += ", after it reported that it was done";
  if (const std::string error = child.last_error(); !error.empty()) why += ": " + error;
  return why;
}

}  // namespace

RankProcess::RankProcess(const Setup& setup, StatusReader status)
    : status_(std::move(status)),
      run_start_(setup.run_start),
      last_sign_(Clock::now() + setup.startup),
      is_profiled_(setup.is_profiled),
      kills_before_(out_of_memory_kills()) {
  result_.rank = setup.rank;
}

Result<std::unique_ptr<RankProcess>> RankProcess::start(const Setup& setup, ChildOptions options) {
  JOINTER_TRY(StatusReader status, StatusReader::make(setup.status_path));
  options.environment.emplace_back(kStatusFileVariable, setup.status_path);
  std::unique_ptr<RankProcess> process(new RankProcess(setup, std::move(status)));
  options.on_line = [self = process.get()](std::string_view line) { self->handle_line(line); };
  JOINTER_TRY(process->child_, Child::start(std::move(options)));
  return process;
}

// A profiler ends with the exit code of the program that it runs or, if a signal killed the
// program, with 128 plus the number of the signal, as shells do.
std::optional<ChildEnd> RankProcess::end() const {
  std::optional<ChildEnd> ended = child_->end();
  constexpr int kKilled = 128;
  if (is_profiled_ && ended && ended->exit_code > kKilled && ended->exit_code < kKilled + NSIG)
    ended = ChildEnd{.signal = ended->exit_code - kKilled};
  return ended;
}

void RankProcess::set_ended(Clock::time_point now) {
  result_.ended_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - run_start_).count();
}

void RankProcess::handle_line(std::string_view line) {
  const auto event = parse_event(line);
  if (!event) return;
  const auto now = Clock::now();
  last_sign_ = now;
  has_news_ = true;
  result_.apply(*event);
  if (std::holds_alternative<RankDone>(*event)) done_at_ = now;
  if (std::holds_alternative<RankFailed>(*event) && result_.status == RankResult::Status::running) {
    result_.status = result_.kind == "hang" ? RankResult::Status::hung : RankResult::Status::failed;
    set_ended(now);
  }
}

bool RankProcess::look(Clock::time_point now, PlaceNames& places) {
  if (const RankStatus status = status_.read(); status != seen_) {
    seen_ = status;
    last_sign_ = now;
  }
  // The rank gave up waiting, so another rank of the collective may be to blame.
  if (result_.kind == "hang" && !places.find(result_.rank, seen_.position).collective.empty())
    result_.kind = "collective";
  if (!is_running() && !is_concluded_) record_end(now, places);
  return std::exchange(has_news_, false);
}

void RankProcess::record_end(Clock::time_point now, PlaceNames& places) {
  is_concluded_ = has_news_ = true;
  if (result_.status != RankResult::Status::running) return;
  set_ended(now);
  if (is_stopped_) {
    result_.status = RankResult::Status::stopped;
  } else if (const ChildEnd how = *end(); done_at_ && how.succeeded()) {
    result_.status = RankResult::Status::done;
    result_.stage.clear();
  } else {
    result_.status = RankResult::Status::died;
    const bool memory_was_short = out_of_memory_kills() > kills_before_;
    result_.reason = why_it_died(*child_, how, done_at_.has_value(), memory_was_short);
    if (memory_was_short && how.signal == SIGKILL) result_.kind = "memory";
    if (const auto stage = seen_.stage_name(); !stage.empty()) result_.stage = stage;
    result_.node = places.find(result_.rank, seen_.position).node;
  }
}

void RankProcess::hang(Clock::time_point now, const NodePlace& place, std::string reason) {
  result_.status = RankResult::Status::hung;
  result_.kind = place.collective.empty() ? "hang" : "collective";
  result_.node = place.text();
  if (const auto stage = seen_.stage_name(); !stage.empty()) result_.stage = stage;
  result_.reason = std::move(reason);
  has_news_ = true;
  set_ended(now);
}

void RankProcess::stop(std::chrono::milliseconds grace, const std::string& reason) {
  if (!is_running()) return;
  if (result_.status == RankResult::Status::running && !done_at_) {
    is_stopped_ = true;
    result_.reason = reason;
  }
  child_->terminate(grace);
}

void RankProcess::kill(const std::string& reason) {
  stop(std::chrono::milliseconds(0), reason);
  child_->kill();
}

}  // namespace jointer

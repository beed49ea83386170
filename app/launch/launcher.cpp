// Starts the ranks of a benchmark and watches them until they end, fail or hang.
//
// Terms
//   sign of life  an event, or a change of the status file.
//   position      the node that a rank is at, according to its status file.
//
// A rank hangs if it has given no sign of life for the request's timeout (longer before the first
// sign: LaunchOptions::startup), unless it waits for others. A rank at a collective, or at an
// unknown position, hangs only if no rank has given a sign of life for that long (another rank may
// still be compiling). Ranks observe the same timeout. Only a rank knows the work that its device
// has not finished, so the launcher waits a little longer, and the first report of a hang usually
// comes from a rank that gave up waiting; in that case, a silent rank that is not at a collective
// counts as hanging, too. app/launch/blame.h decides which rank is to blame.
//
// After the first failure, the launcher waits a moment for the other ranks to end on their own: if
// a rank dies, a collective of another rank often reports the failure first.
// BenchmarkResult::culprit distinguishes the cause from such a consequence. If the failure cannot
// be a consequence, the wait is short.

#include "app/launch/launcher.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iterator>
#include <set>

#include "app/launch/blame.h"
#include "app/launch/fit.h"
#include "app/launch/machine.h"
#include "app/launch/nsys.h"
#include "app/launch/place_names.h"
#include "app/launch/programs.h"
#include "app/launch/rank_process.h"
#include "core/bench/nsys.h"
#include "core/process/file_descriptor.h"
#include "core/process/temporary_folder.h"

namespace jointer {
namespace {

using Clock = RankProcess::Clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick{40};
constexpr milliseconds kBetweenNews{50};
// The time that a profiler may take to write a rank's report.
constexpr milliseconds kReporting{600'000};

// Returns an unused port of the loopback interface.
Result<int> free_port() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (!socket || ::bind(socket.get(), plain, size) != 0 ||
      ::getsockname(socket.get(), plain, &size) != 0)
    return fail(Error::Kind::run, "cannot find a free port on the loopback interface: {}",
                std::strerror(errno));
  return ntohs(address.sin_port);
}

// The current time as 2026-01-02T03:04:05+01:00.
std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local);
  std::string result(text, length);
  if (result.size() > 2) result.insert(result.size() - 2, ":");
  return result;
}

class Run {
 public:
  Run(const BenchmarkRequest& request, const LaunchOptions& options, TemporaryFolder folder)
      : request_(request),
        options_(options),
        timeout_(request.timeout_ms),
        patience_(timeout_ + timeout_ / 10 + milliseconds(100)),
        folder_(std::move(folder)),
        places_(request) {}

  Result<BenchmarkResult> run() {
    BenchmarkResult result;
    result.request = request_;
    result.started_at = now_text();
    JOINTER_CHECK(start());
    while (std::ranges::any_of(ranks_, [](const auto& rank) { return rank->is_running(); })) {
      Child::pump(children_, kTick);
      look();
    }
    look();
    tell(true);
    for (const auto& rank : ranks_) result.ranks.push_back(std::move(rank->result()));
    explain_waiting(result);
    return result;
  }

 private:
  Result<void> start() {
    JOINTER_TRY(const ProgramCommand program,
                request_.backend == Backend::python ? python_program() : runner_program());
    std::string nsys;  // empty if the ranks run without it
    if (is_profiled()) {
      JOINTER_TRY(nsys, nsys_program());
      JOINTER_CHECK(prepare_reports(request_));
    }
    JOINTER_TRY(const int port, free_port());
    const int world = request_.solo ? 1 : request_.ranks;
    const int threads = threads_per_rank(request_, this_machine());
    for (int i = 0; i < world; ++i) {
      ChildOptions child;
      child.command = program.command;
      if (request_.backend == Backend::python) child.command.emplace_back("bench");
      for (std::string& word : runner_arguments(request_)) child.command.push_back(std::move(word));
      child.environment = program.environment;
      const auto set = [&](const char* name, std::string value) {
        child.environment.emplace_back(name, std::move(value));
      };
      set("RANK", fmt::format("{}", i));
      set("LOCAL_RANK", fmt::format("{}", i));
      set("WORLD_SIZE", fmt::format("{}", world));
      set("LOCAL_WORLD_SIZE", fmt::format("{}", world));
      set("MASTER_ADDR", "127.0.0.1");
      set("MASTER_PORT", fmt::format("{}", port));
      set("OMP_NUM_THREADS", fmt::format("{}", threads));
      const int rank = request_.solo.value_or(i);
      if (is_profiled()) {
        child.command = profiled(nsys, rank, std::move(child.command));
        // The kernel ends nsys with this process, but not the rank, which nsys has started.
        set(kLauncherVariable, fmt::format("{}", ::getpid()));
      }
      JOINTER_TRY(auto process,
                  RankProcess::start({.rank = rank,
                                      .status_path = folder_.path(fmt::format("status{}", rank)),
                                      .run_start = run_start_,
                                      .startup = options_.startup,
                                      .is_profiled = is_profiled()},
                                     std::move(child)));
      children_.push_back(&process->child());
      ranks_.push_back(std::move(process));
    }
    return {};
  }

  [[nodiscard]] bool is_profiled() const { return !request_.nsys.empty(); }

  [[nodiscard]] std::vector<std::string> profiled(const std::string& nsys, int rank,
                                                  std::vector<std::string> command) const {
    std::vector<std::string> words = nsys_arguments(request_, std::to_string(rank));
    words.insert(words.begin(), nsys);
    words.insert(words.end(), std::make_move_iterator(command.begin()),
                 std::make_move_iterator(command.end()));
    return words;
  }

  void look() {
    const auto now = Clock::now();
    for (const auto& rank : ranks_) has_news_ |= rank->look(now, places_);
    if (!is_cancelled_ && options_.is_cancelled && options_.is_cancelled()) {
      is_cancelled_ = true;
      for (const auto& rank : ranks_) rank->kill("cancelled");
    }
    if (!is_cancelled_) {
      if (!first_failure_) find_hung(now);
      end_those_that_do_not_close(now);
      if (!first_failure_ && is_failed()) record_first_failure(now);
      if (first_failure_ && !has_stopped_others_ && now - *first_failure_ >= moment())
        stop_others(now);
    }
    tell(false);
  }

  [[nodiscard]] bool is_failed() const {
    return std::ranges::any_of(ranks_, [](const auto& rank) { return rank->has_failed(); });
  }

  // If a rank was killed, or failed outside a collective, it is a cause of the failure. A rank that
  // exited or aborted may only have lost the connection to another rank.
  [[nodiscard]] milliseconds moment() const {
    const bool is_certain = std::ranges::any_of(ranks_, [](const auto& rank) {
      return rank->result().status == RankResult::Status::died
                 ? rank->was_killed()
                 : rank->has_failed() && rank->result().kind != "collective";
    });
    return is_certain ? options_.same_words : options_.last_words;
  }

  void tell(bool at_the_end) {
    const auto now = Clock::now();
    if (!options_.on_progress || (!at_the_end && (!has_news_ || now - told_ < kBetweenNews)))
      return;
    std::vector<RankResult> results;
    results.reserve(ranks_.size());
    for (const auto& rank : ranks_) results.push_back(rank->result());
    options_.on_progress(results);
    told_ = now;
    has_news_ = false;
  }

  [[nodiscard]] std::vector<RankPlace> places(Clock::time_point now) {
    std::vector<RankPlace> all;
    for (const auto& rank : ranks_)
      all.push_back({rank->result().rank, places_.find(rank->result().rank, rank->position()),
                     std::chrono::duration_cast<milliseconds>(now - rank->last_sign())});
    return all;
  }

  void find_hung(Clock::time_point now) {
    Clock::time_point last_sign = run_start_;
    bool any_late = false;
    for (const auto& rank : ranks_) {
      last_sign = std::max(last_sign, rank->last_sign());
      any_late |= can_hang(*rank) && now - rank->last_sign() > patience_;
    }
    if (!any_late) return;
    const bool all_silent = now - last_sign > patience_;
    const std::vector<RankPlace> all = places(now);
    std::vector<RankPlace> late;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      if (can_hang(*ranks_[i]) && all[i].silence > patience_) late.push_back(all[i]);
    if (!all_silent && std::ranges::none_of(late, &RankPlace::is_by_itself)) return;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      if (can_hang(*ranks_[i]) && all[i].silence > patience_ && is_to_blame(all[i], late))
        hang(*ranks_[i], now, all[i], all);
  }

  static bool can_hang(const RankProcess& rank) {
    return rank.is_running() && !rank.done_at() && !rank.has_failed();
  }

  void hang(RankProcess& rank, Clock::time_point now, const RankPlace& place,
            const std::vector<RankPlace>& all) {
    const auto seconds = std::chrono::duration<double>(std::min(place.silence, timeout_)).count();
    rank.hang(now, place.place,
              fmt::format("no progress for {:.3g} s{}", seconds, describe_others(place, all)));
    is_explained_.insert(place.rank);
  }

  void end_those_that_do_not_close(Clock::time_point now) {
    const milliseconds closing = options_.closing + (is_profiled() ? kReporting : milliseconds(0));
    for (const auto& rank : ranks_)
      if (rank->is_running() && rank->done_at() && now - *rank->done_at() > closing &&
          !rank->has_failed())
        rank->hang(now, {}, "reported that it was done, but did not exit");
  }

  // Records the time of the first failure and, if a collective failed or a rank gave up waiting,
  // where all ranks are.
  void record_first_failure(Clock::time_point now) {
    first_failure_ = now;
    if (std::ranges::any_of(ranks_,
                            [](const auto& rank) { return timed_out_waiting(rank->result()); }))
      places_at_failure_ = places(now);
  }

  static bool timed_out_waiting(const RankResult& rank) {
    return rank.kind == "collective" || rank.kind == "hang";
  }

  void stop_others(Clock::time_point now) {
    has_stopped_others_ = true;
    if (!places_at_failure_.empty())
      for (const RankPlace& place : places(now))
        if (RankProcess& rank = rank_of(place);
            can_hang(rank) && place.is_by_itself() && place.silence > timeout_ / 2)
          hang(rank, now, place, places_at_failure_);
    BenchmarkResult so_far;
    for (const auto& rank : ranks_) so_far.ranks.push_back(rank->result());
    const std::string reason = fmt::format("ended because rank {} failed", so_far.culprit()->rank);
    for (const auto& rank : ranks_) rank->stop(options_.grace, reason);
  }

  [[nodiscard]] RankProcess& rank_of(const RankPlace& place) {
    return **std::ranges::find_if(
        ranks_, [&](const auto& rank) { return rank->result().rank == place.rank; });
  }

  // If nothing else went wrong, adds the positions of the other ranks to the reason of each rank
  // that waited for them.
  void explain_waiting(BenchmarkResult& result) {
    const RankResult* culprit = result.culprit();
    if (culprit == nullptr || !timed_out_waiting(*culprit)) return;
    for (const RankPlace& place : places_at_failure_)
      for (RankResult& rank : result.ranks)
        if (rank.rank == place.rank && timed_out_waiting(rank) &&
            !is_explained_.contains(rank.rank))
          rank.reason += describe_others(place, places_at_failure_);
  }

  const BenchmarkRequest& request_;
  const LaunchOptions& options_;
  milliseconds timeout_, patience_;
  TemporaryFolder folder_;
  PlaceNames places_;
  Clock::time_point run_start_ = Clock::now(), told_{};
  std::vector<std::unique_ptr<RankProcess>> ranks_;
  std::vector<Child*> children_;
  std::optional<Clock::time_point> first_failure_;
  std::vector<RankPlace> places_at_failure_;
  std::set<int> is_explained_;
  bool is_cancelled_ = false, has_stopped_others_ = false, has_news_ = true;
};

}  // namespace

Result<BenchmarkResult> launch(const BenchmarkRequest& request, const LaunchOptions& options) {
  if (!request.solo && request.ranks < 1)
    return fail(Error::Kind::usage,
                "the benchmark request contains neither the number of ranks (--ranks) nor a rank "
                "to run alone (--solo)");
  JOINTER_TRY(TemporaryFolder folder, TemporaryFolder::make("jointer-run-"));
  return Run(request, options, std::move(folder)).run();
}

}  // namespace jointer

#pragma once

// Step and exposed time with a block in every gap that it may go into. How is described at the top
// of time_preview.cpp.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/schedule/time_what_if.h"

namespace jointer {

class TimePreview {
 public:
  TimePreview(const TimeWhatIf& time, const MovableOrder& calls, std::span<const NodeId> block,
              std::size_t first, std::size_t last);
  std::vector<StepTime> run();

 private:
  using Call = TimeWhatIf::Call;
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 4;
  static constexpr std::int64_t kPlenty = -kNone;
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  class EventSet {
   public:
    explicit EventSet(std::size_t events = 0) : bits_(events / 64 + 1, 0) {}
    void flip(std::uint32_t event) { bits_[event / 64] ^= std::uint64_t{1} << (event % 64); }
    // The first from this one on, or kNowhere.
    [[nodiscard]] std::uint32_t next(std::uint32_t event) const;

   private:
    std::vector<std::uint64_t> bits_;
  };

  // What calls without collectives do to the clocks of the host and of the compute stream: how much
  // later than each of the two (first letter: which comes out) they end at least.
  struct Transfer {
    std::int64_t host_host = 0, host_compute = kNone, compute_host = kNone, compute_compute = 0;

    void precede(const Call& call);
    void apply(std::int64_t& host, std::int64_t& compute) const;
  };

  // A start or a wait of the rest, as the model meets it.
  struct Event {
    const Call* call = nullptr;
    bool resets = false;  // the host waits for the compute stream before the next event
    std::int64_t host = 0, compute = 0, exposed = 0;  // before it; exposed: by all waits before it
    std::int64_t slack = 0;  // of a start: from its stream's clock; of a wait: from its collective
    std::int64_t host_slack = kPlenty;  // from the host's clock, here and until the next event
    std::int64_t end = 0;               // of a start; of a wait: when it is reached
    std::int64_t clock = 0;             // of a start: its stream's, before it
    Transfer after;                     // until the next event
    std::int32_t last_wait = -1;        // of the starts before it; -1 for none
    std::uint32_t waits = 0;            // how many of waits_ are before it
  };
  struct Gap {
    std::int64_t host = 0, compute = 0, exposed = 0;
    std::uint32_t event = 0;  // the first behind it
    Transfer until;           // that event
  };
  // The first wait for a collective.
  struct Wait {
    std::uint32_t event = 0, start = 0;  // events
  };
  // A collective that was simulated, by its first wait, and how much later it ends than in the
  // model.
  struct Pending {
    std::uint32_t wait = 0;
    std::int64_t by = 0;
  };
  // Events that were jumped over: what started there ends that much later.
  struct Era {
    std::uint32_t first = 0, last = 0;
    std::int64_t by = 0;
  };
  // A collective of the block that is waited for behind it.
  struct Own {
    std::int64_t end = 0;
    std::uint32_t collective = 0, wait = kNowhere;
    friend bool operator==(const Own&, const Own&) = default;
  };

  static bool is_event(const Call& call);
  void run_rest(std::size_t rank);
  void add_event(const Call& call);
  void note_use_of_host();
  void end_rest();
  void find_least_slacks();
  void find_transfers();
  void find_last_waits();
  void find_next();
  void take_as_model(std::size_t gap);

  StepTime run_gap(const Gap& gap);
  void begin(const Gap& gap);
  void mark_begun(std::uint32_t event);
  [[nodiscard]] bool is_known(std::uint32_t event) const;
  StepTime finish(std::uint32_t event);
  void run_own(const Call& call);
  void simulate(const Event& event);
  std::int64_t start(const Call& call);
  void wait(const Call& call);
  [[nodiscard]] std::int64_t end_of(std::uint32_t collective) const;

  [[nodiscard]] std::uint32_t wakes(std::uint32_t event);
  [[nodiscard]] std::uint32_t host_wakes(std::uint32_t event, std::int64_t ahead) const;
  [[nodiscard]] std::uint32_t begun_before_wake(std::uint32_t event, std::int64_t shift) const;
  [[nodiscard]] std::uint32_t era_wakes(const Era& era, std::uint32_t event,
                                        std::int64_t shift) const;
  [[nodiscard]] std::uint32_t pending_wake(std::uint32_t event, std::int64_t shift);
  [[nodiscard]] std::uint32_t next_start(std::size_t stream, std::uint32_t event) const {
    return next_starts_[stream * events_.size() + event];
  }
  [[nodiscard]] std::int64_t clock_of_rest(std::size_t stream, std::uint32_t event) const;
  [[nodiscard]] std::int64_t clock_of_model(std::size_t stream, std::uint32_t event) const;
  void jump(std::uint32_t from, std::uint32_t to);

  std::size_t first_, last_;
  std::vector<const Call*> block_;
  std::vector<const Call*> rest_;

  // The model. `events_` has one more for the end.
  std::uint32_t count_ = 0;
  std::vector<Event> events_;
  // From this event on it is a run with the block, in the gap before it; kNowhere: without it. What
  // the run of the rest is in front of that event.
  std::uint32_t border_ = kNowhere;
  Event at_border_;
  std::vector<std::int64_t> border_clocks_;
  std::vector<Gap> gaps_;
  std::vector<std::uint32_t> starts_, first_waits_;  // by collective: events
  std::vector<Wait> waits_;                          // first waits of starts of the rest
  std::vector<std::int64_t> ends_;                   // by collective
  std::vector<std::int64_t> clocks_;                 // by stream, at the end
  std::vector<std::int64_t> clock_slacks_;       // by stream: at the end, from the compute stream
  std::vector<std::uint32_t> next_starts_;       // by stream, then event
  std::vector<std::uint32_t> next_resets_;       // by event
  std::vector<std::int64_t> least_host_slacks_;  // of 64 events each
  StepTime model_;

  // While a model runs: the next event, and the last one if there was one.
  std::int64_t host_ = 0, compute_ = 0, exposed_ = 0;
  std::uint32_t next_event_ = 0;
  Event* last_event_ = nullptr;
  std::size_t work_ = 0;  // since the model was run

  // The waits whose collectives began before the gap, and those of them that are exposed in the
  // model.
  EventSet begun_waits_, begun_exposed_;
  std::uint32_t begun_ = 0;  // by now: starts before this event

  // A run with the block, from a gap on.
  struct Run {
    std::int64_t host = 0, compute = 0, exposed = 0;
    std::uint32_t begun = 0;  // the first event behind the gap
    std::vector<std::int64_t> clocks;
    std::vector<Pending> pending;
    std::vector<Era> eras;
    std::vector<Own> own;
  } at_;
  std::vector<std::int64_t> own_ends_;        // by collective
  std::vector<std::uint32_t> own_ends_from_;  // by collective: the run that set it
  std::uint32_t run_ = 0;

  // The run of the gap behind: in front of its first event.
  struct Known {
    std::uint32_t begun = kNowhere;
    std::int64_t host = 0, compute = 0, exposed = 0;
    std::vector<std::int64_t> clocks;
    std::vector<Own> own;
    StepTime time;
  } known_;
};

}  // namespace jointer

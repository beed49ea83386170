#pragma once

// Computes the step time and the exposed time for every gap to which a block may be moved. The
// algorithm is at the top of time_preview.cpp.

#include <cstdint>
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
  static constexpr std::int64_t kNone = ClockDelays::kNone;
  static constexpr std::int64_t kAmpleSlack = -kNone;
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  class EventSet {
   public:
    explicit EventSet(std::size_t events = 0) : bits_(events / 64 + 1, 0) {}
    void flip(std::uint32_t event) { bits_[event / 64] ^= std::uint64_t{1} << (event % 64); }
    // The first event in the set from `event` on, or kNowhere.
    [[nodiscard]] std::uint32_t next(std::uint32_t event) const;

   private:
    std::vector<std::uint64_t> bits_;
  };

  // A start or a wait in the rest, and its state in the model.
  struct Event {
    const Call* call = nullptr;
    bool resets = false;  // the host waits for the compute stream before the next event
    Clocks before;
    std::int64_t slack = 0;                 // of the start's stream, or of the wait's collective
    std::int64_t host_slack = kAmpleSlack;  // of the host, here and up to the next event
    std::int64_t end = 0;                   // of a start
    std::int64_t clock = 0;                 // of a start's stream, before the start
    ClockDelays after;                      // up to the next event
    std::int32_t last_wait = -1;            // the last wait for any earlier start; -1 for none
    std::uint32_t waits = 0;                // number of waits_ before this event
  };
  struct Gap {
    Clocks before;
    std::uint32_t event = 0;  // the first event after the gap
    ClockDelays until;        // delays up to that event
  };
  // The first wait for a collective of the rest.
  struct Wait {
    std::uint32_t event = 0, start = 0;  // events
  };
  // A collective with a simulated start: its first wait, and its delay relative to the model.
  struct Pending {
    std::uint32_t wait = 0;
    std::int64_t by = 0;
  };
  // A range of skipped events. Collectives that start there end later than in the model by `by`.
  struct Era {
    std::uint32_t first = 0, last = 0;
    std::int64_t by = 0;
  };
  // A collective that the block starts. `wait`: its first wait in the rest, if there is one.
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
  void find_min_slacks();
  void find_delays();
  void find_last_waits();
  void find_next();
  void use_as_model(std::size_t gap);

  StepTime run_gap(const Gap& gap);
  void begin(const Gap& gap);
  void mark_begun(std::uint32_t event);
  [[nodiscard]] bool is_known(std::uint32_t event) const;
  StepTime finish(std::uint32_t event);
  void run_own(const Call& call);
  void simulate(const Event& event);
  std::int64_t start(const Call& call);
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

  // The model. `events_` has an additional entry for the end.
  std::uint32_t count_ = 0;
  std::vector<Event> events_;
  // From this event on, the model is a run with the block in the gap before the event; kNowhere if
  // the model is the run of the rest. `at_border_` and `border_streams_` are the state at that
  // event in the run of the rest.
  std::uint32_t border_ = kNowhere;
  Event at_border_;
  std::vector<std::int64_t> border_streams_;
  std::vector<Gap> gaps_;
  std::vector<std::uint32_t> starts_, first_waits_;  // indexed by collective: the event
  std::vector<Wait> waits_;                          // of the rest, in order
  std::vector<std::int64_t> ends_;                   // indexed by collective
  std::vector<std::int64_t> streams_;                // indexed by stream: clock at the end
  std::vector<std::int64_t> stream_slacks_;          // indexed by stream: slack at the end
  std::vector<std::uint32_t> next_starts_;           // indexed by stream, then event
  std::vector<std::uint32_t> next_resets_;           // indexed by event
  std::vector<std::int64_t> min_host_slacks_;        // minimum over each block of 64 events
  StepTime model_;

  // The state while a model runs: the clocks, the next event, and the last event or null.
  Clocks now_;
  std::uint32_t next_event_ = 0;
  Event* last_event_ = nullptr;
  std::size_t work_ = 0;  // work since the model ran

  // The waits for collectives that began before the gap, and those of them that are exposed in the
  // model.
  EventSet begun_waits_, begun_exposed_;
  std::uint32_t begun_ = 0;  // the sets contain the waits for starts before this event

  // The state of a run with the block in a gap.
  struct Run {
    Clocks now;
    std::uint32_t begun = 0;  // the first event after the gap
    std::vector<std::int64_t> streams;
    std::vector<Pending> pending;
    std::vector<Era> eras;
    std::vector<Own> own;
  } at_;
  std::vector<std::int64_t> own_ends_;        // indexed by collective
  std::vector<std::uint32_t> own_ends_from_;  // indexed by collective: run_ when own_ends_ was set
  std::uint32_t run_ = 0;

  // The state of the next gap's run at its first event, and the result of that run.
  struct Known {
    std::uint32_t begun = kNowhere;
    Clocks now;
    std::vector<std::int64_t> streams;
    std::vector<Own> own;
    StepTime time;
  } known_;
};

}  // namespace jointer

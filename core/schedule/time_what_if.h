#pragma once

// Computes the step time and exposed time of an order that is being edited. The algorithm is at the
// top of time_what_if.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/schedule/clocks.h"
#include "core/schedule/movable_order.h"

namespace jointer {

class TimeWhatIf {
 public:
  // `calls`: the nodes that run, in the graph's order.
  TimeWhatIf(const Graph& graph, std::span<const NodeCost> costs, const SimulationOptions& options,
             const MovableOrder& calls);

  [[nodiscard]] StepTime time() const { return time_; }
  // Call after calls have moved.
  void replay(const MovableOrder& calls, Stretch changed);
  // The times with the block in each gap in [first, last] of `calls`. All these gaps must be
  // legal.
  [[nodiscard]] std::vector<StepTime> times(const MovableOrder& calls,
                                            std::span<const NodeId> block, std::size_t first,
                                            std::size_t last) const;
  // Returns true if the block contains only waits and calls that take only host time.
  [[nodiscard]] bool may_sleep(std::span<const NodeId> block) const;
  // Returns true if moving the block later cannot change the times: the block may sleep, the
  // collectives that it waits for are complete, and its host time has no effect anywhere. May
  // return false even if the times cannot change.
  [[nodiscard]] bool sleeps_from_here(const MovableOrder& calls,
                                      std::span<const NodeId> block) const;

 private:
  friend class TimePreview;

  struct Call : TimedCall {
    bool stalls = false;           // for a wait: the compute stream was idle when it was last run
    std::uint32_t collective = 0;  // of starts and waits
  };
  // A run of a fixed number of calls, and the state before them.
  struct Chunk {
    Clocks before;
    // The host's minimum lead over the compute stream when that stream starts a launched call. If
    // the host waits for the compute stream in this chunk, only calls up to that point count.
    std::int64_t host_slack = 0;
    bool resets = false;  // the host waits for the compute stream
  };
  // A replayed collective and its previous end.
  struct Replayed {
    std::uint32_t collective = 0;
    std::int64_t was = 0;
  };

  void run(Call& call, std::size_t chunk);
  void run_chunk(const MovableOrder& calls, std::size_t chunk);
  [[nodiscard]] std::span<std::int64_t> streams_of(std::size_t chunk) {
    return std::span(chunk_streams_).subspan(chunk * streams_, streams_);
  }
  [[nodiscard]] std::int64_t end_of(std::uint32_t collective) const;
  void note_ends(const MovableOrder& calls, std::size_t chunk);
  void restore(std::size_t chunk);
  void store(std::size_t chunk);
  [[nodiscard]] bool is_in_step(std::size_t chunk, std::size_t replayed_from);
  [[nodiscard]] bool host_sleeps(std::size_t chunk, std::int64_t ahead) const;
  void shift_from(std::size_t chunk);
  void end();

  std::vector<Call> calls_;  // indexed by node
  std::size_t streams_ = 0, collectives_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<std::int64_t>
      chunk_streams_;  // indexed by chunk, then stream: the clock before the chunk
  // Indexed by collective: the chunk that starts it, and its end, relative to the compute clock
  // before that chunk.
  std::vector<std::uint32_t> started_in_;
  std::vector<std::int64_t> ends_;
  StepTime time_;

  // The state during a run.
  Clocks now_;
  std::vector<std::int64_t> streams_now_;
  std::vector<Replayed> replayed_;
};

}  // namespace jointer

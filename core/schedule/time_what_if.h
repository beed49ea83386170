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
  // `calls`: the nodes that run, in the graph's order. The blocks of the functions below consist of
  // calls, sorted by their current order, and gaps are those of `calls`.
  TimeWhatIf(const Graph& graph, std::span<const NodeCost> costs, const SimulationOptions& options,
             const MovableOrder& calls);

  [[nodiscard]] StepTime time() const { return time_; }
  // Call this after moving calls. `changed`: the stretch that MovableOrder::move returned.
  void replay(const MovableOrder& calls, Stretch changed);
  // The times with the block in each gap in [first, last]. All these gaps must be legal.
  [[nodiscard]] std::vector<StepTime> times(const MovableOrder& calls,
                                            std::span<const NodeId> block, std::size_t first,
                                            std::size_t last) const;
  // Returns true if the block contains only waits and calls that take only host time.
  [[nodiscard]] bool may_sleep(std::span<const NodeId> block) const;
  // Returns true if moving the block later cannot change the times: may_sleep() is true, the
  // collectives that the block waits for are complete, and its host time has no effect anywhere.
  // May return false even if the times cannot change.
  [[nodiscard]] bool sleeps_from_here(const MovableOrder& calls,
                                      std::span<const NodeId> block) const;

 private:
  friend class TimePreview;

  struct Call : TimedCall {
    bool stalls = false;           // for a wait: it made the compute stream idle in the last run
    std::uint32_t collective = 0;  // of starts and waits
  };
  // A chunk of consecutive calls, and the state before them.
  struct Chunk {
    Clocks before;
    // The minimum lead of the host over the compute stream whenever that stream needs a launch. If
    // the host waits for the compute stream in this chunk, only calls up to the first such wait
    // count.
    std::int64_t host_slack = 0;
    bool resets = false;  // the host waits for the compute stream in this chunk
  };
  // A collective that is run again, and its previous end.
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

  std::vector<Call> calls_;  // indexed by node id
  std::size_t streams_ = 0, collectives_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<std::int64_t>
      chunk_streams_;  // indexed by chunk, then stream: clock before the chunk
  // Indexed by collective: the chunk that starts it, and its end relative to the compute stream's
  // clock before that chunk.
  std::vector<std::uint32_t> started_in_;
  std::vector<std::int64_t> ends_;
  StepTime time_;

  // The state during a run.
  Clocks now_;
  std::vector<std::int64_t> streams_now_;
  std::vector<Replayed> replayed_;
};

}  // namespace jointer

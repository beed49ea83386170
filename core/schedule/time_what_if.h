#pragma once

// Step time and exposed time of an order that is being edited. How is described at the top of
// time_what_if.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/schedule/movable_order.h"
#include "core/schedule/simulation.h"

namespace jointer {

struct StepTime {
  std::int64_t step_ns = 0, exposed_ns = 0;
  friend bool operator==(const StepTime&, const StepTime&) = default;
};

class TimeWhatIf {
 public:
  // `calls`: the nodes that run, in the graph's order.
  TimeWhatIf(const Graph& graph, std::span<const NodeCost> costs, const SimulationOptions& options,
             const MovableOrder& calls);

  [[nodiscard]] StepTime time() const { return time_; }
  // Calls changed places.
  void replay(const MovableOrder& calls, Stretch changed);
  // With the block in each gap of [first, last] of `calls`. It must be free to go there.
  [[nodiscard]] std::vector<StepTime> times(const MovableOrder& calls,
                                            std::span<const NodeId> block, std::size_t first,
                                            std::size_t last) const;
  // Whether the block only waits, or takes the host's time alone.
  [[nodiscard]] bool may_sleep(std::span<const NodeId> block) const;
  // Whether the time stays as it is wherever later the block goes: it may sleep, what it waits for
  // is over already, and nothing notices when the host does that. May miss that it is so.
  [[nodiscard]] bool sleeps_from_here(const MovableOrder& calls,
                                      std::span<const NodeId> block) const;

 private:
  friend class TimePreview;

  struct Call {
    enum class Kind : std::uint8_t { host, kernel, blocking_kernel, start, wait };
    Kind kind = Kind::host;
    std::uint32_t stream = 0, collective = 0;  // of starts and waits
    std::int64_t host_ns = 0, ns = 0;
    bool stalls = false;  // of a wait: the compute stream stood still, when it was run last
  };
  // So many calls, and the state in front of them.
  struct Chunk {
    std::int64_t host = 0, compute = 0, exposed = 0;
    // How far the host is ahead of the compute stream at least, where that starts what the host has
    // launched: until the host waits for it, if it does.
    std::int64_t host_slack = 0;
    bool resets = false;  // the host waits for the compute stream
  };
  struct Clocks {
    std::int64_t host = 0, compute = 0, exposed = 0;
    std::vector<std::int64_t> streams;
  };
  // A collective of what was run again, and when it ended before.
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

  std::vector<Call> calls_;  // by node
  std::size_t streams_ = 0, collectives_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<std::int64_t> chunk_streams_;  // by chunk, then stream: its clock in front of it
  // By collective: in which chunk it starts, and how long after that chunk's compute clock it ends.
  std::vector<std::uint32_t> started_in_;
  std::vector<std::int64_t> ends_;
  StepTime time_;

  Clocks now_;  // while it runs
  std::vector<Replayed> replayed_;
};

}  // namespace jointer

#pragma once

// Simulates a training step on one rank, with the CPU, a compute stream, a stream per process group
// and a stream for copies, according to the rules of clocks.h. Times are in nanoseconds from the
// start of the step.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/schedule/clocks.h"

namespace jointer {

// The times and the stream of a node. For a wait_tensor, the time from start to end is the stall of
// the compute stream.
struct NodeTiming {
  std::int64_t host_start = 0, host_end = 0;
  std::int64_t start = 0, end = 0;  // on its stream; equal if the node takes no time there
  std::int32_t stream = -1;         // index in Simulation::streams; -1 for none
};

// The reason why a collective is exposed.
struct ExposureReason {
  enum class Kind : std::uint8_t {
    none,         // the collective is hidden
    stream_busy,  // it was queued behind `node` for at least half of the exposed time
    dependency,   // `node` computes its input, `user` needs its result; no unused compute between
    no_compute,   // the same, but without `node` (the start of the step) or `user` (the end)
    order,        // independent compute runs before the start or after the wait
    tail,         // the collective ends after the host and the compute stream are done
  };
  Kind kind = Kind::none;
  NodeId node;          // the collective ahead in the queue, or the last producer of an input
  NodeId user;          // the first node that needs the result
  bool before = false;  // order: the unused compute is before the start, not after the wait
  std::int64_t ns = 0;  // time in the queue, or of the unused compute
};
std::string_view to_string(ExposureReason::Kind kind);

// The timing of a collective, or of a copy to or from the host.
struct CollectiveTiming {
  NodeId start, wait;  // `wait`: the first one; none if there is no wait
  GroupId group;       // none for a copy, or if it is unknown
  bool is_transfer = false;
  // The time at which it is launched and all earlier work on the compute stream is done.
  std::int64_t ready_ns = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t exposed_ns = 0;
  ExposureReason reason;
  // False if it is hidden; 1 ns may be due to rounding.
  [[nodiscard]] bool is_exposed() const { return exposed_ns > 1; }
};

struct Stream {
  std::string name;  // "compute", "copy", "communication" or the group's label; made unique
  GroupId group;     // none for compute, copies, and the shared communication stream
};

// The reason as a phrase; empty if the collective is hidden.
std::string reason_text(const Graph& graph, const CollectiveTiming& collective);

class Simulation {
 public:
  // `costs`: indexed by node id (estimate_all).
  Simulation(const Graph& graph, std::span<const NodeCost> costs,
             const SimulationOptions& options = {});

  [[nodiscard]] std::int64_t step_ns() const { return step_ns_; }
  [[nodiscard]] std::int64_t compute_ns() const { return compute_ns_; }  // sum over all kernels
  [[nodiscard]] std::int64_t communication_ns() const { return communication_ns_; }
  // Sum over all copies to and from the host.
  [[nodiscard]] std::int64_t transfer_ns() const { return transfer_ns_; }
  // Exposed time of collectives and copies.
  [[nodiscard]] std::int64_t exposed_ns() const { return exposed_ns_; }
  // Time during which the compute stream waits for the CPU: step_ns - compute_ns - exposed_ns.
  [[nodiscard]] std::int64_t host_bound_ns() const { return host_bound_ns_; }
  // The number of all and of hidden collectives, without copies.
  [[nodiscard]] std::size_t collective_count() const;
  [[nodiscard]] std::size_t hidden_count() const;

  // In program order, including copies to and from the host.
  [[nodiscard]] std::span<const CollectiveTiming> collectives() const { return collectives_; }
  // The index in collectives() for a start or its wait; -1 for other nodes, and for a wait that
  // runs before its start, as is possible in the order of a compiled step's kernels.
  [[nodiscard]] std::int32_t collective_of(NodeId node) const {
    return collective_by_node_[node.index()];
  }
  // The first stream is the compute stream.
  [[nodiscard]] std::span<const Stream> streams() const { return streams_; }
  [[nodiscard]] const NodeTiming& timing(NodeId node) const { return timings_[node.index()]; }

 private:
  void run(const Graph& graph, std::span<const NodeCost> costs, const SimulationOptions& options);
  void expose_tail(std::int64_t compute_end);

  std::vector<NodeTiming> timings_;
  std::vector<CollectiveTiming> collectives_;
  std::vector<std::int32_t> collective_by_node_;
  std::vector<std::int32_t>
      queued_after_;  // indexed by collective: the previous one on the stream, or -1
  std::vector<Stream> streams_;
  std::int64_t step_ns_ = 0, compute_ns_ = 0, communication_ns_ = 0, exposed_ns_ = 0;
  std::int64_t transfer_ns_ = 0;
  std::int64_t host_bound_ns_ = 0;
};

}  // namespace jointer

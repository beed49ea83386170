#pragma once

// One rank's step in time: a CPU that launches, one compute stream, one stream a process group.
// The model is described at the top of simulation.cpp. Times are nanoseconds from the start.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/cost/estimator.h"
#include "core/graph/graph.h"

namespace jointer {

struct SimulationOptions {
  // Every collective on one stream, whatever its group: what torch's scheduler and `simulate` of
  // the neutral judge assume.
  bool one_communication_stream = false;
};

// Where a node spent its time. For a wait_tensor, start to end is the stall of the compute stream.
struct NodeTiming {
  std::int64_t host_start = 0, host_end = 0;
  std::int64_t start = 0, end = 0;  // on its stream; equal where it takes no time there
  std::int32_t stream = -1;         // index into Simulation::streams, -1 for none
};

// Why a collective's time is not hidden.
struct ExposureReason {
  enum class Kind : std::uint8_t {
    none,         // it is hidden
    stream_busy,  // it queued behind `node` on its stream
    dependency,   // its input is made by `node` just before, and its result is needed at once
    no_compute,   // there is no independent compute in its legal range
    order,        // there is, but the order does not use it
    tail,         // nothing is left to run while it ends
  };
  Kind kind = Kind::none;
  NodeId node;          // behind which it queued; else its producer
  NodeId user;          // what needs its result
  bool before = false;  // order: the unused compute lies before its start, not behind its wait
  std::int64_t ns = 0;  // queued, or of compute that lies unused
};
std::string_view to_string(ExposureReason::Kind kind);

struct CollectiveTiming {
  NodeId start, wait;  // no wait: none
  GroupId group;
  std::int64_t ready_ns = 0;  // launched and its inputs are there
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t exposed_ns = 0;
  ExposureReason reason;
};

struct Stream {
  std::string name;  // "compute", or the group's label
  GroupId group;     // none for compute, and for the shared communication stream
};

// The reason in one sentence; empty where the collective is hidden.
std::string reason_text(const Graph& graph, const CollectiveTiming& collective);

class Simulation {
 public:
  // `costs`: one a node, by id (estimate_all).
  Simulation(const Graph& graph, std::span<const NodeCost> costs,
             const SimulationOptions& options = {});

  [[nodiscard]] std::int64_t step_ns() const { return step_ns_; }
  [[nodiscard]] std::int64_t compute_ns() const { return compute_ns_; }  // kernels, summed
  [[nodiscard]] std::int64_t communication_ns() const { return communication_ns_; }
  [[nodiscard]] std::int64_t exposed_ns() const { return exposed_ns_; }
  // Time in which the compute stream waits for the CPU to launch.
  [[nodiscard]] std::int64_t host_bound_ns() const { return host_bound_ns_; }
  [[nodiscard]] std::size_t hidden_count() const;

  // In program order.
  [[nodiscard]] std::span<const CollectiveTiming> collectives() const { return collectives_; }
  // Index into collectives() of a start or of its wait, or -1.
  [[nodiscard]] std::int32_t collective_of(NodeId node) const {
    return collective_by_node_[node.index()];
  }
  // The first is the compute stream.
  [[nodiscard]] std::span<const Stream> streams() const { return streams_; }
  [[nodiscard]] const NodeTiming& timing(NodeId node) const { return timings_[node.index()]; }

 private:
  void run(const Graph& graph, std::span<const NodeCost> costs, const SimulationOptions& options);
  void expose_tail(std::int64_t compute_end);

  std::vector<NodeTiming> timings_;
  std::vector<CollectiveTiming> collectives_;
  std::vector<std::int32_t> collective_by_node_;
  std::vector<std::int32_t>
      queued_behind_;  // by collective: the one before it on its stream, or -1
  std::vector<Stream> streams_;
  std::int64_t step_ns_ = 0, compute_ns_ = 0, communication_ns_ = 0, exposed_ns_ = 0;
  std::int64_t host_bound_ns_ = 0;
};

}  // namespace jointer

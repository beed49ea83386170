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

// Of a copy to the host or back, too: what a wait_tensor may wait for.
struct CollectiveTiming {
  NodeId start, wait;  // no wait: none
  GroupId group;       // of a copy: none
  bool is_transfer = false;
  std::int64_t ready_ns = 0;  // launched and its inputs are there
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t exposed_ns = 0;
  ExposureReason reason;
};

struct Stream {
  std::string name;  // "compute", "copy", or the group's label
  GroupId group;     // none for compute, copies, and the shared communication stream
};

// Which stream something asynchronous runs on, as a number below stream_keys: its group's; one for
// all that have none, or where all share one; one for copies to the host and back.
inline std::size_t stream_keys(const Graph& graph) {
  return graph.group_count() + 2;
}
std::size_t stream_key(const Graph& graph, const Node& start, const SimulationOptions& options);

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
  // Copies to the host and back, summed.
  [[nodiscard]] std::int64_t transfer_ns() const { return transfer_ns_; }
  // Of communication and of copies.
  [[nodiscard]] std::int64_t exposed_ns() const { return exposed_ns_; }
  // Time in which the compute stream waits for the CPU to launch.
  [[nodiscard]] std::int64_t host_bound_ns() const { return host_bound_ns_; }
  // Collectives, without copies; and how many of them are hidden.
  [[nodiscard]] std::size_t collective_count() const;
  [[nodiscard]] std::size_t hidden_count() const;

  // In program order, copies to the host and back among them.
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
  std::int64_t transfer_ns_ = 0;
  std::int64_t host_bound_ns_ = 0;
};

}  // namespace jointer

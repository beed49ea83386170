#pragma once

// Estimates the duration of each node. The simulation and everything above it use this interface.
// To add an estimator, derive a class and add its name to make_estimator.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/cost/device.h"
#include "core/graph/graph.h"

namespace jointer {

// The cost of a node: the stream that it runs on, what limits it, and its times.
struct NodeCost {
  enum class Lane : std::uint8_t {
    none,  // no time on the device
    compute,
    collective,  // on its process group's stream
    transfer,    // ao.offload and ao.reload, on their own stream
  };
  enum class Limit : std::uint8_t {
    none,
    compute,   // FLOPs
    memory,    // bytes of device memory
    launch,    // the minimum duration of a kernel
    transfer,  // the link between host and device
    network,   // bytes of a collective
    latency,   // start-up of a collective
    given,     // measured, or from a model that does not state a limit
  };
  Lane lane = Lane::none;
  Limit limit = Limit::none;
  bool blocks_host = false;  // the CPU waits until the node is done
  std::int64_t ns = 0;       // on the device
  std::int64_t host_ns = 0;  // on the CPU, before the device can start
};
std::string_view to_string(NodeCost::Limit limit);

// The cost of copies between device memory and pinned host memory, which run on their own stream.
struct TransferCosts {
  double ns_per_byte = 0;
  std::int64_t min_ns = 0;
  std::int64_t host_ns = 0;       // CPU time to start a copy
  std::int64_t wait_host_ns = 0;  // CPU time to wait for a copy

  [[nodiscard]] NodeCost of(std::int64_t bytes) const;
  friend bool operator==(const TransferCosts&, const TransferCosts&) = default;
};

class Estimator {
 public:
  virtual ~Estimator() = default;
  Estimator() = default;
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  // The description shown with the estimates: "roofline, NVIDIA H100 SXM 80 GB, 8 GPUs per node".
  [[nodiscard]] virtual std::string description() const = 0;
  // The description, plus facts about `costs`, which this object estimated: for example, how many
  // of them are measured.
  [[nodiscard]] virtual std::string description_of(std::span<const NodeCost> /*costs*/) const {
    return description();
  }
  [[nodiscard]] virtual const DeviceDescription& device() const = 0;
  [[nodiscard]] virtual NodeCost estimate(const Graph& graph, NodeId node) const = 0;
  // The duration in nanoseconds that the collective would have without any bytes to move. Merging
  // it into a bucket saves this time. Default: 0.
  [[nodiscard]] virtual std::int64_t latency_ns(const Graph& /*graph*/,
                                                NodeId /*collective*/) const {
    return 0;
  }
  // The costs of ao.offload and ao.reload, and of waiting for them. Default: computed from the
  // device's host link, without CPU time.
  [[nodiscard]] virtual TransferCosts transfer_costs() const;
};

struct EstimatorRequest {
  // One of: roofline, kernels, simple{}, torch-2.11, torch-2.15, profile{trace=""}, measured,
  // measured{device=""}
  std::string name = "roofline";
  std::string device = "h100";  // empty: see make_estimator
  std::int64_t gpus_per_node = 8;
  std::string costs;  // file of measured costs; empty: CostDatabase::default_path()
};

// `request.device` chooses the device description. If it is empty, the default device of `runs_on`
// is used; without `runs_on`, an H100. `measured{device="D"}` uses the times of D, and `measured`
// those of the most recently measured device of type `runs_on` (of any type without `runs_on`). If
// `request.device` is empty, the rest follows from the description that matches the measured
// device, or from the default device of its type if none does. Error (usage): the estimator, the
// device or a constant does not exist, `gpus_per_node` is less than 1, nothing was measured, or the
// device of `kernels` has no rates of kernels. Error (input): the trace, the device description or
// the cost database cannot be read, or is damaged. Error (run): the cost database remains locked,
// or the system fails while it is read.
Result<std::unique_ptr<Estimator>> make_estimator(const EstimatorRequest& request,
                                                  std::optional<DeviceType> runs_on = {});

// Returns the costs of all nodes, indexed by node id. Limits the times, so that sums over the graph
// fit in 64 bits.
std::vector<NodeCost> estimate_all(const Graph& graph, const Estimator& estimator);

}  // namespace jointer

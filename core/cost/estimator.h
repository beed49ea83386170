#pragma once

// How long each node takes. Estimators are replaceable: the simulation and everything above it ask
// through this interface. To add one, derive a class and name it in make_estimator.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/cost/device.h"
#include "core/graph/graph.h"

namespace jointer {

// Where a node runs and what sets its time.
struct NodeCost {
  enum class Lane : std::uint8_t {
    none,  // takes no time on the device
    compute,
    collective,  // on its process group's stream
    transfer,    // on the stream of copies to the host and back
  };
  enum class Limit : std::uint8_t {
    none,
    compute,   // FLOPs
    memory,    // bytes of device memory
    launch,    // the shortest a kernel takes
    transfer,  // the link between host and device
    network,   // bytes of a collective
    latency,   // a collective's start-up
    given,     // measured, or a constant
  };
  Lane lane = Lane::none;
  Limit limit = Limit::none;
  bool blocks_host = false;  // the CPU waits until it is done
  std::int64_t ns = 0;       // on the device
  std::int64_t host_ns = 0;  // on the CPU, before the device can start
};
std::string_view to_string(NodeCost::Limit limit);

// What a copy to the host or back takes on the stream of such copies, from and to pinned memory.
struct TransferCosts {
  double ns_per_byte = 0;
  std::int64_t least_ns = 0;
  std::int64_t host_ns = 0;       // the CPU's, to start one
  std::int64_t wait_host_ns = 0;  // and to wait for one

  [[nodiscard]] NodeCost of(std::int64_t bytes) const;
  friend bool operator==(const TransferCosts&, const TransferCosts&) = default;
};

class Estimator {
 public:
  virtual ~Estimator() = default;
  Estimator() = default;
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  // What a person reads beside the figures: "roofline, NVIDIA H100 SXM 80 GB, 8 GPUs a node".
  [[nodiscard]] virtual std::string description() const = 0;
  // The same, of what it estimated: how many of a graph's costs were measured. `costs` are its own.
  [[nodiscard]] virtual std::string description_of(std::span<const NodeCost> /*costs*/) const {
    return description();
  }
  [[nodiscard]] virtual const DeviceDescription& device() const = 0;
  [[nodiscard]] virtual NodeCost estimate(const Graph& graph, NodeId node) const = 0;
  // What a collective would take for no bytes: what another one saves that joins it in a bucket. By
  // itself nothing.
  [[nodiscard]] virtual std::int64_t latency_ns(const Graph& graph, NodeId collective) const;
  // Its estimates of ao.offload, ao.reload and of waiting for them, in figures. By itself the
  // device's host link, at no cost to the CPU.
  [[nodiscard]] virtual TransferCosts transfer_costs() const;
};

struct EstimatorRequest {
  // roofline, simple{}, torch-2.11, torch-2.15, profile{trace=""}, measured, measured{device=""}
  std::string name = "roofline";
  std::string device = "h100";  // empty: the one that fits the graph, or what was measured
  std::int64_t gpus_per_node = 8;
  std::string costs;  // file of measured costs; empty: CostDatabase::default_path()
};

// Error (usage): no such estimator or device, or a constant that it does not have; nothing was
// measured. Error (input): the cost database is damaged. An empty device is the one that fits
// `runs_on`, and `measured` without a device is what was measured last of that type of device;
// without `runs_on` they are an H100, and whatever was measured last.
Result<std::unique_ptr<Estimator>> make_estimator(const EstimatorRequest& request);
Result<std::unique_ptr<Estimator>> make_estimator(const EstimatorRequest& request,
                                                  DeviceType runs_on);

// One cost a node, by id.
std::vector<NodeCost> estimate_all(const Graph& graph, const Estimator& estimator);

// The device that a graph captured on `device` is most likely to run on.
std::string_view default_device(const Graph& graph);
// One that stands for a type of device.
std::string_view default_device(DeviceType type);

}  // namespace jointer

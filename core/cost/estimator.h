#pragma once

// How long each node takes. Estimators are replaceable: the simulation and everything above it ask
// through this interface. To add one, derive a class and name it in make_estimator.

#include <cstdint>
#include <memory>
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

class Estimator {
 public:
  virtual ~Estimator() = default;
  Estimator() = default;
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  // What a person reads beside the figures: "roofline, NVIDIA H100 SXM 80 GB, 8 GPUs a node".
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual const DeviceDescription& device() const = 0;
  [[nodiscard]] virtual NodeCost estimate(const Graph& graph, NodeId node) const = 0;
};

struct EstimatorRequest {
  std::string name = "roofline";  // roofline, simple{...}, torch-2.11
  std::string device = "h100";
  std::int64_t gpus_per_node = 8;
};

// Error (usage): no such estimator or device, or a constant that it does not have.
Result<std::unique_ptr<Estimator>> make_estimator(const EstimatorRequest& request);

// One cost a node, by id.
std::vector<NodeCost> estimate_all(const Graph& graph, const Estimator& estimator);

// The device that a graph captured on `device` is most likely to run on.
std::string_view default_device(const Graph& graph);
// One that stands for a type of device.
std::string_view default_device(DeviceType type);

}  // namespace jointer

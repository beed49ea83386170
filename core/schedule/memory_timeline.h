#pragma once

// Computes the live bytes along the program order, counted by storage.
//
// A step is a node that runs: any node except a placeholder, a get_attr or an output. The profile
// has one point for the start, then two points per step: after its allocations and after its frees.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/schedule/collective_copies.h"
#include "core/schedule/lifetimes.h"

namespace jointer {

using BytesByCategory = std::array<std::int64_t, kMemoryCategories>;

enum class OptimizerState : std::uint8_t { none, adamw };

struct MemoryOptions {
  MemoryRules rules = MemoryRules::runtime;
  // adamw: two fp32 moments and a 4-byte step count per parameter, as in torch's fused AdamW.
  OptimizerState optimizer = OptimizerState::none;
  // The type of device on which the graph runs, if it was captured on another type. The tensors on
  // the graph's main device then count as moved to that device, sizes are rounded by its rules, and
  // tensors that are already there in the capture count too. The torch rules ignore this.
  std::optional<DeviceType> runs_on;
  // If true, sizes are rounded up as by the device's allocator; if false, they are the requested
  // ones. The torch rules round no storage in any case.
  bool rounds_sizes = true;
  // The library that runs collectives, which may allocate memory in addition to the outputs.
  CollectiveLibrary collectives = CollectiveLibrary::none;
  friend bool operator==(const MemoryOptions&, const MemoryOptions&) = default;
};

class MemoryTimeline {
 public:
  explicit MemoryTimeline(const Graph& graph, const MemoryOptions& options = {});
  // Uses the given steps and lifetimes instead of those of a graph that runs operator by operator.
  // `steps`: every call of the graph at least once, in the order in which they run; a call whose
  // work runs in several places has several steps, of which `step_of` returns the first.
  MemoryTimeline(const Graph& graph, const MemoryOptions& options, std::vector<NodeId> steps,
                 std::vector<Lifetime> lifetimes);

  [[nodiscard]] const MemoryOptions& options() const { return options_; }
  // The type of the device whose memory is counted.
  [[nodiscard]] DeviceType device() const { return device_; }
  [[nodiscard]] std::span<const NodeId> steps() const { return steps_; }
  // The step of a node; nullopt for a node that does not run.
  [[nodiscard]] std::optional<std::size_t> step_of(NodeId node) const;

  [[nodiscard]] std::span<const std::int64_t> profile() const { return profile_; }
  [[nodiscard]] std::int64_t peak_bytes() const { return profile_[peak_index_]; }
  [[nodiscard]] std::size_t peak_index() const { return peak_index_; }
  // The node of a point in the profile; none for the start.
  [[nodiscard]] NodeId node_at(std::size_t index) const {
    return index == 0 ? NodeId{} : steps_[(index - 1) / 2];
  }
  // The point after a node's allocations, or after its frees; nullopt for a node that does not run.
  [[nodiscard]] std::optional<std::size_t> point_of(NodeId node, bool after_frees = false) const;
  [[nodiscard]] static bool is_after_frees(std::size_t index) {
    return index > 0 && index % 2 == 0;
  }
  // The bytes that are live at all points: parameters, buffers, inputs, constants, optimizer state
  // and the tangents of a joint graph.
  [[nodiscard]] std::int64_t static_bytes() const { return static_bytes_; }

  // One lifetime per storage, in program order of the producers; then those of the buffers that the
  // collective library allocates, and of optimizer state. Lifetimes that the constructor was given
  // are unchanged; they may contain several per storage, of which `lifetime_of` returns the first.
  [[nodiscard]] std::span<const Lifetime> lifetimes() const { return lifetimes_; }
  // The index in lifetimes() of `storage`; nullopt if the storage has no lifetime, for example
  // because it is empty or on another device.
  [[nodiscard]] std::optional<std::size_t> lifetime_of(StorageId storage) const;
  [[nodiscard]] static bool is_alive(const Lifetime& lifetime, std::size_t index);

  // The bytes by category at one point; their sum is the profile's value there. Cost: linear in the
  // storages.
  [[nodiscard]] BytesByCategory at(std::size_t index) const;
  // The indices in lifetimes() of those that contain a point, largest first.
  [[nodiscard]] std::vector<std::size_t> alive_at(std::size_t index) const;
  // One profile per category; their sum is the profile at every point.
  [[nodiscard]] std::array<std::vector<std::int64_t>, kMemoryCategories> by_category() const;

 private:
  void number_steps(const Graph& graph);
  void find_storages(const Graph& graph);
  void add_optimizer_state(const Graph& graph);
  void build_profile();

  MemoryOptions options_;
  DeviceType device_;
  std::vector<NodeId> steps_;
  std::vector<std::int32_t> step_by_node_;  // -1 for nodes that do not run
  std::vector<Lifetime> lifetimes_;
  std::vector<std::int32_t> lifetime_by_storage_;  // -1 for none
  std::vector<std::int64_t> profile_;
  std::size_t peak_index_ = 0;
  std::int64_t static_bytes_ = 0;
};

}  // namespace jointer

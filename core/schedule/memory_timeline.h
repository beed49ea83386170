#pragma once

// Live bytes over the program order, counted by storage.
//
// A step is a node that runs: every node but placeholders, get_attrs and outputs. The profile has
// the start, then two points a step: after it has allocated, after it has freed.

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
  // adamw: for each parameter two fp32 moments and a 4-byte step, as torch's fused AdamW keeps
  // them.
  OptimizerState optimizer = OptimizerState::none;
  // Where the graph runs, if not where it was captured: its tensors are moved there, sizes are
  // rounded as they are there, and what the capture had there already counts too. Not for the
  // torch rules.
  std::optional<DeviceType> runs_on;
  // Whose collectives it runs with: some take memory of their own.
  CollectiveLibrary collectives = CollectiveLibrary::none;
};

// What the optimizer keeps for the graph's parameters, where they are on the graph's main device or
// on one of type `device`. Saturates.
std::int64_t optimizer_state_bytes(const Graph& graph, DeviceType device);

class MemoryTimeline {
 public:
  explicit MemoryTimeline(const Graph& graph, const MemoryOptions& options = {});

  [[nodiscard]] const MemoryOptions& options() const { return options_; }
  // The type of device whose memory this is.
  [[nodiscard]] DeviceType device() const { return device_; }
  [[nodiscard]] std::span<const NodeId> steps() const { return steps_; }
  // Step of a node; of a node that does not run, nothing.
  [[nodiscard]] std::optional<std::size_t> step_of(NodeId node) const;

  [[nodiscard]] std::span<const std::int64_t> profile() const { return profile_; }
  [[nodiscard]] std::int64_t peak_bytes() const { return profile_[peak_index_]; }
  [[nodiscard]] std::size_t peak_index() const { return peak_index_; }
  // The node that a point of the profile belongs to; none for the start.
  [[nodiscard]] NodeId node_at(std::size_t index) const {
    return index == 0 ? NodeId{} : steps_[(index - 1) / 2];
  }
  // Lives at every point: parameters, buffers, inputs, constants, optimizer state.
  [[nodiscard]] std::int64_t static_bytes() const { return static_bytes_; }

  // One entry a storage, in the order of allocation.
  [[nodiscard]] std::span<const Lifetime> lifetimes() const { return lifetimes_; }
  // Index into lifetimes() of what holds `storage`, or nothing: on another device, or without
  // bytes.
  [[nodiscard]] std::optional<std::size_t> lifetime_of(StorageId storage) const;
  [[nodiscard]] static bool is_alive(const Lifetime& lifetime, std::size_t index);

  // By category at one point; sums to the profile there. Cost: linear in the storages.
  [[nodiscard]] BytesByCategory at(std::size_t index) const;
  // Indices into lifetimes() of what is alive at a point, largest first.
  [[nodiscard]] std::vector<std::size_t> alive_at(std::size_t index) const;
  // One profile a category; they sum to the profile at every point.
  [[nodiscard]] std::array<std::vector<std::int64_t>, kMemoryCategories> by_category() const;

 private:
  void find_steps(const Graph& graph);
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

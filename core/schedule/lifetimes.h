#pragma once

// When each storage is allocated and freed. The rules are at the top of lifetimes.cpp.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

enum class MemoryCategory : std::uint8_t {
  parameter,
  buffer,
  input,
  tangent,
  constant,
  gradient,
  optimizer_state,
  saved_activation,  // made by the forward, read by the backward
  recomputed,        // made again in the backward
  temporary,
  communication,  // what a collective writes, unless it is one of the above
  output,
};
inline constexpr std::size_t kMemoryCategories = 12;
std::string_view to_string(MemoryCategory category);

enum class MemoryRules : std::uint8_t {
  runtime,  // what running the graph takes
  torch,    // what torch 2.11's build_memory_profile says
};

// One storage. A step is a node that runs, counted in program order: every call. Alive at every
// moment from the allocations of step `first` until the frees of step `last`; -1 is before the
// first step, the number of steps is for ever.
struct Lifetime {
  StorageId storage;  // none: optimizer state
  NodeId producer;
  std::int64_t bytes = 0;
  std::int32_t first = -1, last = -1;
  MemoryCategory category = MemoryCategory::temporary;
};

// In the order of allocation. Storages of other devices and without bytes are left out.
std::vector<Lifetime> find_lifetimes(const Graph& graph, MemoryRules rules);
// The same where what the graph has on its main device is moved to one of type `runs_on`.
std::vector<Lifetime> find_lifetimes(const Graph& graph, MemoryRules rules, DeviceType runs_on);

// The storage that a tensor's memory is counted by.
StorageId counted_storage(const Graph& graph, const Tensor& tensor, bool is_torch);

// Bytes that the device's allocator hands out for a request: multiples of 512 on cuda.
std::int64_t allocated_bytes(std::int64_t requested, DeviceType device);

}  // namespace jointer

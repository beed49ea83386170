#pragma once

// Finds when each storage is allocated and freed. The rules are at the top of lifetimes.cpp.

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
  saved_activation,  // computed by the forward and read by the backward, or offloaded or reloaded
  recomputed,        // computed a second time in the backward
  temporary,
  // The buffer of a collective, unless it is a gradient, an output or a saved activation; gathered
  // parameters count here even if they are saved. Also buffers of the collective library.
  communication,
  output,
};
inline constexpr std::size_t kMemoryCategories = 12;
std::string_view to_string(MemoryCategory category);

enum class MemoryRules : std::uint8_t {
  runtime,  // the memory that is used when the graph runs
  torch,    // the rules of torch 2.11's build_memory_profile
};

// The lifetime of one storage. A step is the index of a call in program order. A storage is live
// from the allocations of step `first` to the frees of step `last`. If `first` is -1, it is
// allocated before the first step. If `last` is the number of steps, it is never freed.
struct Lifetime {
  StorageId storage;  // none for optimizer state and buffers of the collective library
  NodeId producer;
  std::int64_t bytes = 0;
  std::int32_t first = -1, last = -1;
  MemoryCategory category = MemoryCategory::temporary;
};

// Finds the lifetimes, in program order of the producers, without empty storages and storages on
// devices that do not count (rule 6). The tensors on the graph's main device count as moved to a
// device of type `runs_on`. `rounds_sizes`: see MemoryOptions. The torch rules ignore both.
std::vector<Lifetime> find_lifetimes(const Graph& graph, MemoryRules rules, DeviceType runs_on,
                                     bool rounds_sizes);

// The storage under which a tensor's memory is counted: the storage in the capture if `is_torch`,
// or else the real storage.
StorageId counted_storage(const Graph& graph, const Tensor& tensor, bool is_torch);

// The bytes that the device's allocator provides for a request: a multiple of 512 on cuda.
std::int64_t allocated_bytes(std::int64_t requested, DeviceType device);

}  // namespace jointer

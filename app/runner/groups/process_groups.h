#pragma once

// The process groups that a graph's collectives name, made and registered under these names.

#include <c10/core/DeviceType.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/runner/groups/backend_factory.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer::runner {

// This process among all, from the environment as torchrun sets it.
struct World {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;
  std::string master_address = "127.0.0.1";
  int master_port = 29500;
  bool agent_has_store = false;  // torchrun itself keeps the store that ranks meet at

  // Error (usage): a variable is not what it should be.
  static Result<World> from_environment();
};

// Ranks of the group that `rank` belongs to, where a capture of another rank says `captured`. A
// device mesh has groups that are shifted copies of each other: they tile the world in order. Error
// (input): copies of it do not tile it.
Result<std::vector<std::int32_t>> group_of_rank(std::span<const std::int32_t> captured, int rank,
                                                int world_size);

// Lives as long as collectives run.
class ProcessGroups {
 public:
  struct Options {
    World world;
    std::chrono::milliseconds timeout{300'000};
    const BackendFactory* backend = nullptr;
    c10::DeviceType device = c10::DeviceType::CPU;
    bool alone = false;  // `backend` copies locally: nobody is met
  };
  // Error (run): the ranks do not find each other. Error (input): a group's ranks cannot be told.
  static Result<std::unique_ptr<ProcessGroups>> make(const Graph& graph, const Options& options);

  virtual ~ProcessGroups() = default;
  // All ranks arrive. Throws c10::Error.
  virtual void barrier() = 0;
  // The ranks of the group `name` arrive.
  virtual void barrier(const std::string& name) = 0;
};

}  // namespace jointer::runner

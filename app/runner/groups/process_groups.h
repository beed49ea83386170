#pragma once

// Creates the process groups that a graph's collectives name, and registers them under those names.

#include <c10/core/Device.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "app/runner/groups/backend_factory.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer::runner {

// This process's rank and the number of ranks, in total and on this machine, from the environment
// variables that torchrun sets.
struct World {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;
  std::string master_address = "127.0.0.1";
  int master_port = 29500;
  bool agent_has_store = false;  // torchrun runs the store through which ranks connect

  // Error (usage): an environment variable has an invalid value.
  static Result<World> from_environment();
};

// The registered process groups. This object must outlive all collectives.
class ProcessGroups {
 public:
  struct Options {
    World world;
    std::chrono::milliseconds timeout{300'000};
    const BackendFactory* backend = nullptr;
    c10::Device device = c10::DeviceType::CPU;
    bool alone = false;  // `backend` copies locally, without other ranks
  };
  // Error (run): the ranks cannot find each other. Error (input): the ranks of a group are unknown,
  // or group_of_rank fails.
  static Result<std::unique_ptr<ProcessGroups>> make(const Graph& graph, const Options& options);

  virtual ~ProcessGroups() = default;
  // Returns when all ranks have called it. Throws c10::Error if a rank fails.
  virtual void barrier() = 0;
  // Returns when all ranks of the group `name` have called it, or at once if there is no such
  // group. Throws c10::Error if a rank fails.
  virtual void barrier(const std::string& name) = 0;
  // Returns true on all ranks if `here` is true on any of them; all ranks must call it. Throws
  // c10::Error if a rank fails.
  virtual bool any(bool here) = 0;
};

}  // namespace jointer::runner

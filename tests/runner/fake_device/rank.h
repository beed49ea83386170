#pragma once

// Runs a rank on the fake device in a child process, as the launcher would, and gathers what the
// rank reports.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/bench/result.h"
#include "core/bench/status_file.h"
#include "tests/runner/fake_device/device.h"
#include "tests/runner/fake_device/faults.h"

namespace jointer::test {

struct RankSetup {
  std::string graph;                 // a literal (core/graph/literal.h)
  std::string baseline;              // the same, or empty
  std::vector<std::string> options;  // of the runner
  std::optional<Fault> fault;
  DeviceOptions device;
  std::string nvml;                // FAKE_NVML (nvml.cpp)
  bool can_keep_snapshots = true;  // if false, the folder for memory snapshots cannot be created
};

struct RankRun {
  RankResult rank;  // `died` if the process ended without a report
  int exit_code = -1, signal = 0;
  RankStatus status;  // at the end, from the status file
  // The content of the file that the failure names as its memory snapshot.
  std::string memory_snapshot;

  // The failure as a result names it: "rank 0: at mm_3: out of memory: ...".
  [[nodiscard]] std::string failure() const;
};

RankRun run_on_fake_device(const RankSetup& setup);
// The same for several ranks, which run at the same time, each in its own world.
std::vector<RankRun> run_on_fake_devices(std::span<const RankSetup> setups);

}  // namespace jointer::test

#pragma once

// Events that a rank reports while it runs: JSON objects on its standard output, one per line, as
// described by resources/schema/runner.schema.json. Every event is a sign of life, which restarts
// the rank's timeout. Other lines, such as the output of libraries, are not events.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/cost/gpu_properties.h"

namespace jointer {

inline constexpr int kRunnerProtocol = 1;

// The rank has opened its device and loaded its graph.
struct RankStarted {
  int rank = 0, world_size = 1;
  std::int64_t pid = 0;
  std::string device;       // "NVIDIA H200", "AMD EPYC 7763, 2 threads": the key of measured costs
  std::string device_type;  // "cpu", "cuda"
  std::string hash;         // of the graph that runs
  std::vector<std::string> environment;  // versions and settings: "NCCL 2.28.9", "NCCL_ALGO=Ring"
  std::optional<GpuProperties> gpu;      // if the rank runs on a GPU
};

// A stage has begun or has made progress.
struct RankProgress {
  std::string stage;  // one of kRunStages (status_file.h)
  std::int64_t done = 0, total = 0;
};

// A note for the user, for example that an operator was replaced or that a constant was generated.
struct RankNote {
  std::string text;
};

// The measured times of one call. Nodes are identified by their position in Graph::order.
struct NodeTime {
  std::uint32_t position = 0;
  // The start and end of the call in an ordinary step, relative to the start of the step, which is
  // that of its first kernel if kernels are traced. Otherwise, a collective or a copy to or from
  // the host ends when its wait returns.
  std::int64_t start_ns = 0, end_ns = 0;
  // Duration of the call in isolation, or of its kernels if they are traced: the median of several
  // steps. A collective is timed from the moment when all ranks of its group have arrived.
  std::int64_t own_ns = 0;
};

// A kernel or copy on a GPU, traced in an ordinary step. Times are relative to the start of the
// step's first kernel.
struct MeasuredKernel {
  std::uint32_t position = 0;  // of the node that launched it
  std::string name;
  std::int64_t stream = 0;
  std::int64_t start_ns = 0, end_ns = 0;
};

// Bytes that a call allocated in addition to its results and released before it returned.
struct NodeScratch {
  std::uint32_t position = 0;
  std::int64_t bytes = 0;
};

// The bytes allocated from this time until that of the next entry.
struct MeasuredBytes {
  std::int64_t ns = 0, bytes = 0;
};

// Compiled code that ran in place of nodes of the graph.
struct CompiledBlock {
  std::string name;                      // "joint", "forward", "backward", "region 2"
  std::vector<std::uint32_t> positions;  // of the nodes that it replaces, ascending
  std::int64_t peak_bytes = 0;           // maximum allocated while it ran
  // Times as in NodeTime, from a profiled run; 0 without one.
  std::int64_t start_ns = 0, end_ns = 0, own_ns = 0;
  // Allocated bytes while it ran, as it allocated and released memory. Times count from the block's
  // start and ascend; the last one is the block's end. Empty if the device does not report them.
  std::vector<MeasuredBytes> memory;
};

// The state of a GPU at the end of the measured steps. A value is 0 if the driver does not report
// it.
struct GpuState {
  std::int64_t sm_mhz = 0, max_sm_mhz = 0, memory_mhz = 0;
  std::int64_t milliwatts = 0, celsius = 0;
  std::int64_t used_bytes = 0;  // of the GPU's memory, by all processes
  // Reasons for reduced clocks, such as "power limit".
  std::vector<std::string> slowdowns;
  // The number of other processes that compute on the GPU, or on the rank's MIG instance. The bytes
  // of its memory that all other processes use; std::nullopt if the driver does not report whose
  // memory it is, for example in some containers.
  std::int64_t other_processes = 0;
  std::optional<std::int64_t> other_bytes;
  // Uncorrected ECC errors in the GPU's memory since the driver was loaded.
  std::int64_t uncorrected_ecc_errors = 0;
  bool mig = false;  // the GPU is divided into MIG instances, which share its power and clocks
  // The bytes of the GPU's memory that the rank uses; std::nullopt if the driver does not report
  // them.
  std::optional<std::int64_t> own_bytes;
};

struct RankMeasured {
  std::vector<std::int64_t> step_ns;  // one per iteration, in order
  std::int64_t peak_bytes = 0, requested_peak_bytes = 0, reserved_peak_bytes = 0;
  // The peak of requested bytes between calls: memory that the graph itself holds, without scratch.
  // Includes everything that compiled blocks allocate.
  std::int64_t resident_peak_bytes = 0;
  // Workspaces that libraries such as cuBLAS keep on the device. The peaks do not include them.
  std::int64_t workspace_bytes = 0;
  // The peak of host memory that is pinned for copies to and from a GPU: that of offloaded tensors.
  std::int64_t pinned_peak_bytes = 0;
  // The rank's memory on the GPU outside of the caching allocator, after the measured steps: CUDA's
  // context, the code of kernels, and buffers of libraries such as NCCL. 0 if NVML does not report
  // the rank's memory.
  std::int64_t outside_bytes = 0;
  // From a profiled run: requested bytes at the start, then after each call's allocations and after
  // its frees (as in MemoryTimeline::profile; for the calls of a compiled block, the block's peak);
  // the time of each call outside of compiled blocks; and its kernels.
  std::vector<std::int64_t> memory_profile;
  std::vector<NodeTime> nodes;
  std::vector<MeasuredKernel> kernels;  // in order of their start times; empty on the CPU
  // From any run: the scratch bytes of each call outside of compiled blocks, unless they are zero;
  // the compiled blocks; and, on a GPU that NVML finds, its state.
  std::vector<NodeScratch> scratch;
  std::vector<CompiledBlock> blocks;
  std::optional<GpuState> gpu;
};

// The result of comparing the outputs with the expected ones. Names the output that differs most,
// relative to its largest expected magnitude, and its element that differs most.
struct RankVerified {
  std::string against;  // "baseline", "expected"
  bool bitwise = false;
  bool equal = false;       // bitwise, or no output differs by more than the bound
  double max_abs_diff = 0;  // of this element
  double max_rel_diff = 0;  // the same, relative to the output's largest expected magnitude
  // Relative to an output's largest expected magnitude. 0 unless the backend, the device's kernels
  // or the order of sums between ranks change numerics; with 0, numbers must be equal (-0 equals 0,
  // and NaN equals NaN).
  double bound = 0;
  std::string output;  // empty if all are bitwise equal
  std::int64_t element = 0;
  std::int64_t compared = 0;  // number of outputs
};

struct RankFailed {
  // usage, load, unsupported, device, memory, node, collective, hang, compile, verify, internal
  std::string kind;
  std::string node;  // empty if no node caused it
  std::string text;  // one line
  // If a GPU's memory ran out: the path of a CUDA memory snapshot that the rank wrote (see
  // SnapshotFolder). Otherwise empty.
  std::string memory_snapshot;
};

// The last event of a rank that succeeded.
struct RankDone {};

using RankEvent = std::variant<RankStarted, RankProgress, RankNote, RankMeasured, RankVerified,
                               RankFailed, RankDone>;

// The event as one line, without the line break.
std::string write_event(const RankEvent& event);
// Returns nullopt if the line is not an event, or a field of it is invalid. Ignores unknown keys.
// If the line announces a newer protocol, returns a RankFailed that says so.
std::optional<RankEvent> parse_event(std::string_view line);

}  // namespace jointer

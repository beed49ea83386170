#pragma once

// A benchmark request, and the equivalent command line of a rank. Nothing is started here:
// app/launch starts ranks on this machine, torchrun and Slurm on many.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/bench/shell.h"

namespace jointer {

enum class Backend : std::uint8_t {
  interpret,  // operator by operator through LibTorch's dispatcher
  cudagraph,  // interpreted once, captured as a CUDA graph, replayed
  inductor,   // compiled as a whole to an AOTInductor package
  regional,   // marked regions are compiled, the rest is interpreted
  python,     // torch.fx in a Python process, for operators without a native form
};
std::string_view to_string(Backend backend);

// The device on which a benchmark runs; independent of the device that the estimate assumes.
enum class RunOn : std::uint8_t { automatic, cpu, cuda };
std::string_view to_string(RunOn on);

// The kernel for scaled dot-product attention. `automatic`: the kernel that the graph names, or its
// replacement on this device.
enum class AttentionKernel : std::uint8_t { automatic, flash, efficient, cudnn, math };
std::string_view to_string(AttentionKernel kernel);

// TF32 for float32 matrix products and convolutions on a GPU. `automatic`: as torch does by
// default.
enum class Tf32 : std::uint8_t { automatic, allow, forbid };
std::string_view to_string(Tf32 choice);

// The files of a graph, or of the two halves of a pair. `{rank}` in a path stands for the rank's
// number.
struct ProgramFiles {
  std::string graph, backward;

  [[nodiscard]] bool empty() const { return graph.empty(); }
};

struct BenchmarkRequest {
  ProgramFiles program;
  // The unedited graph, which computes the expected outputs; may be empty.
  ProgramFiles baseline;
  std::string inputs, expected;  // safetensors, by placeholder and by output index; may be empty
  std::optional<std::size_t> graph_index;  // of the graph, if the file holds several
  std::string assumptions;                 // "u0=64,..." as Assumptions::parse reads it
  int ranks = 0;                           // 0 for the capture's world size
  std::optional<int> solo;                 // only this rank runs; copies replace collectives
  Backend backend = Backend::interpret;
  bool recorded = false;  // captured as a CUDA graph and replayed; applies to compiled code too
  RunOn on = RunOn::automatic;
  AttentionKernel attention = AttentionKernel::automatic;
  Tf32 tf32 = Tf32::automatic;
  int iterations = 10, warmup = 3;
  int threads = 0;  // for a rank's operators; 0 for its share of the machine's cores
  std::uint64_t seed = 0;
  // Nodes for regional compilation, in addition to those that the graph marks: names or
  // FQN_PATTERN::operator, separated by `;`.
  std::string marked;
  std::string artifacts;  // folder for compiled packages in addition to the cache; may be empty
  bool profile = false;   // also times every node and records memory, in further runs
  // Folder for the reports of Nsight Systems, under which every rank then runs (nsys.h). The rank
  // marks its measured steps and their nodes. Empty: without Nsight Systems.
  std::string nsys;
  // The rank's threads run on the CPUs of its GPU's NUMA node (app/runner/gpu/pinning.h).
  bool pins = true;
  std::int64_t memory_limit = 0;      // maximum bytes allocated by a rank; 0 for no limit
  std::int64_t timeout_ms = 300'000;  // maximum time without progress of a rank
};

// Replaces every `{rank}` in `path` with the rank's number.
std::string path_of_rank(std::string_view path, int rank);

// An option of jointer-runner: its name without dashes, and its value, which is empty if the option
// takes none; nullopt if the option is not given.
struct RunnerOption {
  std::string_view name;
  std::optional<std::string> value;
};
// All options that a request can contain, in a fixed order. They represent the whole request except
// for `program.graph`.
std::vector<RunnerOption> runner_options(const BenchmarkRequest& request);

// The arguments of jointer-runner, without the program's name. They do not include the rank, which
// the runner reads from the environment variables that torchrun sets.
std::vector<std::string> runner_arguments(const BenchmarkRequest& request);

// The inverse of runner_arguments. Error (usage): an option is unknown, a value is missing or
// invalid, or the number of graphs is not one.
Result<BenchmarkRequest> parse_runner_arguments(const std::vector<std::string>& arguments);

// Command lines that start the same run on `nodes` machines with `ranks_per_node` ranks each: a
// torchrun command to enter on each machine, and a Slurm job step. With `nsys`, the folder must be
// an absolute path.
std::string torchrun_command(const BenchmarkRequest& request, int nodes, int ranks_per_node);
std::string slurm_command(const BenchmarkRequest& request, int nodes, int ranks_per_node);

}  // namespace jointer

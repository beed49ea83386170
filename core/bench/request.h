#pragma once

// What a person asks to have run, and the command line of a rank that says the same. No process is
// started here: app/launch does that on this machine, torchrun and Slurm on many.

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
  regional,   // marked regions compiled, the rest interpreted
  python,     // torch.fx in a Python process: for what has no native form
};
std::string_view to_string(Backend backend);
std::optional<Backend> parse_backend(std::string_view name);

// Where a benchmark runs; the estimate's device is another matter.
enum class RunOn : std::uint8_t { automatic, cpu, cuda };
std::string_view to_string(RunOn on);
std::optional<RunOn> parse_run_on(std::string_view name);

// Which kernel scaled dot product attention uses. Automatic: what the graph names, or what the
// device has instead of it.
enum class AttentionKernel : std::uint8_t { automatic, flash, efficient, cudnn, math };
std::string_view to_string(AttentionKernel kernel);
std::optional<AttentionKernel> parse_attention_kernel(std::string_view name);

// A graph, or the two halves of a pair. In a path `{rank}` stands for the rank's number.
struct ProgramFiles {
  std::string graph, backward;

  [[nodiscard]] bool empty() const { return graph.empty(); }
};

struct BenchmarkRequest {
  ProgramFiles program;
  ProgramFiles baseline;         // the unedited graph, whose outputs must come out; empty: none
  std::string inputs, expected;  // safetensors by placeholder, and by index in the output; or empty
  std::optional<std::size_t> graph_index;  // which graph, where the file holds several
  std::string assumptions;                 // "u0=64,..." as Assumptions::parse reads it
  int ranks = 0;                           // 0: the capture's world
  std::optional<int> solo;                 // this rank alone, collectives replaced by local copies
  Backend backend = Backend::interpret;
  bool recorded = false;  // what runs is captured as a CUDA graph and replayed, compiled code too
  RunOn on = RunOn::automatic;
  AttentionKernel attention = AttentionKernel::automatic;
  int iterations = 10, warmup = 3;
  int threads = 0;  // of a rank's operators; 0: the machine's cores shared out
  std::uint64_t seed = 0;
  // Regional compilation: nodes, or FQN_PATTERN::operator, separated by `;`, beside what the graph
  // itself marks.
  std::string marked;
  std::string artifacts;              // folder for compiled packages, beside the cache; or empty
  bool profile = false;               // further runs that time every node and follow memory
  std::int64_t memory_limit = 0;      // bytes a rank may allocate; 0: no limit
  std::int64_t timeout_ms = 300'000;  // how long a rank may be without progress
};

// `path` with the rank's number for every `{rank}`.
std::string path_of_rank(std::string_view path, int rank);

// What jointer-runner takes, the program's own name left out. Everything but the rank, which comes
// from the environment as torchrun sets it.
std::vector<std::string> runner_arguments(const BenchmarkRequest& request);

// The reverse. Error (usage): an unknown option, or a value that does not fit.
Result<BenchmarkRequest> parse_runner_arguments(const std::vector<std::string>& arguments);

// Command lines that start the same run on several machines: torchrun, to be called on each, and a
// step of a Slurm job. `nodes` machines with `ranks_per_node` ranks each.
std::string torchrun_command(const BenchmarkRequest& request, int nodes, int ranks_per_node);
std::string slurm_command(const BenchmarkRequest& request, int nodes, int ranks_per_node);

}  // namespace jointer

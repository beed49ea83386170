// Builds the command lines that start a run on one or more machines with torchrun or Slurm.
// torchrun sets the environment variables that a rank reads; under Slurm, the command line sets
// them.

#include <fmt/core.h>

#include "core/bench/nsys.h"
#include "core/bench/request.h"
#include "core/bench/shell.h"

namespace jointer {
namespace {

constexpr std::string_view kPort = "29500";

// The command line of a rank: the runner, or Python for the backend that needs it, and its
// arguments.
std::string rank_command(const BenchmarkRequest& request, std::string_view program,
                         std::string_view python_module) {
  std::string line(request.backend == Backend::python ? python_module : program);
  return line + ' ' + shell_words(runner_arguments(request));
}

// The words before a rank's command: `nsys profile ...`, or none.
std::string profiler(const BenchmarkRequest& request) {
  if (request.nsys.empty()) return {};
  return "nsys " + shell_words(nsys_arguments(request, kNsysRank)) + ' ';
}

// A command that creates the folder for reports, because nsys does not create it; empty without
// nsys. `then`: joins it with the next command.
std::string make_report_folder(const BenchmarkRequest& request, std::string_view then) {
  if (request.nsys.empty()) return {};
  return fmt::format("mkdir -p {}{}", shell_word(request.nsys), then);
}

// Leaves out the number of ranks, which the launcher sets.
BenchmarkRequest for_launcher(BenchmarkRequest request) {
  request.ranks = 0;
  return request;
}

}  // namespace

std::string torchrun_command(const BenchmarkRequest& request, int nodes, int ranks_per_node) {
  const std::string before_rank = "--no-python " + profiler(request);
  const std::string rank =
      rank_command(for_launcher(request), before_rank + "jointer-runner",
                   request.nsys.empty() ? std::string("-m jointer bench")
                                        : before_rank + "python3 -m jointer bench");
  const std::string before = make_report_folder(request, " && ");
  if (nodes <= 1)
    return fmt::format("{}torchrun --standalone --nproc-per-node={} {}", before, ranks_per_node,
                       rank);
  return fmt::format(
      "{}torchrun --nnodes={} --nproc-per-node={} --rdzv-backend=c10d "
      "--rdzv-endpoint=\"${{HEAD_NODE:?set it to the name of the first machine}}:{}\" {}",
      before, nodes, ranks_per_node, kPort, rank);
}

std::string slurm_command(const BenchmarkRequest& request, int nodes, int ranks_per_node) {
  const std::string before_rank = "exec " + profiler(request);
  const std::string rank = rank_command(for_launcher(request), before_rank + "jointer-runner",
                                        before_rank + "python3 -m jointer bench");
  const std::string script = fmt::format(
      "{}export RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS LOCAL_RANK=$SLURM_LOCALID "
      "LOCAL_WORLD_SIZE={} MASTER_PORT={} "
      "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1); {}",
      make_report_folder(request, "; "), ranks_per_node, kPort, rank);
  return fmt::format(
      "srun --nodes={} --ntasks-per-node={}{} sh -c {}", nodes, ranks_per_node,
      request.on == RunOn::cpu ? "" : fmt::format(" --gpus-per-node={}", ranks_per_node),
      shell_word(script));
}

}  // namespace jointer

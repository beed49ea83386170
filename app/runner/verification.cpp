#include "app/runner/verification.h"

#include <ATen/Context.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "app/runner/compare.h"
#include "app/runner/program/tensors.h"
#include "core/base/counted.h"
#include "core/base/number_text.h"
#include "core/bench/sums_of_ranks.h"

namespace jointer::runner {
namespace {

// The maximum difference, relative to an output's largest magnitude, where numerics change: a few
// roundings of the coarsest floating-point type in which the graph computes.
constexpr double kHalfBound = 2e-2, kSingleBound = 1e-4;

constexpr std::string_view kOrderOfNccl =
    "the order in which NCCL adds the values of more than two ranks depends on the size of the "
    "message and, with NVLink SHARP, on the run";
constexpr std::string_view kOrderOfGloo =
    "the order in which Gloo adds the values of more than two ranks depends on their place in the "
    "message, and the messages of such sums differ from those of the unedited graph";

double bound_of_roundings(const Graph& graph) {
  for (const NodeId id : graph.order())
    for (const Tensor& tensor : graph.tensors(id))
      if (is_floating(tensor.dtype) && item_size(tensor.dtype) < 4) return kHalfBound;
  return kSingleBound;
}

// True if torch refuses an operator because it has no deterministic kernel.
bool is_about_order(std::string_view text) {
  return text.find("does not have a deterministic implementation") != std::string_view::npos;
}

}  // namespace

Verification::Verification(const BenchmarkRequest& request, int rank, at::Device device,
                           Reporter& reporter)
    : request_(request), rank_(rank), device_(device), reporter_(reporter) {}

// Without this variable, calls to cuBLAS are errors under fixed_order().
void Verification::fix_workspaces() {
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
}

// On CUDA, torch chooses a deterministic backward of attention only if nondeterministic operators
// are errors, not warnings.
void Verification::fixed_order() const {
  const bool warns_only = device_.is_cpu() || !random_order_.empty();
  at::globalContext().setDeterministicAlgorithms(true, warns_only);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

void Verification::ordinary_order() {
  at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
}

Or<Verification::Outputs> Verification::outputs_of(const Run& run, const Feed& feed) {
  auto outputs = run();
  if (!outputs && random_order_.empty() && is_about_order(outputs.error().text)) {
    random_order_ = outputs.error().node;
    fixed_order();
    if (auto fed = feed(); !fed) return tl::unexpected(fed.error());
    outputs = run();
  }
  if (!outputs || random_order_.empty()) return outputs;
  if (auto fed = feed(); !fed) return tl::unexpected(fed.error());
  const auto again = run();
  if (!again) return again;
  spread_ = std::max(spread_, spread(*outputs, *again));
  return outputs;
}

void Verification::set_baseline(const Graph& graph, Outputs outputs) {
  baseline_ = std::move(outputs);
  baseline_sums_ = sums_of_ranks(graph);
}

double Verification::bound_for(const Graph& graph) const {
  if (request_.backend != Backend::inductor && request_.backend != Backend::regional) return 0;
  return bound_of_roundings(graph);
}

// On the CPU, only sums that an edit has put into other messages may differ. Without a baseline, no
// sum is known to have changed.
double Verification::bound_of_sums(const Graph& graph) const {
  if (request_.solo) return 0;
  const std::vector<std::string> sums = sums_of_ranks(graph);
  const bool may_differ = device_.is_cpu()
                              ? baseline_sums_ && !std::ranges::includes(*baseline_sums_, sums)
                              : !sums.empty();
  return may_differ ? bound_of_roundings(graph) : 0;
}

Or<Verification::Outputs> Verification::expected(std::size_t count) const {
  auto file = read_safetensors(path_of_rank(request_.expected, rank_));
  if (!file) return failure("load", file.error().message);
  Outputs tensors(count);
  for (const auto& [index, tensor] : *file) {
    const auto at = number_of<std::size_t>(index);
    if (!at || *at >= tensors.size())
      return failure("load", fmt::format("{}: `{}` is not the index of an output; the graph has {}",
                                         request_.expected, index, counted(count, "output")));
    tensors[*at] = tensor;
  }
  return tensors;
}

Done Verification::compare(const Graph& graph, const Program& program, const Outputs& outputs) {
  std::vector<std::string> names;
  for (const ProgramOutput& output : program.outputs) names.push_back(output.name);
  double bound = bound_for(graph);
  if (bound > 0)
    reporter_.note(
        fmt::format("compiled code rounds at different points than the operators it replaces: "
                    "outputs may differ by up to {} of their largest magnitude",
                    bound));
  if (const double of_sums = bound_of_sums(graph); of_sums > 0) {
    bound = std::max(bound, of_sums);
    reporter_.note(fmt::format("{}: outputs may differ by up to {} of their largest magnitude",
                               device_.is_cpu() ? kOrderOfGloo : kOrderOfNccl, of_sums));
  }
  if (spread_ > 0) {
    bound = std::max(bound, spread_);
    reporter_.note(
        fmt::format("{} has no deterministic kernel on this device: the outputs of two runs of the "
                    "same graph differ by up to {:.3g} of their largest magnitude, and so may "
                    "these outputs",
                    random_order_, spread_));
  }
  if (!request_.baseline.empty())
    reporter_.report(compare_outputs("baseline", outputs, baseline_, names, bound));
  if (!request_.expected.empty()) {
    const auto tensors = expected(outputs.size());
    if (!tensors) return tl::unexpected(tensors.error());
    reporter_.report(compare_outputs("expected", outputs, *tensors, names, bound));
  }
  return {};
}

}  // namespace jointer::runner

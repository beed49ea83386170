#include "views/session/kernels/ask_kernels.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/torch_version.h"
#include "core/capture/half_graph.h"
#include "core/inductor/inductor_answer.h"
#include "core/kernels/lowering.h"

namespace jointer::views {
namespace {

// The parts that are compiled separately.
std::vector<PartId> compiled_parts(const Graph& graph) {
  if (graph.is_pair()) return {kForwardPart, kBackwardPart};
  return {PartId(0)};
}

struct AskedPart {
  CompiledPart compiled;
  AskedAnswer::Part part;
  std::string torch, device;
};

// One op for each kernel, since the answer contains kernels only. The input buffers are those of
// the prediction: their names tell which of them Inductor may free.
CompiledPart compiled_from(const InductorAnswer& answer, const kernels::Ir& predicted,
                           TorchVersion version) {
  CompiledPart made;
  made.torch = version;
  made.scheduled.kernels = answer.scheduled;
  made.scheduled.peak = answer.peak;
  for (std::size_t i = 0; i < answer.scheduled.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    kernels::Op& op = made.ir.ops.emplace_back();
    op.nodes = answer.scheduled[i].nodes;
    made.scheduled.kernels[i].ops = {id};
    made.scheduled.kernel_of.push_back(id);
  }
  for (const kernels::Buffer& buffer : predicted.buffers)
    if (buffer.is_input) made.ir.buffers.push_back(buffer);
  for (const InductorAnswer::NotFused& pair : answer.not_fused)
    made.stated.push_back({pair.first, pair.second, pair.reason});
  return made;
}

// Replaces each node with the one that `mapped` returns, and drops those for which it returns none.
template <class Map>
void replace_nodes(std::vector<NodeId>& nodes, const Map& mapped) {
  for (NodeId& node : nodes) node = mapped(node);
  std::erase(nodes, NodeId());
}

template <class Map>
void replace_nodes(CompiledPart& part, const Map& mapped) {
  for (kernels::Op& op : part.ir.ops) replace_nodes(op.nodes, mapped);
  for (kernels::Kernel& kernel : part.scheduled.kernels) replace_nodes(kernel.nodes, mapped);
}

template <class Map>
void replace_nodes(kernels::KernelComparison& comparison, const Map& mapped) {
  for (kernels::KernelDifference& each : comparison.differences) replace_nodes(each.nodes, mapped);
}

Result<AskedPart> ask_part(const Graph& graph, PartId part, const AskOptions& options) {
  AskedPart made;
  JOINTER_TRY(const OrderedJson json, ask_inductor(graph, part, options));
  std::optional<Graph> half;
  if (graph.is_pair()) {
    JOINTER_TRY(half, half_graph(graph, part));
  }
  const Graph& alone = half ? *half : graph;
  JOINTER_TRY(const InductorAnswer answer, read_inductor_answer(json, alone, PartId(0)));
  const TorchVersion version = parse_torch_version(answer.torch).value_or(kNewestTorch);
  const kernels::Ir ir = kernels::lower(alone, version);
  made.part.against_prediction = kernels::compare_kernels(
      list_of(alone, kernels::schedule(ir, version)), list_of(alone, answer));
  made.part.content = content_of(graph, part);
  made.compiled = compiled_from(answer, ir, version);
  made.compiled.part = part;
  made.torch = answer.torch;
  made.device = answer.device;
  if (!half) return made;
  const auto in_pair = [&](NodeId node) { return graph.find(part, alone.name(node)); };
  replace_nodes(made.compiled, in_pair);
  replace_nodes(made.part.against_prediction, in_pair);
  return made;
}

}  // namespace

Result<AskedAnswerPtr> ask_kernels(const SnapshotPtr& snapshot,
                                   const Reporter<AskedProgress>& job) {
  const Graph& graph = snapshot->graph;
  const std::vector<PartId> parts = compiled_parts(graph);
  auto answer = std::make_shared<AskedAnswer>();
  std::vector<CompiledPart> compiled;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
    AskOptions options;
    options.is_cancelled = [&] { return job.is_cancelled(); };
    options.on_progress = [&](const AskProgress& asked) {
      job.report({static_cast<std::int32_t>(i), static_cast<std::int32_t>(parts.size()), asked});
    };
    JOINTER_TRY(AskedPart made, ask_part(graph, parts[i], options));
    compiled.push_back(std::move(made.compiled));
    answer->parts.push_back(std::move(made.part));
    answer->torch = made.torch;
    answer->device = made.device;
  }
  answer->kernels = std::make_shared<const SnapshotKernels>(snapshot, std::move(compiled));
  return answer;
}

Result<AskedAnswerPtr> answer_for(const AskedAnswerPtr& answer, const SnapshotPtr& snapshot,
                                  const Cancellation& job) {
  const Graph &before = answer->kernels->snapshot()->graph, &now = snapshot->graph;
  const std::vector<PartId> parts = compiled_parts(now);
  if (parts.size() != answer->parts.size()) return AskedAnswerPtr();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
    if (content_of(now, parts[i]) != answer->parts[i].content) return AskedAnswerPtr();
  }
  auto same = std::make_shared<AskedAnswer>(*answer);
  std::vector<CompiledPart> compiled = answer->kernels->parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // In equal graphs, nodes have the same names, but may have different ids.
    const auto of_now = [&](NodeId node) { return now.find(parts[i], before.name(node)); };
    replace_nodes(compiled[i], of_now);
    replace_nodes(same->parts[i].against_prediction, of_now);
  }
  same->kernels = std::make_shared<const SnapshotKernels>(snapshot, std::move(compiled));
  return same;
}

}  // namespace jointer::views

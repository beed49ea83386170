#include "core/cost/profile_estimator.h"

#include <algorithm>
#include <array>

#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/ops/collective_targets.h"

namespace jointer {
namespace {

// True for collectives that torch looks up by size. It looks up other collectives like operators.
bool is_by_size(std::string_view target) {
  constexpr std::array<std::string_view, 5> kTargets{kAllGatherTarget, kAllGatherOutTarget,
                                                     kReduceScatterTarget, kAllReduceTarget,
                                                     kAllToAllTarget};
  return std::find(kTargets.begin(), kTargets.end(), target) != kTargets.end();
}

}  // namespace

ProfileEstimator::ProfileEstimator(ProfileData profile, std::string source,
                                   std::unique_ptr<Estimator> rest)
    : profile_(std::move(profile)), source_(std::move(source)), rest_(std::move(rest)) {}

std::string ProfileEstimator::description() const {
  return fmt::format("profile of {}, {} and {}; the rest by {}", source_,
                     counted(profile_.operator_count(), "operator"),
                     counted(profile_.collective_count(), "collective"), rest_->description());
}

std::optional<double> ProfileEstimator::profiled_ms(const Graph& graph, NodeId id) const {
  const Node& node = graph.node(id);
  if (node.kind != NodeKind::call) return std::nullopt;
  const OperatorInfo& op = graph.op(node);
  if (is_by_size(op.name)) {
    const Tensor* output = graph.single_tensor(node);
    if (output == nullptr || !node.group) return std::nullopt;
    const auto& ranks = graph.group(node.group).ranks;
    ProfileData::Ranks sorted(ranks.begin(), ranks.end());
    std::sort(sorted.begin(), sorted.end());
    std::int64_t elements = 1;
    for (const auto& size : graph.shape(*output)) elements = saturating_mul(elements, size.value);
    const std::string_view packet = op.packet();
    return profile_.collective_ms(packet.substr(packet.rfind('.') + 1), sorted, elements,
                                  nccl_type_name(output->dtype));
  }
  ProfileData::Operator wanted{
      .name = op.event_name(), .shapes = {}, .strides = {}, .type = std::nullopt};
  for (const Argument& argument : graph.args(node)) {
    if (argument.kind != Argument::Kind::node) continue;
    const Tensor* tensor = graph.single_tensor(graph.node(argument.node()));
    if (tensor == nullptr) continue;
    auto& shape = wanted.shapes.emplace_back();
    for (const auto& size : graph.shape(*tensor)) shape.push_back(size.value);
    auto& stride = wanted.strides.emplace_back();
    for (const auto& size : graph.stride(*tensor)) stride.push_back(size.value);
  }
  if (wanted.shapes.empty()) return std::nullopt;
  if (node.tensor_count > 0) wanted.type = graph.tensors(node).front().dtype;
  return profile_.operator_ms(wanted);
}

NodeCost ProfileEstimator::estimate(const Graph& graph, NodeId id) const {
  NodeCost cost = rest_->estimate(graph, id);
  // The profile of a wait is the time of its stall, which the simulation computes.
  if (graph.is_wait(graph.node(id))) return cost;
  const auto ms = profiled_ms(graph, id);
  if (!ms) return cost;
  const bool is_collective = graph.is_collective_start(graph.node(id));
  cost.lane = is_collective ? NodeCost::Lane::collective : NodeCost::Lane::compute;
  cost.limit = NodeCost::Limit::given;
  cost.ns = saturating_round(*ms * 1e6);
  return cost;
}

}  // namespace jointer

#include "core/partition/plan_moves.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/graph/layers.h"
#include "core/graph/module_tree.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

constexpr std::array kPlanActions{PlanAction::recompute, PlanAction::save, PlanAction::offload};

// The values of one storage that have the same action.
struct Shared {
  SharedValues values;
  PlanAction action = PlanAction::save;
  std::array<bool, kPlanActions.size()> may{};  // by PlanAction
};

class Grouping {
 public:
  Grouping(const Graph& joint, const MoveOptions& options)
      : joint_(joint), options_(options), modules_(joint), layers_(joint, modules_) {}

  std::vector<PlanMove> run(std::span<const SaveCandidate> candidates) {
    for (const SaveCandidate& each : candidates) add(each);
    for (const Shared& each : shared_)
      if (each.values.bytes > 0) add_moves(each);
    return std::move(moves_);
  }

 private:
  void add(const SaveCandidate& candidate) {
    const Node& node = joint_.node(candidate.node);
    const auto tensors = joint_.tensors(node);
    const StorageId storage =
        tensors.empty() ? StorageId{} : joint_.real_storage(tensors.front().storage);
    std::size_t index = shared_.size();
    if (storage) index = by_storage_.try_emplace({storage, candidate.action}, index).first->second;
    if (index == shared_.size()) {
      shared_.push_back({.values = {}, .action = candidate.action});
      shared_.back().may[static_cast<std::size_t>(PlanAction::recompute)] = options_.recompute;
      shared_.back().may[static_cast<std::size_t>(PlanAction::offload)] = options_.offload;
    }
    Shared& shared = shared_[index];
    shared.values.nodes.push_back(candidate.node);
    // Only the first saved value in a storage has its bytes; every recomputed value has them.
    shared.values.bytes = candidate.action == PlanAction::recompute
                              ? std::max(shared.values.bytes, candidate.bytes)
                              : shared.values.bytes + candidate.bytes;
    shared.values.recompute_ns = std::max(shared.values.recompute_ns, candidate.recompute_ns);
    for (const PlanAction action : kPlanActions)
      if (action == candidate.action || !allows(node.policy, action) ||
          (action == PlanAction::recompute && candidate.chain == 0))
        shared.may[static_cast<std::size_t>(action)] = false;
  }

  void add_moves(const Shared& shared) {
    const NodeId first = shared.values.nodes.front();
    const std::string& path = modules_.module(modules_.of(first)).path;
    const auto op = std::string(joint_.target(joint_.node(first)));
    const std::int64_t layer = layers_.of(first);
    // The key of the unit, its name and its module.
    std::string key, name(joint_.name(first)), module = path;
    switch (options_.unit) {
      case MoveUnit::tensor:
        key = name;
        break;
      case MoveUnit::all_layers:
        key = name;
        if (layer == Layers::kNone) break;
        module = path_in_any_layer(path);
        key = fmt::format("{} {} {} ", module, op, shared.values.bytes);
        key += std::to_string(met_[{layer, key}]++);
        name = op;
        break;
      case MoveUnit::op:
        key = name = op;
        break;
      case MoveUnit::layer:
        if (layer == Layers::kNone) return;
        key = name = fmt::format("layers.{}", layer);
        break;
    }
    const std::size_t unit = units_.try_emplace({key, shared.action}, units_.size()).first->second;
    for (const PlanAction to : {PlanAction::recompute, PlanAction::offload}) {
      if (!shared.may[static_cast<std::size_t>(to)]) continue;
      const auto [at, is_new] = index_.try_emplace({unit, to}, moves_.size());
      if (is_new)
        moves_.push_back({.values = {},
                          .from = shared.action,
                          .to = to,
                          .unit = unit,
                          .name = name,
                          .module = module});
      PlanMove& move = moves_[at->second];
      if (move.module != module) move.module.clear();
      move.values.push_back(shared.values);
    }
  }

  const Graph& joint_;
  const MoveOptions& options_;
  ModuleTree modules_;
  Layers layers_;
  std::vector<Shared> shared_;
  std::map<std::pair<StorageId, PlanAction>, std::size_t> by_storage_;  // indices of shared_
  // Number of equal tensors so far, by layer and key.
  std::map<std::pair<std::int64_t, std::string>, std::size_t> met_;
  std::map<std::pair<std::string, PlanAction>, std::size_t> units_;
  std::map<std::pair<std::size_t, PlanAction>, std::size_t> index_;  // of moves_
  std::vector<PlanMove> moves_;
};

}  // namespace

std::string_view unit_name(MoveUnit unit, std::size_t count) {
  constexpr std::array<std::array<std::string_view, 2>, 4> kNouns{
      {{"tensor", "tensors"},
       {"tensor in all layers", "tensors in all layers"},
       {"operator", "operators"},
       {"layer", "layers"}}};
  return kNouns[static_cast<std::size_t>(unit)][count == 1 ? 0 : 1];
}

std::vector<NodeId> PlanMove::nodes() const {
  std::vector<NodeId> all;
  for (const SharedValues& each : values)
    all.insert(all.end(), each.nodes.begin(), each.nodes.end());
  return all;
}

std::int64_t PlanMove::bytes() const {
  std::int64_t sum = 0;
  for (const SharedValues& each : values) sum += each.bytes;
  return sum;
}

std::int64_t PlanMove::recompute_ns() const {
  std::int64_t sum = 0;
  if (to == PlanAction::recompute)
    for (const SharedValues& each : values) sum += each.recompute_ns;
  return sum;
}

std::string to_text(const PlanMove& move, const Graph& joint) {
  const std::vector<NodeId> nodes = move.nodes();
  std::string text = fmt::format("{} {}", to_string(move.to), move.name);
  if (nodes.size() > 1 || joint.name(nodes.front()) != move.name)
    text += fmt::format(" ({})", nodes.size());
  return text;
}

std::vector<PlanMove> moves_of(const Graph& joint, std::span<const SaveCandidate> candidates,
                               const MoveOptions& options) {
  return Grouping(joint, options).run(candidates);
}

}  // namespace jointer

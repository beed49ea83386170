// Tags a graph according to a memory policy of torchtitan's graph trainer.
//
// Every policy visits the forward's calls twice (upstream's tag_sac_policy):
//   1. Calls in modules whose path begins with lm_head or loss get no tag. Among the other calls,
//      those that gather FSDP's parameters are MUST_SAVE unless the parameters are resharded.
//      getitem and wait_tensor inherit the tag of their input, if it has one. A call that returns a
//      symbolic integer, such as a size, or a symbolic boolean is MUST_SAVE (as in torch's
//      partitioner, one that returns a symbolic float is not). The policy's rule decides about the
//      rest.
//   2. A recomputed call becomes MUST_SAVE if a recomputed call of the forward in a later layer
//      reads it. Otherwise, the whole layer would have to be recomputed for that call. A call in
//      no layer counts as if it were in a layer before all others.
// The rules:
//   default           saves the results of the operators in titan_save_ops; the rest is
//                     PREFER_RECOMPUTE
//   full              saves the results of random operators (attention too, even without dropout)
//                     and of calls that `save_ops` selects; the rest is MUST_RECOMPUTE
//   eager             like default, but recomputes every second call of aten.mm and aten.linear,
//                     counted together in each layer
//   sac_and_offload   like default, and offloads the largest activations that stay in memory for
//                     the backward to the host (offload_choice.h)
//
// Cost: linear in the nodes and their readers, and n log n for offloading.
//
// Source: torchtitan/experiments/graph_trainer/memory_policy.py, 2026. Deviations: the phase
// determines which calls belong to the backward (upstream: the mark autograd_backward), so that the
// presets also work on joint graphs; every tag is in region 0, which torch's partitioner requires
// and upstream's pass for flat graphs does not.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/edit/refuse.h"
#include "core/graph/layers.h"
#include "core/graph/memory_policy.h"
#include "core/graph/users.h"
#include "core/partition/joint_parts.h"
#include "core/policy/fsdp_gathers.h"
#include "core/policy/offload_choice.h"
#include "core/policy/save_ops.h"
#include "core/policy/tag_edit.h"
#include "core/policy/tagging.h"

namespace jointer {
namespace {

enum class Rule : std::uint8_t { standard, full, eager };

class Tagger {
 public:
  Tagger(const Graph& graph, Rule rule, std::vector<bool> selected, bool reshard)
      : graph_(graph),
        rule_(rule),
        modules_(graph),
        layers_(graph, modules_),
        users_(graph),
        saved_(rule == Rule::full ? std::move(selected) : calls_of(graph, titan_save_ops())),
        counted_(calls_of(graph, kProducts)),
        plan_(graph) {
    if (reshard) return;
    for (const FsdpGather& gather : fsdp_gathers(graph))
      forced_.insert(forced_.end(), gather.nodes.begin(), gather.nodes.end());
    std::sort(forced_.begin(), forced_.end());
  }

  void run() {
    for (const NodeId id : graph_.order())
      if (is_forward_call(id) && !is_head(id)) tag(id);
    for (const NodeId id : graph_.order())
      if (is_recomputed(plan_.policy(id)) && crosses_layers(id)) {
        plan_.set(id, MemoryPolicy::must_save, kForwardRegion);
        ++boundaries_;
      }
  }

  // Returns the number of offloaded values.
  std::size_t offload(std::int64_t budget) {
    const auto chosen = choose_offloads(graph_, users_, layers_, plan_, budget);
    for (const NodeId id : chosen) plan_.set(id, MemoryPolicy::must_cpu_offload, kForwardRegion);
    return chosen.size();
  }

  [[nodiscard]] const TagPlan& plan() const { return plan_; }
  [[nodiscard]] std::size_t boundaries() const { return boundaries_; }
  [[nodiscard]] std::size_t layers() const { return layers_.count(); }

 private:
  static constexpr std::array<std::string_view, 2> kProducts{"aten.mm.default",
                                                             "aten.linear.default"};

  [[nodiscard]] bool is_forward_call(NodeId id) const {
    const Node& n = graph_.node(id);
    return n.kind == NodeKind::call && n.phase == Phase::forward;
  }

  [[nodiscard]] bool is_head(NodeId id) const {
    const std::string_view path = modules_.module(modules_.of(id)).path;
    return path.starts_with("lm_head") || path.starts_with("loss");
  }

  void tag(NodeId id) {
    const Node& n = graph_.node(id);
    const OperatorInfo& op = graph_.op(n);
    if (std::binary_search(forced_.begin(), forced_.end(), id)) {
      plan_.set(id, MemoryPolicy::must_save, kForwardRegion);
    } else if (op.is_getitem || op.is_wait) {
      const auto inputs = graph_.inputs(id);
      if (!inputs.empty() && plan_.has(inputs.front()))
        plan_.set(id, plan_.policy(inputs.front()), kForwardRegion);
    } else if (is_symbol(graph_, n) && !is_symbolic_float(graph_, n)) {
      plan_.set(id, MemoryPolicy::must_save, kForwardRegion);
    } else {
      plan_.set(id, decide(id, op), kForwardRegion);
    }
  }

  MemoryPolicy decide(NodeId id, const OperatorInfo& op) {
    const bool saved = saved_[id.index()];
    if (rule_ == Rule::full)
      return saved || op.has(OperatorTag::random) ? MemoryPolicy::must_save
                                                  : MemoryPolicy::must_recompute;
    if (rule_ == Rule::eager) {
      if (const std::int64_t layer = layers_.of(id);
          layer != Layers::kNone && layer != layer_of_count_) {
        layer_of_count_ = layer;
        count_ = 0;
      }
      if (counted_[id.index()] && ++count_ % 2 == 0) return MemoryPolicy::prefer_recompute;
    }
    return saved ? MemoryPolicy::must_save : MemoryPolicy::prefer_recompute;
  }

  [[nodiscard]] bool crosses_layers(NodeId id) const {
    const auto users = users_.of(id);
    return std::any_of(users.begin(), users.end(), [&](NodeId user) {
      return graph_.node(user).phase == Phase::forward && is_recomputed(plan_.policy(user)) &&
             layers_.of(user) > layers_.of(id);
    });
  }

  const Graph& graph_;
  Rule rule_;
  ModuleTree modules_;
  Layers layers_;
  Users users_;
  std::vector<bool> saved_, counted_;  // indexed by node id
  std::vector<NodeId> forced_;         // sorted
  TagPlan plan_;
  std::int64_t layer_of_count_ = Layers::kNone;
  std::int64_t count_ = 0;
  std::size_t boundaries_ = 0;
};

std::string pipeline_text(const std::string& preset, const std::vector<std::string>& save_ops,
                          std::int64_t offload_bytes, bool reshard) {
  std::vector<std::string> members{"policy=" + preset};
  if (!save_ops.empty()) members.push_back("save_ops=" + pipeline_list(save_ops));
  if (preset == "sac_and_offload")
    members.push_back(fmt::format("offload_bytes={}", offload_bytes));
  if (!reshard) members.emplace_back("reshard=false");
  return fmt::format("tag_with_memory_policy{{{}}}", fmt::join(members, ","));
}

}  // namespace

const std::vector<MemoryPolicyPreset>& memory_policy_presets() {
  static const std::vector<MemoryPolicyPreset> kPresets{
      {"default", "saves matmuls, attention and other expensive results; recomputes the rest"},
      {"full", "recomputes every layer from its input, except selected results"},
      {"eager", "like default, but recomputes every second matmul in a layer"},
      {"sac_and_offload", "like default, and offloads the largest saved results to the host"},
  };
  return kPresets;
}

Result<Edit> tag_with_memory_policy(const Graph& graph, const std::string& preset,
                                    const std::vector<std::string>& save_ops,
                                    std::int64_t offload_bytes, bool reshard) {
  JOINTER_CHECK(check_taggable(graph));
  const auto& presets = memory_policy_presets();
  if (std::none_of(presets.begin(), presets.end(),
                   [&](const MemoryPolicyPreset& each) { return each.name == preset; }))
    return refuse("there is no memory policy `{}`; use default, full, eager or sac_and_offload",
                  preset);
  if (!save_ops.empty() && preset != "full")
    return refuse("selectors of values to save work only with the policy `full`, not with `{}`",
                  preset);
  JOINTER_TRY(std::vector<bool> selected, selected_by(graph, save_ops));
  const Rule rule = preset == "full"    ? Rule::full
                    : preset == "eager" ? Rule::eager
                                        : Rule::standard;
  Tagger tagger(graph, rule, std::move(selected), reshard);
  tagger.run();
  Edit edit{.title = {}, .by = pipeline_text(preset, save_ops, offload_bytes, reshard)};
  if (tagger.layers() == 0)
    edit.notes.emplace_back("No module is named layers.N, so the graph is treated as one layer.");
  if (tagger.boundaries() > 0)
    edit.notes.push_back(counted(tagger.boundaries(),
                                 "result is saved because a later layer reads it.",
                                 "results are saved because a later layer reads them."));
  const std::size_t offloaded = preset == "sac_and_offload" ? tagger.offload(offload_bytes) : 0;
  const TagPlan& plan = tagger.plan();
  edit.title = fmt::format("Memory policy {}: {} saved, {} recomputed", preset,
                           counted(plan.count(MemoryPolicy::must_save), "result"),
                           format_count(plan.count(MemoryPolicy::prefer_recompute) +
                                        plan.count(MemoryPolicy::must_recompute)));
  if (offloaded > 0) edit.title += fmt::format(", {} offloaded", format_count(offloaded));
  edit.changes = plan.changes();
  return edit;
}

}  // namespace jointer

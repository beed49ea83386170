// low_contention_collectives: lets collectives that overlap with compute move their data with copy
// engines over symmetric memory, which leaves the streaming multiprocessors to compute.
//
// Steps. In program order, each all-gather and reduce-scatter becomes
// symm_mem._low_contention_all_gather or _low_contention_reduce_scatter if
//   - a rank sends at least `min_bytes`, or an unknown amount; for smaller amounts, barriers cost
//     more than the pass gains;
//   - between its start and its wait there is a call whose FLOPs torch counts;
//   - between its start and its wait, no all-gather or reduce-scatter of another group starts,
//     unless it has been replaced; otherwise, the two would share the links.
// With `skip_overlap_check`, the last two conditions do not apply. With `ce_multicast`, all-gathers
// use the multicast variant, the only one that can gather into a given buffer.
//
// Cost: linear in the number of nodes, plus the nodes between each start and its wait.
// Source: torch/_inductor/fx_passes/low_contention_collectives.py of torch 2.15. Deviations:
//   - Parameters specify which groups have symmetric memory and whether the device has multicast.
//   - Subgraphs of control_deps are not searched.
//   - A collective is not replaced if its group is computed in the graph, if it has no positional
//     argument, or if a forward returns its result to a backward, which looks it up by name.

#include <algorithm>
#include <array>

#include "core/base/bytes.h"
#include "core/base/distinct_bytes.h"
#include "core/graph/is_call_of.h"
#include "core/graph/torch_version.h"
#include "core/ops/collective_targets.h"
#include "core/ops/flops.h"
#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/fx_program.h"
#include "passes/support/chosen_groups.h"
#include "passes/support/group_twin.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"
#include "passes/symm_mem/symm_mem.h"

namespace jointer {
namespace {

using Kind = Argument::Kind;

class Replacement {
 public:
  Replacement(Graph& graph, PartId part, const Arguments& arguments, const ChosenGroups& groups,
              PassContext& context)
      : graph_(graph),
        context_(context),
        part_(part),
        min_bytes_(arguments.integer("min_bytes")),
        skips_check_(arguments.boolean("skip_overlap_check")),
        multicast_(arguments.boolean("ce_multicast")),
        groups_(groups),
        program_(graph, part),
        names_(names_of(graph, part)),
        torch_(torch_version_of(graph)) {}

  void run() {
    std::vector<NodeId> collectives;
    for (NodeId id = program_.first(); id; id = program_.next(id))
      if (is_collective(id)) collectives.push_back(id);
    for (const NodeId id : collectives) {
      if (const std::string why = why_not(id); !why.empty()) {
        context_.decide(graph_, id, "kept", why);
        continue;
      }
      replace(id);
    }
    program_.apply();
  }

 private:
  [[nodiscard]] bool is_gather(NodeId id) const {
    return is_call_of(graph_, id, kAllGatherTarget) || is_call_of(graph_, id, kAllGatherOutTarget);
  }
  [[nodiscard]] bool is_collective(NodeId id) const {
    return is_gather(id) || is_call_of(graph_, id, kReduceScatterTarget);
  }
  [[nodiscard]] std::string_view group_of(NodeId id) const {
    const Argument* name = group_argument(graph_, graph_.node(id));
    return name == nullptr ? std::string_view() : graph_.text(name->text());
  }
  [[nodiscard]] NodeId buffer(NodeId id) const {
    const Argument* out = is_call_of(graph_, id, kAllGatherOutTarget)
                              ? graph_.argument(graph_.node(id), "out")
                              : nullptr;
    return out != nullptr && out->kind == Kind::node ? out->node() : NodeId();
  }

  [[nodiscard]] bool is_wait(NodeId id) const {
    const Node& n = graph_.node(id);
    return n.kind == NodeKind::call &&
           (graph_.is_wait(n) || graph_.name(id).find("wait_tensor") != std::string_view::npos);
  }
  [[nodiscard]] NodeId wait_of(NodeId id) const {
    for (const NodeId from : {id, buffer(id)}) {
      if (!from) continue;
      const auto& users = program_.users(from);
      if (const auto wait = std::ranges::find_if(users, [&](NodeId u) { return is_wait(u); });
          wait != users.end())
        return *wait;
    }
    return {};
  }

  // The number of bytes that one rank sends; nullopt if unknown.
  [[nodiscard]] std::optional<std::int64_t> sent_bytes(NodeId id) const {
    const auto args = graph_.args(graph_.node(id));
    if (args.empty() || args[0].kind != Kind::node) return {};
    const Tensor* input = graph_.single_tensor(graph_.node(args[0].node()));
    if (input == nullptr) return {};
    const std::int64_t bytes = graph_.bytes(*input);
    if (is_gather(id)) return bytes;
    if (args.size() < 3 || args[2].kind != Kind::integer || args[2].integer <= 0) return {};
    return bytes / args[2].integer;
  }

  // The reason to keep the collective; empty if it should be replaced.
  [[nodiscard]] std::string why_not(NodeId id) const {
    const std::string_view group = group_of(id);
    if (group.empty()) return "its group is computed in the graph";
    if (!groups_.has(graph_, id)) return "its group is not in `groups`";
    if (graph_.args(graph_.node(id)).empty()) return "its arguments are not positional";
    if (const auto bytes = sent_bytes(id); bytes && min_bytes_ > 0 && *bytes < min_bytes_) {
      const auto texts = distinct_bytes(std::array{*bytes, min_bytes_});
      return fmt::format("a rank sends {}, less than `min_bytes` ({})", texts[0], texts[1]);
    }
    if (is_returned(id)) return "the backward looks up its result by name";
    if (!skips_check_)
      if (std::string why = why_alone(id, group); !why.empty()) return why;
    if (is_call_of(graph_, id, kAllGatherOutTarget) && !multicast_)
      return "only the multicast variant gathers into a given buffer (ce_multicast=true)";
    return {};
  }

  [[nodiscard]] bool is_returned(NodeId id) const {
    return graph_.part(part_).kind == CaptureKind::forward &&
           std::ranges::any_of(program_.users(id), [&](NodeId user) {
             return graph_.node(user).kind == NodeKind::output;
           });
  }

  [[nodiscard]] std::string why_alone(NodeId start, std::string_view group) const {
    const NodeId wait = wait_of(start);
    bool has_compute = false;
    NodeId other;
    for (NodeId id = wait ? program_.next(start) : NodeId(); id && id != wait;
         id = program_.next(id)) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call) continue;
      has_compute = has_compute || is_in_torch_registry(graph_.op(n).packet(), torch_);
      if (!other && is_collective(id) && group_of(id) != group) other = id;
    }
    if (!has_compute) return "no compute overlaps with it";
    if (!other) return {};
    if (group_of(other).empty())
      return fmt::format(
          "{}, whose group is computed in the graph, overlaps with it, perhaps on the same links",
          graph_.name(other));
    return fmt::format("{} of group {} overlaps with it on the same links", graph_.name(other),
                       group_of(other));
  }

  // A copy of the value for another node.
  Value again(const Value& value) {
    if (value.kind != Value::Kind::tensor) return value;
    const Tensor t = graph_.tensor(value.tensor());
    const std::vector<Dim> shape(graph_.shape(t).begin(), graph_.shape(t).end());
    const std::vector<Dim> stride(graph_.stride(t).begin(), graph_.stride(t).end());
    return Value::of_tensor(graph_.add_tensor(t, shape, stride, graph_.offset(t)));
  }

  void replace(NodeId id) {
    const bool gathers = is_gather(id);
    const NodeId into = buffer(id);
    std::string name = "_low_contention_reduce_scatter";
    if (gathers)
      name = multicast_ ? "_low_contention_all_gather_ce_multicast" : "_low_contention_all_gather";
    if (into) name += "_out";
    std::vector<Argument> args{graph_.args(graph_.node(id))[0]};
    if (!gathers) args.push_back(*graph_.argument(graph_.node(id), "reduce_op"));
    args.push_back(*group_argument(graph_, graph_.node(id)));
    if (into) args.push_back(Argument::of_node(into));
    Node n = graph_.node(id);
    n.name = graph_.intern(names_.create(name + "_default"));
    n.target = graph_.intern_operator(fmt::format("symm_mem.{}.default", name));
    n.args = graph_.make_children(Kind::list, args);
    n.kwargs = graph_.make_children(Kind::dict, {});
    n.set(Node::has_kwargs, false);
    n.value = again(n.value);
    const NodeId by = graph_.add_node(n);
    program_.insert(by, id);
    program_.replace_uses(id, by);
    program_.erase(id);
    context_.decide(graph_, by, "replaced",
                    skips_check_
                        ? "overlap is not checked (skip_overlap_check=true)"
                        : "compute overlaps with it, and no all-gather or reduce-scatter of "
                          "another group does");
  }

  Graph& graph_;
  PassContext& context_;
  PartId part_;
  std::int64_t min_bytes_;
  bool skips_check_, multicast_;
  const ChosenGroups& groups_;
  FxProgram program_;
  FxNames names_;
  TorchVersion torch_;
};

Result<void> run_low_contention_collectives(Graph& graph, const Arguments& arguments,
                                            PassContext& context) {
  JOINTER_TRY(const ChosenGroups groups, ChosenGroups::read(graph, arguments));
  for (std::size_t part = 0; part < graph.part_count(); ++part) {
    Replacement(graph, PartId(part), arguments, groups, context).run();
    JOINTER_CHECK(
        context.report(static_cast<double>(part + 1) / static_cast<double>(graph.part_count())));
  }
  return graph.finish();
}

constexpr std::int64_t kMinBytes = std::int64_t{16} << 20;

}  // namespace

Pass low_contention_collectives_pass() {
  return {
      .info = {.name = "low_contention_collectives",
               .summary = "Runs large collectives on copy engines if compute overlaps with them.",
               .source = "torch/_inductor/fx_passes/low_contention_collectives.py",
               .stage = PassStage::bucketing,
               .parameters =
                   {bytes("min_bytes", kMinBytes,
                          "Replace only collectives in which a rank sends at least this many "
                          "bytes, or an unknown number."),
                    flag("skip_overlap_check", false,
                         "Replace collectives without checking what overlaps with them."),
                    flag("ce_multicast", false,
                         "Use multicast for gathers; the switch between the GPUs must support it."),
                    texts("groups",
                          "Names or descriptions of the process groups that have symmetric "
                          "memory; empty: all groups.")},
               .keeps_numerics = false},
      .run = with_kept_decision("The graph has no all-gather or reduce-scatter.",
                                run_low_contention_collectives)};
}

}  // namespace jointer

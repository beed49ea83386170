// Explains why each value of a plan and each call that the backward runs again is saved or
// recomputed. The first reason that applies is given. The backward is the one that is emitted:
// extracted, then ordered.
//
// Reasons to save a value:
//  - it is an input;
//  - its tag, or the reason why the tag was added;
//  - for a cut, the ban on recomputing it, or that it is the cheapest point between two nodes: its
//    latest ancestor that may not be recomputed, and the first call of the backward that needs it
//    and is not recomputed;
//  - without a cut, the first call of the backward that reads it.
// Reasons to recompute a value:
//  - its tag;
//  - for a cut, the nearest saved value that it is computed from;
//  - without a cut, the first call that reads it.
//
// Cost: linear in the edges; for a cut, also a walk from each recomputed value to the nearest saved
// one.

#include "core/partition/plan_reasons.h"

#include <unordered_set>

#include "core/base/units.h"
#include "core/partition/backward_order.h"
#include "core/partition/half.h"
#include "core/partition/saved_values.h"

namespace jointer {
namespace {

using ReasonKind = PlanReason::Kind;

class Explainer {
 public:
  Explainer(const Explained& what, const CutSolution* cut)
      : what_(what),
        joint_(what.joint),
        parts_(what.parts),
        cut_(cut),
        is_saved_(what.joint.node_count(), false),
        reasons_(what.joint.node_count()) {}

  Result<std::vector<PlanReason>> run() {
    for (const auto* saved : {&what_.plan.saved, &what_.plan.saved_symbols})
      for (const NodeId id : *saved) is_saved_[id.index()] = true;
    const std::vector<NodeId> given = backward_inputs(parts_, what_.plan);
    JOINTER_TRY(Half backward, extract_half(joint_, NodePlaces(joint_), HalfKind::backward, given,
                                            parts_.backward_outputs));
    arrange_backward(joint_, what_.partitioner, given, parts_.tangents, backward);
    if (cut_ != nullptr) find_banned_ancestors();
    find_readers(backward);
    for (const NodeId id : backward.calls)
      if (joint_.node(id).kind == NodeKind::call && is_again(id))
        reasons_[id.index()] = why_again(id);
    for (const auto* saved : {&what_.plan.saved, &what_.plan.saved_symbols})
      for (const NodeId id : *saved) reasons_[id.index()] = why_saved(id);
    return std::move(reasons_);
  }

 private:
  // For each node, finds the latest ancestor that may not be recomputed: the node itself if it is
  // banned.
  void find_banned_ancestors() {
    banned_ancestor_.resize(joint_.node_count());
    for (const NodeId id : joint_.order()) {
      NodeId& found = banned_ancestor_[id.index()];
      if (cut_->bans.by_node[id.index()].reason != BanReason::none) {
        found = id;
        continue;
      }
      for (const NodeId input : joint_.inputs(id)) {
        const NodeId from = banned_ancestor_[input.index()];
        if (from && (!found || joint_.position(from) > joint_.position(found))) found = from;
      }
    }
  }

  [[nodiscard]] bool is_again(NodeId id) const {
    return parts_.is_forward(id) && !parts_.depends_on_tangent[id.index()];
  }

  // For each node, finds the first call of the backward that reads it, and the first that needs it
  // and is not recomputed.
  void find_readers(const Half& backward) {
    reader_.resize(joint_.node_count());
    needed_for_.resize(joint_.node_count());
    for (std::size_t i = backward.calls.size(); i-- > 0;) {
      const NodeId id = backward.calls[i];
      if (!is_again(id) || !needed_for_[id.index()]) needed_for_[id.index()] = id;
      for (const NodeId input : joint_.inputs(id)) {
        reader_[input.index()] = id;
        needed_for_[input.index()] = needed_for_[id.index()];
      }
    }
  }

  [[nodiscard]] std::string name(NodeId id) const {
    return id ? std::string(joint_.name(id)) : std::string("the backward");
  }
  [[nodiscard]] std::string operator_of(NodeId id) const {
    return std::string(joint_.op(joint_.node(id)).packet());
  }
  [[nodiscard]] std::string size_of(NodeId id) const {
    const Node& node = joint_.node(id);
    if (is_symbolic_float(joint_, node)) return "a number";
    return is_symbol(joint_, node) ? "a size" : format_bytes(joint_.output_bytes(node));
  }

  [[nodiscard]] PlanReason why_saved(NodeId id) const {
    const Node& node = joint_.node(id);
    if (node.kind == NodeKind::placeholder) return {ReasonKind::input, {}, "an input of the graph"};
    if (is_tagged_to_save(node)) return why_tagged_save(id);
    if (cut_ == nullptr)
      return {ReasonKind::read_by_forward,
              {},
              reader_[id.index()]
                  ? fmt::format("computed in the forward, and {} in the backward reads it",
                                joint_.name(reader_[id.index()]))
                  : std::string(
                        "computed in the forward; the backward returns it, or does not read it")};
    const Ban& ban = cut_->bans.by_node[id.index()];
    if (ban.reason != BanReason::none) return {ReasonKind::banned, ban.by, why_banned(id, ban)};
    const NodeId from = banned_ancestor_[id.index()];
    return {ReasonKind::cut,
            {},
            fmt::format("the cheapest cut between {} and {}, which depends on it, saves it ({})",
                        from ? fmt::format("{}, which may not be recomputed,", joint_.name(from))
                             : std::string("the inputs"),
                        name(needed_for_[id.index()]), size_of(id))};
  }

  [[nodiscard]] PlanReason why_tagged_save(NodeId id) const {
    switch (what_.tags[id.index()]) {
      case TagSource::graph:
        return {
            ReasonKind::tagged, {}, fmt::format("tagged {}", to_string(joint_.node(id).policy))};
      case TagSource::boundary:
        return {ReasonKind::region,
                {},
                "its region is recomputed, and a later recomputed region reads it"};
      case TagSource::region_input:
        return {ReasonKind::region, {}, "a recomputed region reads it from outside"};
      case TagSource::collective:
        return {ReasonKind::banned,
                {},
                "a collective without a tag: all ranks must call it the same number of times"};
      case TagSource::effect:
        return {ReasonKind::banned, {}, "its call has an effect outside the graph"};
      case TagSource::mutation:
        return {ReasonKind::banned,
                {},
                "the forward copies it into an input that the backward also writes to"};
      case TagSource::written:
        return {ReasonKind::banned,
                {},
                "it writes, or later calls write to what it reads or returns: its result would "
                "differ if recomputed"};
    }
    return {};
  }

  [[nodiscard]] std::string why_banned(NodeId id, const Ban& ban) const {
    switch (ban.reason) {
      case BanReason::not_allowed:
        return fmt::format("{} is not on torch's list of recomputable operators", operator_of(id));
      case BanReason::random:
        return fmt::format("{} draws random numbers", operator_of(id));
      case BanReason::compute_intensive:
        return fmt::format("{} is compute-intensive", operator_of(id));
      case BanReason::materialized:
        return joint_.node(ban.by).kind == NodeKind::output
                   ? "the graph returns it, so it is in memory anyway"
                   : fmt::format(
                         "{} reads it or a view of it and does not fuse with it, so it is "
                         "in memory anyway",
                         joint_.name(ban.by));
      case BanReason::reduction:
        return "a reduction: its result is less than a quarter of the size of its inputs";
      case BanReason::far_apart:
        return fmt::format("it reads {} too late to fuse with the calls that read it earlier",
                           joint_.name(ban.by));
      case BanReason::long_chain:
        return fmt::format("the end of a long chain of fusible calls that starts at {}",
                           joint_.name(ban.by));
      case BanReason::none:
      case BanReason::primal:
      case BanReason::seed:
      case BanReason::must_save:
        break;
    }
    return "it cannot be recomputed";
  }

  [[nodiscard]] PlanReason why_again(NodeId id) const {
    const Node& node = joint_.node(id);
    if (must_recompute(node))
      return {ReasonKind::tagged, {}, fmt::format("tagged {}", to_string(node.policy))};
    const NodeId needed_for = needed_for_[id.index()];
    if (cut_ == nullptr)
      return {ReasonKind::chain, reader_[id.index()],
              fmt::format("{} depends on it", name(reader_[id.index()]))};
    const NodeId from = saved_ancestor(id);
    if (!from)
      return {
          ReasonKind::cut,
          {},
          fmt::format("needed by {}, and does not depend on any saved value", name(needed_for))};
    return {ReasonKind::cut, from,
            fmt::format("recomputed from {} for {}: saving it would not make the cut cheaper",
                        joint_.name(from), name(needed_for))};
  }

  // The nearest saved value that the node is computed from; none if there is none.
  [[nodiscard]] NodeId saved_ancestor(NodeId id) const {
    NodeId nearest;
    std::vector<NodeId> pending{id};
    std::unordered_set<std::size_t> seen;
    for (std::size_t i = 0; i < pending.size() && !nearest; ++i)
      for (const NodeId input : joint_.inputs(pending[i])) {
        if (!seen.insert(input.index()).second) continue;
        if (!is_saved_[input.index()])
          pending.push_back(input);
        else if (!nearest || joint_.position(input) > joint_.position(nearest))
          nearest = input;
      }
    return nearest;
  }

  const Explained& what_;
  const Graph& joint_;
  const JointParts& parts_;
  const CutSolution* cut_;
  std::vector<bool> is_saved_;
  std::vector<NodeId> banned_ancestor_, reader_, needed_for_;  // by node
  std::vector<PlanReason> reasons_;
};

}  // namespace

Result<std::vector<PlanReason>> explain_plan(const Explained& what, const CutSolution* cut) {
  return Explainer(what, cut).run();
}

}  // namespace jointer

// Combines the backward of one microbatch and the forward of another into one graph, for pipeline
// schedules that run both at the same time.
//
// The inputs, calls and outputs of the backward precede those of the forward. Forward nodes keep
// their names. Inputs of the backward get the prefix bw_, and its constants the prefix bw. Its
// calls keep their names, or get the next number if a name is taken. The halves are not connected:
// the values that the forward saves are for a later backward, that of the same microbatch. Calls
// that nothing depends on are dropped unless they are impure.
//
// Cost: linear in the size of the graph.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/graph_pp/graph_multiplex.py. Deviations:
// symbols with the same name in both halves are one symbol with one value (as in upstream if both
// halves come from one trace); partitioner tags record which half a call is from; a call with a
// taken name may get a different number.

#include <algorithm>
#include <set>

#include "core/graph/complete.h"
#include "core/graph/derive.h"
#include "core/partition/fx_names.h"
#include "passes/graph_pp/extract.h"
#include "passes/graph_pp/stages.h"

namespace jointer {
namespace {

class Multiplexer {
 public:
  explicit Multiplexer(const Graph& pair) : pair_(pair) {}

  Result<Graph> run(const StageReasons& reasons) {
    JOINTER_TRY(std::vector<NodeId> returned, returned_nodes(pair_, kBackwardPart));
    JOINTER_TRY(const std::vector<NodeId> forward_returned, returned_nodes(pair_, kForwardPart));
    const auto inputs = placeholders(pair_, kForwardPart);
    if (inputs.empty())
      return fail(Error::Kind::usage, "the forward has no inputs, so it is not a pipeline stage");
    const Part& backward_part = pair_.part(kBackwardPart);
    if (const std::string& kernels = backward_part.triton_kernels;
        !kernels.empty() && kernels != pair_.part(kForwardPart).triton_kernels)
      return fail(Error::Kind::usage,
                  "the halves have different tables of Triton kernels, so they cannot be combined "
                  "into one graph");
    std::string name = pair_.part(kForwardPart).name + ".multiplexed";
    PartCopy forward(pair_, made_, CaptureKind::train_step, name, kForwardPart);
    PartCopy backward(pair_, made_, forward.part(), kBackwardPart);
    name_nodes();
    for (const NodeId id : placeholders(pair_, kBackwardPart))
      mark(backward.copy_as(id, names_[id.index()], names_[id.index()]), "is_backward");
    for (const NodeId id : inputs) mark(forward.copy(id), "is_forward");
    for (const NodeId id : calls(kBackwardPart)) {
      const Node& n = pair_.node(id);
      const NodeId copy =
          n.kind == NodeKind::get_attr
              ? backward.copy_as(id, names_[id.index()], constant_name(pair_.target(n)))
              : backward.copy_as(id, names_[id.index()]);
      mark(copy, "is_backward");
      reasons(made_, copy, "placed",
              "It runs before the forward, as part of another microbatch's backward.");
    }
    for (const NodeId id : calls(kForwardPart)) mark(forward.copy(id), "is_forward");
    for (NodeId& id : returned)
      if (id) id = backward.copy_of(id);
    for (const NodeId id : forward_returned)
      returned.push_back(id ? forward.copy_of(id) : NodeId{});
    auto descriptions = output_descriptions(pair_, kBackwardPart);
    const auto more = output_descriptions(pair_, kForwardPart);
    descriptions.insert(descriptions.end(), more.begin(), more.end());
    forward.add_output(output_node(pair_, kForwardPart), returned,
                       descriptions.size() == returned.size()
                           ? join_descriptions(descriptions, returned.size())
                           : std::string());
    forward.finish_constants();
    backward.finish_constants();
    drop_dead_calls(made_);
    made_.set_title(std::move(name));
    JOINTER_CHECK(complete(made_, pair_));
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::vector<NodeId> calls(PartId part) const {
    std::vector<NodeId> found;
    for (const NodeId id : pair_.order()) {
      const Node& n = pair_.node(id);
      if (n.part == part && n.kind != NodeKind::placeholder && n.kind != NodeKind::output)
        found.push_back(id);
    }
    return found;
  }

  void name_nodes() {
    names_.resize(pair_.node_count());
    FxNames names;
    for (const NodeId id : pair_.order())
      if (pair_.node(id).part == kForwardPart) names.use(pair_.name(id));
    for (const NodeId id : placeholders(pair_, kBackwardPart))
      names_[id.index()] = names.create(fmt::format("bw_{}", pair_.name(id)));
    for (const NodeId id : calls(kBackwardPart)) names_[id.index()] = names.create(pair_.name(id));
    for (const NodeId id : calls(kForwardPart))
      if (pair_.node(id).kind == NodeKind::get_attr)
        constants_.emplace(pair_.target(pair_.node(id)));
  }

  // The name of a constant of the backward in the combined graph.
  std::string constant_name(std::string_view target) {
    if (const auto known = renamed_.find(target); known != renamed_.end()) return known->second;
    std::string base = "bw" + std::string(target);
    std::ranges::replace(base, '.', '_');
    std::string name = base;
    for (int i = 1; constants_.contains(name); ++i) name = fmt::format("{}_{}", base, i);
    constants_.insert(name);
    return renamed_.emplace(target, name).first->second;
  }

  void mark(NodeId id, std::string_view tag) {
    Node& n = made_.node(id);
    n.partitioner_tag = made_.intern(tag);
    n.set(Node::has_autograd_backward, false);
    n.set(Node::autograd_backward, false);
    n.set(Node::recomputed, false);
  }

  const Graph& pair_;
  Graph made_;
  std::vector<std::string> names_;  // by node of the backward
  std::set<std::string, std::less<>> constants_;
  std::map<std::string, std::string, std::less<>> renamed_;
};

}  // namespace

Result<Graph> multiplex_fw_bw_graph(const Graph& pair, const StageReasons& reasons) {
  if (!pair.is_pair())
    return fail(Error::Kind::usage,
                "the graph must be a forward/backward pair; run a partitioner first");
  return Multiplexer(pair).run(reasons);
}

}  // namespace jointer

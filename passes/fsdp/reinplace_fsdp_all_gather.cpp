// reinplace_fsdp_all_gather: lets FSDP2's all-gather write into the buffer that its copy-in
// allocated, instead of a new one.
//
//   copy = fsdp.all_gather_copy_in(...);  shard = copy[0];  whole = copy[1]
//   gathered = all_gather_into_tensor(shard, size, group)
// becomes
//   gathered = all_gather_into_tensor_out(shard, size, group, out=whole)
//
// Steps, for each such gather in program order:
//   1. find `whole`, the second result of the copy; move it before the gather if it comes later, or
//      add it if the graph lacks it. If something else reads `whole`, which the gather would
//      overwrite, or if its tensor is unknown, the getitem and the gather stay unchanged;
//   2. replace the gather's operator, so that the gather returns `whole`.
// Second results without readers are removed.
//
// Cost: linear in the number of nodes.
// Source: torch/_inductor/comms.py up to torch 2.12, the function of the same name, which later
// versions lack. Deviations: upstream creates new nodes for everything that it matches, whereas
// here nodes keep their names; upstream fails if something else reads `whole`.

#include <algorithm>

#include "core/graph/is_call_of.h"
#include "core/graph/storage_moves.h"
#include "core/graph/users.h"
#include "core/ops/collective_targets.h"
#include "passes/fsdp/fsdp.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

constexpr std::string_view kCopyIn = "fsdp.all_gather_copy_in.default";

class Reinplacer {
 public:
  Reinplacer(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), users_(graph) {}

  Result<void> run() {
    const std::vector<NodeId> order(graph_.order().begin(), graph_.order().end());
    std::vector<NodeId> unread;
    for (const NodeId id : order)
      if (part_of_copy(id) == 1 && users_.of(id).empty()) unread.push_back(id);
    bool changes = !unread.empty();
    for (const NodeId id : order) changes = (is_match(id) && reinplace(id)) || changes;
    std::vector<NodeId> gone;
    for (const NodeId id : unread)
      if (std::ranges::find(used_, id) == used_.end()) gone.push_back(id);
    for (const NodeId id : gone) context_.decide(graph_, id, "removed", "nothing reads it");
    graph_.erase(gone);
    return changes ? graph_.finish() : Result<void>();
  }

 private:
  // For a getitem of a copy-in, the index that it extracts; -1 for any other node.
  [[nodiscard]] std::int64_t part_of_copy(NodeId id) const {
    const Node& n = graph_.node(id);
    if (n.kind != NodeKind::call || !graph_.op(n).is_getitem) return -1;
    const auto args = graph_.args(n);
    if (args.size() != 2 || args[0].kind != Argument::Kind::node ||
        args[1].kind != Argument::Kind::integer || !is_call_of(graph_, args[0].node(), kCopyIn))
      return -1;
    return args[1].integer;
  }

  [[nodiscard]] bool is_match(NodeId id) const {
    if (!is_call_of(graph_, id, kAllGatherTarget) || graph_.inputs(id).empty()) return false;
    return part_of_copy(graph_.inputs(id).front()) == 0;
  }

  // The copy-in's second result, placed before the gather; none if something else reads it or its
  // tensor is unknown.
  NodeId whole(NodeId copy, NodeId gather) {
    NodeId found;
    for (const NodeId user : users_.of(copy)) {
      if (part_of_copy(user) != 1) continue;
      const bool is_used = std::ranges::find(used_, user) != used_.end();
      if (is_used || !users_.of(user).empty()) return {};
      found = user;
    }
    if (!found) return add_whole(copy, gather);
    if (graph_.position(found) > graph_.position(gather)) {
      const NodeId moved[] = {found};
      graph_.move(moved, gather);
    }
    return found;
  }

  NodeId add_whole(NodeId copy, NodeId gather) {
    const Node& like = graph_.node(graph_.inputs(gather).front());
    const auto parts = graph_.children(graph_.node(copy).value);
    if (parts.size() < 2 || parts[1].kind != Value::Kind::tensor) return {};
    Tensor tensor = graph_.tensor(parts[1].tensor());
    const auto shape = graph_.shape(tensor), stride = graph_.stride(tensor);
    const std::vector<Dim> sizes(shape.begin(), shape.end()), steps(stride.begin(), stride.end());
    const Dim offset = graph_.offset(tensor);
    Node node = like;
    std::string name;
    for (int i = 0; name.empty() || graph_.find(like.part, name); ++i)
      name = i == 0 ? "getitem" : fmt::format("getitem_{}", i);
    node.name = graph_.intern(name);
    const Argument args[] = {Argument::of_node(copy), Argument::of_int(1)};
    node.args = graph_.make_children(like.args.kind, args);
    node.value = Value::of_tensor(graph_.add_tensor(tensor, sizes, steps, offset));
    const NodeId added = graph_.insert(node, gather);
    context_.decide(graph_, added, "added", "the buffer that the copy-in allocated");
    return added;
  }

  bool reinplace(NodeId gather) {
    const NodeId copy = graph_.inputs(graph_.inputs(gather).front()).front();
    const NodeId out = whole(copy, gather);
    if (!out) {
      context_.decide(
          graph_, gather, "kept",
          "something else reads the buffer that the copy-in allocated, or the capture does "
          "not describe that buffer");
      return false;
    }
    used_.push_back(out);
    const auto keywords = graph_.children(graph_.node(gather).kwargs);
    std::vector<Argument> kwargs(keywords.begin(), keywords.end());
    kwargs.push_back(Argument::of_text(Argument::Kind::string, graph_.intern("out")));
    kwargs.push_back(Argument::of_node(out));
    const Argument with_out = graph_.make_children(Argument::Kind::dict, kwargs);
    const OperatorId target = graph_.intern_operator(kAllGatherOutTarget);
    graph_.node(gather).kwargs = with_out;
    graph_.node(gather).target = target;
    graph_.node(gather).set(Node::has_kwargs);
    graph_.refresh(gather);
    const Tensor& there = graph_.tensors(out).front();
    const StorageId storage = there.storage;
    const std::int64_t offset = graph_.offset(there).value;
    move_tensors(graph_, gather, [&](const Tensor& tensor) {
      return StorageMove{storage, offset - graph_.offset(tensor).value};
    });
    context_.decide(graph_, gather, "changed",
                    fmt::format("it writes into {}, the copy-in's buffer", graph_.name(out)));
    return true;
  }

  Graph& graph_;
  PassContext& context_;
  Users users_;               // users before the pass
  std::vector<NodeId> used_;  // second results that gathers write into
};

Result<void> run_reinplace_fsdp_all_gather(Graph& graph, const Arguments&, PassContext& context) {
  return Reinplacer(graph, context).run();
}

}  // namespace

Pass reinplace_fsdp_all_gather_pass() {
  return {
      .info = {.name = "reinplace_fsdp_all_gather",
               .summary =
                   "Lets FSDP2's all-gathers write into the buffers allocated by their copy-ins.",
               .source = "torch/_inductor/comms.py, up to torch 2.12",
               .stage = PassStage::fsdp,
               .is_idempotent = true},
      .run = with_kept_decision("No all-gather in the graph reads a copy-in of FSDP2.",
                                run_reinplace_fsdp_all_gather)};
}

}  // namespace jointer

// canonicalize_graph: removes calls that return their input unchanged, and turns the remaining
// views into reshapes.
//
// Steps, for each call in program order, after earlier replacements in its arguments:
//   1. remove_detach: `aten.detach(x)` is x, because a captured graph is not differentiated again;
//   2. remove_identity_view: a view, reshape or _unsafe_view of x to the sizes of x is x;
//   3. remove_b2b_transpose: `t(t(x))` is x, and the inner t is removed if nothing else reads it;
//   4. remove_identity_slice: a slice from 0 to the end in steps of 1 is x;
//   5. normalize_view_ops_as_reshape: any other view or _unsafe_view without keyword arguments
//      becomes a reshape.
// Replaced calls have no readers left and are removed. Symbolic sizes are equal if their
// expressions are equal.
//
// A call is not removed if a forward returns its result to a backward, because the backward looks
// it up by name, or if something changes the shape of its result or of x in place (`unsqueeze_`),
// because that would then change the shape of both.
//
// Cost: linear in the number of nodes.
// Source: canonicalize_graph_pass in torchtitan's graph_trainer/remove_noop_passes.py. Deviations:
// upstream runs its five passes in sequence; here they run together, so each also finds matches
// that a later pass creates, and a second run finds nothing. Strides must be equal, too, if both
// are known.

#include <algorithm>
#include <array>

#include "core/graph/users.h"
#include "passes/clean_up/clean_up.h"
#include "passes/clean_up/substitution.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

constexpr std::string_view kTranspose = "aten.t.default";
constexpr std::string_view kSlice = "aten.slice.Tensor";
constexpr std::string_view kReshape = "aten.reshape.default";
constexpr std::array<std::string_view, 2> kViews{"aten.view.default", "aten._unsafe_view.default"};

bool is_view(std::string_view target) {
  return std::ranges::find(kViews, target) != kViews.end();
}

bool same_dims(std::span<const Dim> a, std::span<const Dim> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Dim& x, const Dim& y) {
    if (x.expression || y.expression) return x.expression == y.expression;
    return x.value == y.value;
  });
}

class Canonicalizer {
 public:
  Canonicalizer(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), changes_(graph), is_reshaped_(find_reshaped(graph)) {}

  Result<void> run() {
    const std::vector<NodeId> order(graph_.order().begin(), graph_.order().end());
    for (const NodeId id : order) {
      if (graph_.node(id).kind != NodeKind::call) continue;
      if (const auto [same, why] = equal_to(id); same) {
        context_.decide(graph_, id, "removed", std::string(why));
        changes_.replace(id, same);
      } else {
        normalize(id);
      }
    }
    JOINTER_CHECK(changes_.finish());
    return remove_inner_transposes();
  }

 private:
  // Indexed by node: true if a call changes the shape of the node's tensor in place.
  static std::vector<bool> find_reshaped(const Graph& graph) {
    std::vector<bool> reshaped(graph.node_count(), false);
    for (const NodeId id : graph.order())
      if (const Node& n = graph.node(id);
          n.kind == NodeKind::call && graph.op(n).has(OperatorTag::inplace_view))
        for (const NodeId input : graph.inputs(n)) reshaped[input.index()] = true;
    return reshaped;
  }

  struct Same {
    NodeId node;  // none if no node is equal
    std::string_view why;
  };

  Same equal_to(NodeId id) {
    const Node& n = graph_.node(id);
    if (!changes_.can_remove(id) || is_reshaped_[id.index()]) return {};
    const auto args = graph_.args(n);
    if (args.empty() || args.front().kind != Argument::Kind::node) return {};
    const NodeId input = changes_.now(args.front().node());
    if (is_reshaped_[input.index()]) return {};
    const std::string_view target = graph_.target(n);
    if (target == "aten.detach.default") return {input, "detach has no effect in a captured graph"};
    if ((is_view(target) || target == kReshape) && same_tensor(id, input))
      return {input, "it has the same sizes as its input"};
    if (target == kTranspose && graph_.node(input).kind == NodeKind::call &&
        graph_.target(graph_.node(input)) == kTranspose) {
      const NodeId original = changes_.now(graph_.inputs(input).front());
      if (is_reshaped_[original.index()]) return {};
      inner_transposes_.push_back(input);
      return {original, "it undoes the preceding transpose"};
    }
    if (target == kSlice && is_whole(n) && same_tensor(id, input))
      return {input, "the slice covers its whole input"};
    return {};
  }

  [[nodiscard]] bool same_tensor(NodeId a, NodeId b) const {
    const Tensor* x = graph_.single_tensor(graph_.node(a));
    const Tensor* y = graph_.single_tensor(graph_.node(b));
    if (x == nullptr || y == nullptr || x->dtype != y->dtype) return false;
    if (!same_dims(graph_.shape(*x), graph_.shape(*y))) return false;
    return !x->has(Tensor::has_stride) || !y->has(Tensor::has_stride) ||
           same_dims(graph_.stride(*x), graph_.stride(*y));
  }

  // True if the slice starts at 0 with step 1. The caller compares the sizes, which show whether
  // the slice reaches the end.
  [[nodiscard]] bool is_whole(const Node& n) const {
    const auto is_number = [&](std::string_view name, std::int64_t default_value) {
      const Argument* given = graph_.argument(n, name);
      if (given == nullptr || given->kind == Argument::Kind::none) return true;
      return given->kind == Argument::Kind::integer && given->integer == default_value;
    };
    return is_number("start", 0) && is_number("step", 1);
  }

  void normalize(NodeId id) {
    const Node& n = graph_.node(id);
    if (!is_view(graph_.target(n)) || !graph_.children(n.kwargs).empty()) return;
    context_.decide(
        graph_, id, "changed",
        fmt::format("{} is replaced with an equivalent reshape", graph_.op(n).packet()));
    graph_.node(id).target = graph_.intern_operator(kReshape);
  }

  Result<void> remove_inner_transposes() {
    const Users users(graph_);
    std::vector<NodeId> gone;
    for (const NodeId id : inner_transposes_)
      if (graph_.is_live(id) && users.of(id).empty() && std::ranges::find(gone, id) == gone.end()) {
        context_.decide(graph_, id, "removed", "its only reader was the transpose that undid it");
        gone.push_back(id);
      }
    graph_.erase(gone);
    return {};
  }

  Graph& graph_;
  PassContext& context_;
  Substitution changes_;
  std::vector<bool> is_reshaped_;
  std::vector<NodeId> inner_transposes_;
};

Result<void> run_canonicalize_graph(Graph& graph, const Arguments&, PassContext& context) {
  return Canonicalizer(graph, context).run();
}

}  // namespace

Pass canonicalize_graph_pass() {
  return {.info = {.name = "canonicalize_graph",
                   .summary = "Removes detaches, identity views, identity slices, and transposes "
                              "that undo each other; turns other views into reshapes.",
                   .source = "torchtitan/experiments/graph_trainer/remove_noop_passes.py",
                   .stage = PassStage::clean_up,
                   .is_idempotent = true},
          .run = with_kept_decision("No call can be removed, and every view is already a reshape.",
                                    run_canonicalize_graph)};
}

}  // namespace jointer

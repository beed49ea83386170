// dedup_fsdp_reduce_scatter: sums gradients before they are reduced instead of after.
//
//   a = wait_tensor(reduce_scatter_tensor(x, op, size, group))
//   b = wait_tensor(reduce_scatter_tensor(y, op, size, group))
//   sum = add(a, b)
// becomes
//   both = add(x, y)
//   sum = wait_tensor(reduce_scatter_tensor(both, op, size, group))
// where `op` is sum or avg, x and y have the same dtype and shape, and nothing else reads the
// intermediate calls. Only half as many bytes are sent, and sums are rounded differently. The new
// calls replace the sum, and the new wait gets the sum's name.
//
// Steps: replace all such sums, then the sums that become replaceable, until none is left. A tree
// of sums is thus replaced level by level.
//
// Cost: linear in the number of nodes, per level.
// Source: torch/_inductor/fx_passes/fsdp.py of torch 2.15, the function of the same name.
// Deviations: the names of sums stay; sums are not replaced if x and y have different shapes.

#include <algorithm>
#include <optional>

#include "core/edit/call_builder.h"
#include "core/edit/edit.h"
#include "core/edit/make_record.h"
#include "core/graph/group_argument.h"
#include "core/graph/users.h"
#include "core/ops/collective_targets.h"
#include "passes/fsdp/fsdp.h"
#include "passes/support/edit_pass.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

// One operand of a sum: the wait, its reduce-scatter, and the input of the reduce-scatter.
struct Term {
  NodeId wait, start, input;
};
struct Sum {
  NodeId add;
  Term left, right;
};

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), users_(graph) {}

  [[nodiscard]] std::vector<Sum> find() const {
    std::vector<Sum> sums;
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call || graph_.target(n) != "aten.add.Tensor" ||
          graph_.args(n).size() != 2 || graph_.inputs(id).size() != 2 ||
          !graph_.children(n.kwargs).empty())
        continue;
      const auto left = term(graph_.inputs(id)[0]), right = term(graph_.inputs(id)[1]);
      if (left && right && left->start != right->start && are_alike(*left, *right))
        sums.push_back({id, *left, *right});
    }
    return sums;
  }

 private:
  // The term that ends with `wait`; nullopt if `wait` does not wait for a reduce-scatter, or if
  // either has several readers.
  [[nodiscard]] std::optional<Term> term(NodeId wait) const {
    if (!graph_.is_wait(graph_.node(wait)) || users_.of(wait).size() != 1) return {};
    const NodeId start = graph_.inputs(wait).front();
    if (graph_.target(graph_.node(start)) != kReduceScatterTarget || users_.of(start).size() != 1 ||
        graph_.inputs(start).empty())
      return {};
    return Term{wait, start, graph_.inputs(start).front()};
  }

  [[nodiscard]] std::string_view text(NodeId start, std::string_view name) const {
    return text_argument(graph_, graph_.node(start), name);
  }

  [[nodiscard]] bool are_alike(const Term& a, const Term& b) const {
    const std::string_view op = text(a.start, "reduce_op"), group = text(a.start, "group_name");
    if ((op != "sum" && op != "avg") || op != text(b.start, "reduce_op") || group.empty() ||
        group != text(b.start, "group_name"))
      return false;
    const Tensor* x = graph_.single_tensor(graph_.node(a.input));
    const Tensor* y = graph_.single_tensor(graph_.node(b.input));
    if (x == nullptr || y == nullptr || x->dtype != y->dtype) return false;
    return std::ranges::equal(graph_.shape(*x), graph_.shape(*y), {}, &Dim::value, &Dim::value);
  }

  const Graph& graph_;
  Users users_;
};

Edit edit_of(const Graph& graph, const Sum& sum) {
  CallBuilder build(graph, graph.node(sum.add).part);
  const std::string place = edit_name(graph, sum.add);
  const std::string both =
      build.insert("aten.add.Tensor",
                   {CallBuilder::node(graph.name(sum.left.input)),
                    CallBuilder::node(graph.name(sum.right.input))},
                   record_tensor(graph, sum.left.input), sum.left.start, place);
  const Node& call = graph.node(sum.left.start);
  ArgumentRecords args = record_args(graph, call.args);
  args[0] = CallBuilder::node(both);
  const std::string reduced = build.insert(
      kReduceScatterTarget, std::move(args), record_args(graph, call.kwargs),
      ValueRecord::of_tensor(record_tensor(graph, sum.left.start)), sum.left.start, place);
  build.replace(sum.add, graph.target(graph.node(sum.left.wait)), {CallBuilder::node(reduced)});
  for (const Term& term : {sum.left, sum.right})
    for (const NodeId id : {term.wait, term.start})
      build.add(RemoveNode{.node = edit_name(graph, id)});
  return {.title = "Sum gradients before they are reduced",
          .by = "dedup_fsdp_reduce_scatter",
          .changes = build.take()};
}

Result<void> run_dedup_fsdp_reduce_scatter(Graph& graph, const Arguments&, PassContext& context) {
  for (;;) {
    std::vector<Sum> sums = Finder(graph).find();
    if (sums.empty()) return {};
    for (const Sum& sum : sums)
      JOINTER_CHECK(
          apply_changes(graph, edit_of(graph, sum), context,
                        {.inserted = "one reduce-scatter replaces two",
                         .replaced = "it now waits for the reduced sum",
                         .removed = "its result was only added to another reduced gradient"}));
  }
}

}  // namespace

Pass dedup_fsdp_reduce_scatter_pass() {
  return {.info = {.name = "dedup_fsdp_reduce_scatter",
                   .summary = "Sums gradients before they are reduced instead of after.",
                   .source = "torch/_inductor/fx_passes/fsdp.py",
                   .stage = PassStage::fsdp,
                   .keeps_numerics = false,
                   .is_idempotent = true},
          .run = with_kept_decision("No sum is the only reader of two reduce-scatters.",
                                    run_dedup_fsdp_reduce_scatter)};
}

}  // namespace jointer

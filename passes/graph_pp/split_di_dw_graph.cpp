// Splits a stage's backward into two graphs: one computes the gradients of the stage's inputs,
// which the previous stage waits for; the other computes the gradients of the stage's parameters
// and can run later.
//
// Steps. backward_input (dI) runs the calls that gradients of inputs depend on, and impure calls.
// It also returns the values that the other graph reads or returns, except constants, which both
// graphs have. If only sizes of a tensor are read, it returns the sizes instead; instead of a
// tuple, it returns the elements. Numbers come last. backward_weight (dW) computes the gradients of
// parameters from these values. Placeholders for gradients of outputs are renamed from tangent to
// graph_pp_runtime_grad.
//
// Cost: linear in the number of edges.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/graph_pp/split_di_dw.py.

#include <algorithm>

#include "core/graph/complete.h"
#include "core/graph/users.h"
#include "core/partition/joint_parts.h"
#include "passes/graph_pp/extract.h"
#include "passes/graph_pp/stages.h"

namespace jointer {
namespace {

class Splitter {
 public:
  Splitter(const Graph& graph, PartId part, const StageReasons& reasons)
      : graph_(graph), part_(part), users_(graph), reasons_(reasons) {}

  Result<std::vector<StageGraph>> run(std::size_t parameter_gradients) {
    JOINTER_TRY(const ReturnedGradients returned,
                returned_gradients(graph_, part_, parameter_gradients));
    const std::vector<NodeId>&weight = returned.of_parameters, &input = returned.others;
    if (input.empty()) return std::vector<StageGraph>{};
    const std::vector<NodeId> given = placeholders(graph_, part_);
    JOINTER_TRY(const Extraction first, extract(graph_, part_, given, input));
    JOINTER_CHECK(find_live(first, weight));
    std::vector<NodeId> input_returned = input;
    input_returned.insert(input_returned.end(), values_.begin(), values_.end());
    input_returned.insert(input_returned.end(), numbers_.begin(), numbers_.end());
    std::vector<NodeId> live = values_;
    live.insert(live.end(), numbers_.begin(), numbers_.end());
    JOINTER_TRY(const Extraction di, extract(graph_, part_, given, std::move(input_returned)));
    JOINTER_TRY(const Extraction dw, extract(graph_, part_, std::move(live), weight));
    return write(di, dw, weight.size());
  }

 private:
  void say(NodeId id, std::string reason) { reasons_(graph_, id, "saved", std::move(reason)); }

  Result<void> find_live(const Extraction& di, const std::vector<NodeId>& weight) {
    std::vector<bool> is_di(graph_.node_count(), false), is_returned(graph_.node_count(), false);
    for (const auto* list : {&di.inputs, &di.calls})
      for (const NodeId id : *list) is_di[id.index()] = true;
    for (const NodeId id : weight)
      if (id) is_returned[id.index()] = true;
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (n.part != part_ || !is_di[id.index()]) continue;
      std::vector<NodeId> readers;
      for (const NodeId user : users_.of(id))
        if (!is_di[user.index()] && graph_.node(user).kind != NodeKind::output)
          readers.push_back(user);
      if ((readers.empty() && !is_returned[id.index()]) || n.kind == NodeKind::get_attr) continue;
      JOINTER_CHECK(add(id, readers, is_returned[id.index()]));
    }
    values_ = unique_in_order(values_);
    numbers_ = unique_in_order(numbers_);
    return {};
  }

  Result<void> add(NodeId id, const std::vector<NodeId>& readers, bool is_returned) {
    const Node& n = graph_.node(id);
    const std::string why = readers.empty() ? "It is the gradient of a parameter."
                                            : fmt::format("{} in backward_weight reads it.",
                                                          graph_.name(readers.front()));
    if (is_symbol(graph_, n)) {
      numbers_.push_back(id);
      say(id, why);
      return {};
    }
    const bool is_tensor = graph_.single_tensor(n) != nullptr;
    if (!is_tensor && n.kind == NodeKind::call) {
      for (const NodeId user : users_.of(id))
        if (!graph_.op(graph_.node(user)).is_getitem)
          return fail(Error::Kind::usage,
                      "{} returns a tuple or a constant, which {} reads; only tensors and symbolic "
                      "sizes can be passed between graphs",
                      graph_.name(id), graph_.name(user));
      for (const NodeId user : readers) {
        values_.push_back(user);
        say(user, fmt::format("backward_weight reads this element of {}.", graph_.name(id)));
      }
      return {};
    }
    const bool only_sizes =
        !is_returned && is_tensor && std::ranges::all_of(readers, [&](NodeId user) {
          return is_symbol(graph_, graph_.node(user));
        });
    if (only_sizes) {
      for (const NodeId user : readers) {
        numbers_.push_back(user);
        say(user, fmt::format("backward_weight reads only this part of {}.", graph_.name(id)));
      }
      return {};
    }
    values_.push_back(id);
    say(id, why);
    return {};
  }

  Result<std::vector<StageGraph>> write(const Extraction& di, const Extraction& dw,
                                        std::size_t weights) {
    std::vector<std::string> all = output_descriptions(graph_, part_);
    std::vector<Renaming> renamed;
    for (const NodeId id : di.inputs) {
      constexpr std::string_view kOld = "tangent";
      if (graph_.name(id).starts_with(kOld))
        renamed.push_back(
            {id, "graph_pp_runtime_grad" + std::string(graph_.name(id).substr(kOld.size()))});
    }
    const std::size_t first = std::min(weights, all.size());
    const std::string name = graph_.part(part_).name;
    std::vector<StageGraph> made(2);
    made[0].role = "backward_input";
    write_extraction(graph_, part_, di, made[0].graph, CaptureKind::backward, name + ".di",
                     join_descriptions(std::span(all).subspan(first), di.outputs.size()), renamed);
    made[1].role = "backward_weight";
    write_extraction(graph_, part_, dw, made[1].graph, CaptureKind::backward, name + ".dw",
                     join_descriptions(std::span(all).first(first), dw.outputs.size()), renamed);
    for (StageGraph& each : made) {
      each.graph.set_title(each.graph.part(PartId(0)).name);
      JOINTER_CHECK(complete(each.graph, graph_));
    }
    return made;
  }

  const Graph& graph_;
  PartId part_;
  const Users users_;
  const StageReasons& reasons_;
  std::vector<NodeId> values_, numbers_;
};

}  // namespace

Result<std::vector<StageGraph>> split_di_dw_graph(const Graph& graph,
                                                  std::size_t parameter_gradients,
                                                  const StageReasons& reasons) {
  JOINTER_TRY(const PartId part, part_of_kind(graph, CaptureKind::backward));
  return Splitter(graph, part, reasons).run(parameter_gradients);
}

}  // namespace jointer

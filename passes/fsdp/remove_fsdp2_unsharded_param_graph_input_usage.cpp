// remove_fsdp2_unsharded_param_graph_input_usage: an unsharded parameter is a graph input into
// which FSDP2 copies gathered values. This pass lets its readers read the gathered values directly,
// so that nothing reads the input.
//
// Terms: an unsharded parameter is a placeholder that `fsdp.copy_(parameter, gathered)` fills.
// `inductor.resize_storage_bytes_` allocates its storage before that and frees it afterwards. A
// stretch begins after one copy and ends before the next copy or the output.
//
// Steps, for each unsharded parameter:
//   1. skip it if the number of resizes to full size differs from the number of resizes to empty,
//      or if a resize to empty precedes the corresponding resize to full size, because some resizes
//      are then in another graph;
//   2. fail if a call other than a copy or a resize writes to its storage, as upstream does;
//   3. skip it if a view of it from one stretch is read in another stretch, or if the copied values
//      have a different dtype or different sizes;
//   4. in each stretch, let the readers of the parameter, except the output, read the copied value;
//   5. remove the copies and resizes.
//
// Cost: linear in the number of nodes and of readers of unsharded parameters.
// Source: torch/_inductor/comms.py up to torch 2.12, the function of the same name, which later
// versions lack. Deviations: arguments in lists and keyword arguments are replaced, too (upstream
// replaces only positional arguments, as its comment says); upstream does not have step 3.

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/effects.h"
#include "core/graph/is_call_of.h"
#include "core/graph/replace_inputs.h"
#include "core/graph/storage_moves.h"
#include "core/graph/users.h"
#include "passes/fsdp/fsdp.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

constexpr std::string_view kCopy = "fsdp.copy_.default";
constexpr std::string_view kResize = "inductor.resize_storage_bytes_.default";

struct Unsharded {
  std::vector<NodeId> to_full, to_empty, copies;
};

class Remover {
 public:
  Remover(Graph& graph, PassContext& context) : graph_(graph), context_(context), users_(graph) {}

  Result<void> run() {
    JOINTER_CHECK(find_parameters());
    JOINTER_CHECK(check_writes());
    std::vector<NodeId> gone;
    for (const auto& [id, parameter] : parameters_) {
      if (parameter.copies.empty()) continue;
      if (const std::string why = why_kept(id, parameter); !why.empty()) {
        context_.decide(graph_, id, "kept", why);
        continue;
      }
      replace(id, parameter);
      for (const auto* list : {&parameter.copies, &parameter.to_full, &parameter.to_empty})
        gone.insert(gone.end(), list->begin(), list->end());
    }
    for (const NodeId id : gone)
      context_.decide(graph_, id, "removed", "readers read the gathered parameter directly");
    graph_.erase(gone);
    return gone.empty() ? Result<void>() : graph_.finish();
  }

 private:
  // The placeholder that a copy or a resize writes to.
  Result<NodeId> parameter_of(NodeId id) const {
    const auto args = graph_.args(graph_.node(id));
    if (args.empty() || args.front().kind != Argument::Kind::node ||
        graph_.node(args.front().node()).kind != NodeKind::placeholder)
      return fail(
          Error::Kind::usage,
          "{} ({}) does not write to an input of the graph; FSDP2's unsharded parameters must be "
          "inputs",
          graph_.name(id), graph_.target(graph_.node(id)));
    return args.front().node();
  }

  Result<void> find_parameters() {
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (is_call_of(graph_, n, kCopy)) {
        JOINTER_TRY(const NodeId parameter, parameter_of(id));
        parameters_[parameter].copies.push_back(id);
      } else if (is_call_of(graph_, n, kResize)) {
        JOINTER_TRY(const NodeId parameter, parameter_of(id));
        const Argument* size = graph_.argument(n, "new_size");
        const bool is_empty =
            size != nullptr && size->kind == Argument::Kind::integer && size->integer <= 0;
        (is_empty ? parameters_[parameter].to_empty : parameters_[parameter].to_full).push_back(id);
      }
    }
    return {};
  }

  [[nodiscard]] bool has_pattern(const Unsharded& p) const {
    if (p.to_full.size() != p.to_empty.size()) return false;
    for (std::size_t i = 0; i < p.to_full.size(); ++i)
      if (graph_.position(p.to_full[i]) >= graph_.position(p.to_empty[i])) return false;
    return true;
  }

  [[nodiscard]] std::set<StorageId> storages_of(NodeId id) const {
    std::set<StorageId> storages;
    for (const Tensor& tensor : graph_.tensors(id))
      if (tensor.storage) storages.insert(graph_.real_storage(tensor.storage));
    return storages;
  }

  Result<void> check_writes() const {
    std::set<StorageId> storages;
    for (const auto& [id, parameter] : parameters_)
      if (!parameter.copies.empty() && has_pattern(parameter)) storages.merge(storages_of(id));
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call || is_call_of(graph_, n, kCopy) ||
          is_call_of(graph_, n, kResize))
        continue;
      for (const NodeId each : written_arguments(graph_, n))
        for (const StorageId storage : storages_of(each))
          if (storages.contains(storage))
            return fail(
                Error::Kind::usage,
                "{} ({}) writes to an unsharded parameter of FSDP2; only {} and {} may do so",
                graph_.name(id), graph_.target(n), kCopy, kResize);
    }
    return {};
  }

  // The index of the stretch that contains the node: the number of copies before the node.
  [[nodiscard]] std::size_t stretch(const Unsharded& parameter, NodeId id) const {
    return static_cast<std::size_t>(std::ranges::count_if(parameter.copies, [&](NodeId copy) {
      return graph_.position(copy) < graph_.position(id);
    }));
  }

  [[nodiscard]] bool same_kind(NodeId a, NodeId b) const {
    const Tensor* x = graph_.single_tensor(graph_.node(a));
    const Tensor* y = graph_.single_tensor(graph_.node(b));
    if (x == nullptr || y == nullptr || x->dtype != y->dtype) return false;
    return std::ranges::equal(graph_.shape(*x), graph_.shape(*y));
  }

  [[nodiscard]] std::string why_kept(NodeId id, const Unsharded& parameter) const {
    if (!has_pattern(parameter))
      return "each resize to empty must follow a resize to full size in the same graph";
    for (const NodeId copy : parameter.copies) {
      const Argument* data = graph_.argument(graph_.node(copy), "data");
      if (data == nullptr || data->kind != Argument::Kind::node || !same_kind(id, data->node()))
        return "the values copied into it have a different dtype or shape";
    }
    const std::set<StorageId> own = storages_of(id);
    for (const NodeId view : graph_.order()) {
      if (view == id || graph_.node(view).kind != NodeKind::call) continue;
      const std::set<StorageId> storages = storages_of(view);
      if (std::ranges::none_of(own, [&](StorageId storage) { return storages.contains(storage); }))
        continue;
      for (const NodeId reader : users_.of(view))
        if (stretch(parameter, reader) != stretch(parameter, view))
          return fmt::format("{} is a view of it and is read after the next copy",
                             graph_.name(view));
    }
    return {};
  }

  void replace(NodeId id, const Unsharded& parameter) {
    const std::set<StorageId> own = storages_of(id);
    const std::vector<NodeId> order(graph_.order().begin(), graph_.order().end());
    NodeId gathered;
    for (const NodeId each : order) {
      const Node& n = graph_.node(each);
      if (std::ranges::find(parameter.copies, each) != parameter.copies.end()) {
        gathered = graph_.argument(n, "data")->node();
        continue;
      }
      if (!gathered || n.kind != NodeKind::call || is_call_of(graph_, n, kResize)) continue;
      if (redirect_inputs(graph_, each,
                          [&](NodeId input) { return input == id ? gathered : input; }))
        context_.decide(graph_, each, "changed",
                        fmt::format("it reads {} directly", graph_.name(gathered)));
      const Tensor* now = graph_.single_tensor(graph_.node(gathered));
      const StorageMove move{now->storage, graph_.offset(*now).value};
      move_tensors(graph_, each, [&](const Tensor& tensor) {
        return tensor.storage && own.contains(graph_.real_storage(tensor.storage)) ? move
                                                                                   : StorageMove{};
      });
    }
  }

  Graph& graph_;
  PassContext& context_;
  Users users_;  // users before the pass
  std::map<NodeId, Unsharded> parameters_;
};

Result<void> run_remove_fsdp2_unsharded_param_graph_input_usage(Graph& graph, const Arguments&,
                                                                PassContext& context) {
  return Remover(graph, context).run();
}

}  // namespace

Pass remove_fsdp2_unsharded_param_graph_input_usage_pass() {
  return {.info = {.name = "remove_fsdp2_unsharded_param_graph_input_usage",
                   .summary = "Lets readers of FSDP2's gathered parameters read them directly "
                              "instead of through copies into graph inputs.",
                   .source = "torch/_inductor/comms.py, up to torch 2.12",
                   .stage = PassStage::fsdp,
                   .is_idempotent = true},
          .run = with_kept_decision(
              "FSDP2 does not copy gathered parameters into inputs of this graph.",
              run_remove_fsdp2_unsharded_param_graph_input_usage)};
}

}  // namespace jointer

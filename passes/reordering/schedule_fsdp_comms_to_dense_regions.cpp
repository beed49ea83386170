// schedule_fsdp_comms_to_dense_regions: starts FSDP's buckets so that they overlap with the dense
// compute of a neighboring block, not with an exchange of tokens between experts.
//
// Terms
//   bucket         an FSDP all-gather or reduce-scatter with its wait. The `fsdp_bucket` of its
//                  calls lists the blocks that it serves and its direction. If a collective that
//                  gathers parameters or reduces gradients lacks it, both are inferred from the
//                  readers of the wait.
//   slot           0 to N-1: the blocks `layers.I`; N: norm and lm_head. Embeddings have no slot.
//   dense region   the matrix products, attention, RMS norms and ReLUs of a slot in one direction;
//                  in a block with experts, only those in attention and attention_norm.
//   launch chain   a start with the packing and slicing calls before it.
//
// Steps
//   1. Choose the region. A forward all-gather of block I starts in the dense forward of I-1; a
//      backward all-gather in the dense backward of I+1 or, for the last block, of norm and
//      lm_head; a reduce-scatter of block I in the dense backward of I-1. The forward all-gathers
//      and the reduce-scatters of norm and lm_head start in the last block's regions. The position
//      is before the first node of the region that follows all inputs of the chain.
//   2. Move the waits of reduce-scatters, and all calls that depend on them, to the end, if these
//      are views, copies, casts, or in-place additions to tensors that no other call reads.
//   3. Move the chains. A call of a chain stays if one of its inputs comes after the position, or
//      if one of its readers comes before the position.
// With `strict`, the pass fails if one of these steps is impossible, or if a block does not have
// the same number of forward all-gathers, backward all-gathers and reduce-scatters, at least one
// each.
//
// Source: torchtitan 0.3.0, graph_trainer/fsdp_passes.py,
// schedule_fsdp_comms_to_dense_regions_pass, which torchtitan calls with strict=True. Deviations:
// collectives of tensor parallelism are not buckets (upstream counts every all-gather and
// reduce-scatter of a block, and refuses such graphs). Blocks and experts are derived from the
// graph's modules. The calls that move with a wait may include aten.alias, which torch 2.15 leaves
// in a chunked loss; upstream refuses it. Upstream respects only arguments; here, an order that
// breaks other dependencies (core/graph/dependencies.h), such as those on writes, is corrected.
//
// Cost: number of nodes times number of buckets.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/counted.h"
#include "core/base/is_one_of.h"
#include "core/base/json_text.h"
#include "core/base/number_text.h"
#include "core/graph/module_tree.h"
#include "core/ops/collective_targets.h"
#include "passes/bucketing/fsdp_collectives.h"
#include "passes/bucketing/fx_program.h"
#include "passes/reordering/reordering.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"
#include "passes/support/peak_limit.h"
#include "passes/support/traced_backward.h"

namespace jointer {
namespace {

using Places = std::vector<std::uint32_t>;

constexpr std::array<std::string_view, 6> kLaunch{"bucketing._pre_bucket_all_gather.default",
                                                  "bucketing._pre_bucket_reduce_scatter.default",
                                                  kAllGatherTarget,
                                                  kAllGatherOutTarget,
                                                  kReduceScatterTarget,
                                                  "aten.slice.Tensor"};
constexpr std::array<std::string_view, 11> kTail{
    "_operator.getitem",    "aten._to_copy.default", "aten._unsafe_view.default",
    "aten.alias.default",   "aten.clone.default",    "aten.detach.default",
    "aten.reshape.default", "aten.slice.Tensor",     "aten.split_with_sizes.default",
    "aten.view.default",    "aten.view.dtype"};
constexpr std::array<std::string_view, 3> kDense{
    "aten._fused_rms_norm.default", "aten._fused_rms_norm_backward.default", "aten.relu.default"};

std::optional<std::size_t> layer_of(std::string_view path) {
  constexpr std::string_view kLayers = "layers.";
  if (!path.starts_with(kLayers)) return std::nullopt;
  path.remove_prefix(kLayers.size());
  return number_of<std::size_t>(path.substr(0, path.find('.')));
}

bool is_attention(std::string_view path) {
  const std::size_t name = path.find('.', path.find('.') + 1);
  if (name == std::string_view::npos) return false;
  const std::string_view part = path.substr(name + 1, path.find('.', name + 1) - name - 1);
  return part == "attention" || part == "attention_norm";
}

bool is_top(std::string_view path) {
  return path == "norm" || path == "lm_head" || path.starts_with("norm.") ||
         path.starts_with("lm_head.");
}

struct Comm {
  NodeId launch, wait;
  bool gathers = false, backward = false;
  std::vector<std::string> blocks;
  std::optional<std::size_t> slot;
};

struct Move {
  const Comm* comm;
  NodeId before;
  std::string what;
};

// The dense nodes of a slot: forward, backward.
using Region = std::array<std::vector<NodeId>, 2>;

class DenseRegionScheduler {
 public:
  DenseRegionScheduler(Graph& graph, PartId part, bool strict, PassContext& context)
      : graph_(graph),
        context_(context),
        strict_(strict),
        is_backward_(traced_in_backward(graph)),
        modules_(graph),
        users_(graph),
        dependencies_(graph),
        program_(graph, part),
        places_(program_.places()) {}

  Result<void> run() {
    find_regions();
    JOINTER_CHECK(find_comms());
    if (comms_.empty()) return {};
    if (strict_) JOINTER_CHECK(check_counts());
    plan_moves();
    if (strict_ && !blockers_.empty())
      return fail(Error::Kind::usage,
                  "{}, a {} bucket, cannot overlap with dense compute: {}; set strict=false to "
                  "leave it in place",
                  graph_.name(blockers_.front().first->launch),
                  blockers_.front().first->backward ? "backward" : "forward",
                  blockers_.front().second);
    for (const auto& [comm, why] : blockers_)
      context_.decide(graph_, comm->launch, "kept",
                      fmt::format("It cannot overlap with dense compute: {}.", why));
    for (const Comm& comm : comms_)
      if (!comm.gathers) JOINTER_CHECK(sink(comm));
    for (const Move& move : moves_) JOINTER_CHECK(perform(move));
    if (moves_.empty() && blockers_.empty())
      context_.decide(
          "kept", layers_ == 0
                      ? "No module is named layers.N, so no FSDP bucket has a neighboring block."
                      : "No FSDP bucket has a neighboring block with dense compute.");
    JOINTER_TRY(const NodeId wrong, program_.apply(dependencies_));
    if (wrong) report_corrected(context_, graph_, wrong);
    return {};
  }

 private:
  [[nodiscard]] std::string_view path(NodeId id) const {
    const ModuleId module = modules_.of(id);
    return module ? std::string_view(modules_.module(module).path) : std::string_view();
  }
  [[nodiscard]] std::string_view target(NodeId id) const {
    const Node& n = graph_.node(id);
    return n.kind == NodeKind::call ? graph_.target(n) : std::string_view();
  }
  [[nodiscard]] bool is_backward(NodeId id) const { return is_backward_[id.index()]; }
  [[nodiscard]] bool is_backward_or_recomputed(NodeId id) const {
    return is_backward(id) || graph_.name(id).find("_recomputed") != std::string_view::npos;
  }
  [[nodiscard]] bool is_dense(NodeId id) const {
    const Node& n = graph_.node(id);
    if (n.kind != NodeKind::call) return false;
    return is_torch_compute(graph_, id) || is_one_of(graph_.target(n), kDense);
  }

  void find_regions() {
    std::set<std::size_t> with_experts;
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      const std::string& at = modules_.module(ModuleId(i)).path;
      const std::optional<std::size_t> layer = layer_of(at);
      if (!layer || *layer >= modules_.size()) continue;
      layers_ = std::max(layers_, *layer + 1);
      if (at == fmt::format("layers.{}.moe", *layer)) with_experts.insert(*layer);
    }
    regions_.resize(layers_ + 1);
    for (NodeId id = program_.first(); id; id = program_.next(id)) {
      const std::string_view at = path(id);
      if (at.empty() || !is_dense(id)) continue;
      if (is_top(at)) {
        regions_[layers_][is_backward_or_recomputed(id) ? 1 : 0].push_back(id);
      } else if (const auto layer = layer_of(at); layer && *layer < layers_) {
        if (with_experts.contains(*layer) && !is_attention(at)) continue;
        regions_[*layer][is_backward(id) ? 1 : 0].push_back(id);
      }
    }
  }

  // --- Buckets ---

  [[nodiscard]] bool read_provenance(NodeId id, Comm& comm) const {
    const Node& n = graph_.node(id);
    if (!n.extra) return false;
    const auto json = parse_json(fmt::format("{{{}}}", graph_.text(n.extra)), "node");
    if (!json || !json->contains("fsdp_bucket")) return false;
    const auto& bucket = (*json)["fsdp_bucket"];
    if (!bucket.is_object() || !bucket.contains("plan_fqns") || !bucket["plan_fqns"].is_array())
      return false;
    const auto direction = bucket.find("direction");
    if (direction == bucket.end() || (*direction != "fwd" && *direction != "bwd")) return false;
    for (const auto& block : bucket["plan_fqns"])
      if (block.is_string()) comm.blocks.push_back(block.get<std::string>());
    comm.backward = *direction == "bwd";
    return !comm.blocks.empty();
  }

  [[nodiscard]] bool is_fsdp(const Comm& comm) const {
    return comm.gathers ? gathers_parameters(graph_, comm.launch)
                        : reduces_gradients(graph_, users_, comm.launch);
  }

  // Infers the block and the direction from the wait's nearest readers that have a module; failing
  // that, from the wait or the start.
  [[nodiscard]] bool infer_provenance(Comm& comm) const {
    const auto found = [&](std::string_view at, bool backward) {
      comm.blocks = {std::string(at)};
      comm.backward = backward || (first_backward_ &&
                                   places_[comm.wait.index()] >= places_[first_backward_.index()]);
      return true;
    };
    std::vector<NodeId> frontier = program_.users(comm.wait);
    std::set<NodeId> met;
    while (!frontier.empty()) {
      std::vector<NodeId> next;
      std::string_view at;
      bool backward = false;
      for (const NodeId id : frontier) {
        if (graph_.node(id).kind == NodeKind::output || !met.insert(id).second) continue;
        if (const std::string_view here = path(id); !here.empty()) {
          if (at.empty()) at = here;
          backward = backward || is_backward_or_recomputed(id);
        }
        const auto& users = program_.users(id);
        next.insert(next.end(), users.begin(), users.end());
      }
      if (!at.empty()) return found(at, backward);
      frontier = std::move(next);
    }
    for (const NodeId id : {comm.wait, comm.launch})
      if (!path(id).empty()) return found(path(id), is_backward_or_recomputed(id));
    return false;
  }

  Result<void> find_slot(Comm& comm) const {
    std::set<std::size_t> layers;
    for (const std::string& block : comm.blocks)
      if (const auto layer = layer_of(block)) layers.insert(*layer);
    if (layers.size() > 1)
      return fail(Error::Kind::usage,
                  "{} serves several blocks ({}), so no single block can hide it; bucket FSDP's "
                  "collectives by block before this pass",
                  graph_.name(comm.launch), fmt::join(comm.blocks, ", "));
    if (!layers.empty())
      comm.slot = *layers.begin();
    else if (std::ranges::any_of(comm.blocks, is_top))
      comm.slot = layers_;
    return {};
  }

  Result<void> find_comms() {
    for (NodeId id = program_.first(); id && !first_backward_; id = program_.next(id))
      if (is_backward(id)) first_backward_ = id;
    for (NodeId id = program_.first(); id; id = program_.next(id)) {
      const std::string_view name = target(id);
      const bool gathers = name == kAllGatherTarget || name == kAllGatherOutTarget;
      if (!gathers && name != kReduceScatterTarget) continue;
      const auto& users = program_.users(id);
      const auto wait =
          std::ranges::find_if(users, [&](NodeId user) { return target(user) == kWaitTarget; });
      if (wait == users.end()) continue;
      Comm comm{.launch = id, .wait = *wait, .gathers = gathers};
      if (!read_provenance(id, comm) && !read_provenance(*wait, comm) &&
          (!is_fsdp(comm) || !infer_provenance(comm)))
        continue;
      JOINTER_CHECK(find_slot(comm));
      comms_.push_back(std::move(comm));
    }
    return {};
  }

  Result<void> check_counts() const {
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      std::array<std::size_t, 3> counts{};  // forward gathers, backward gathers, reduce-scatters
      for (const Comm& comm : comms_)
        if (comm.slot == layer && (comm.gathers || comm.backward))
          ++counts[comm.gathers ? (comm.backward ? 1 : 0) : 2];
      if (counts[0] != counts[1] || counts[0] != counts[2] || counts[0] == 0)
        return fail(
            Error::Kind::usage,
            "layers.{} has {}, {} and {}, but the pass needs the same number of each, and at least "
            "one; run joint_transformer_block_bucketing_reordering first",
            layer, counted(counts[0], "forward FSDP all-gather"),
            counted(counts[1], "backward FSDP all-gather"),
            counted(counts[2], "FSDP reduce-scatter"));
    }
    return {};
  }

  // --- Positions ---

  [[nodiscard]] std::vector<NodeId> launch_chain(NodeId launch) const {
    std::vector<NodeId> chain, open{launch};
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      if (!is_one_of(target(at), kLaunch) || std::ranges::find(chain, at) != chain.end()) continue;
      chain.push_back(at);
      const auto inputs = graph_.inputs(at);
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
    return chain;
  }

  void plan(const Comm& comm, const std::vector<NodeId>& region, std::string what) {
    if (region.empty()) {
      blockers_.emplace_back(&comm, fmt::format("there is no dense compute in {}", what));
      return;
    }
    const std::vector<NodeId> chain = launch_chain(comm.launch);
    std::uint32_t first = 0;
    for (const NodeId id : chain)
      for (const NodeId input : graph_.inputs(id))
        if (std::ranges::find(chain, input) == chain.end())
          first = std::max(first, places_[input.index()] + 1);
    const auto place =
        std::ranges::find_if(region, [&](NodeId id) { return places_[id.index()] >= first; });
    if (chain.empty() || place == region.end())
      blockers_.emplace_back(&comm, fmt::format("the collective's inputs come after {}", what));
    else
      moves_.push_back({.comm = &comm, .before = *place, .what = std::move(what)});
  }

  void plan_moves() {
    const auto text = [](std::string_view direction, std::size_t layer) {
      return fmt::format("the {} of layers.{}", direction, layer);
    };
    const auto each = [&](std::size_t slot, bool gathers, bool backward, auto&& use) {
      for (const Comm& comm : comms_)
        if (comm.slot == slot && comm.gathers == gathers && comm.backward == backward) use(comm);
    };
    for (std::size_t i = 0; i < layers_; ++i) {
      each(i, true, false, [&](const Comm& comm) {
        if (i > 0 && !regions_[i - 1][0].empty())
          plan(comm, regions_[i - 1][0], text("forward", i - 1));
      });
      each(i, true, true, [&](const Comm& comm) {
        if (i + 1 < layers_ && !regions_[i + 1][1].empty())
          plan(comm, regions_[i + 1][1], text("backward", i + 1));
      });
      each(i, false, true, [&](const Comm& comm) {
        if (i > 0 && !regions_[i - 1][1].empty())
          plan(comm, regions_[i - 1][1], text("backward", i - 1));
      });
    }
    if (layers_ == 0) return;
    for (const Comm& comm : comms_) {
      if (comm.slot != layers_) continue;
      if (comm.gathers && !comm.backward)
        plan(comm, regions_[layers_ - 1][0], text("forward", layers_ - 1));
      else if (!comm.gathers && comm.backward)
        plan(comm, regions_[layers_ - 1][1], text("backward", layers_ - 1));
    }
    if (!regions_[layers_][1].empty())
      each(layers_ - 1, true, true, [&](const Comm& comm) {
        plan(comm, regions_[layers_][1], "the backward of norm and lm_head");
      });
  }

  // --- Moves ---

  // The reason why a reader of a wait cannot move to the end with it; empty if it can.
  [[nodiscard]] std::string why_not_tail(NodeId id, const std::set<NodeId>& tail) const {
    if (is_one_of(target(id), kTail)) return {};
    if (target(id) != "aten.add_.Tensor")
      return fmt::format("{} ({}) depends on its result", graph_.name(id), target(id));
    const auto args = graph_.args(graph_.node(id));
    if (args.empty() || args[0].kind != Argument::Kind::node)
      return fmt::format("{} writes to no tensor", graph_.name(id));
    // An in-place addition may move only if nothing else reads its target before the end.
    for (const NodeId user : program_.users(args[0].node()))
      if (user != id && !tail.contains(user) && graph_.node(user).kind != NodeKind::output)
        return fmt::format("{} writes to {}, which {} reads", graph_.name(id),
                           graph_.name(args[0].node()), graph_.name(user));
    return {};
  }

  Result<void> sink(const Comm& comm) {
    std::set<NodeId> tail;
    std::vector<NodeId> open{comm.wait};
    NodeId output;
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      if (tail.contains(at)) continue;
      if (at != comm.wait)
        if (const std::string why = why_not_tail(at, tail); !why.empty()) {
          if (strict_)
            return fail(Error::Kind::usage,
                        "the wait for {} cannot move to the end of the graph: {}; set strict=false "
                        "to leave it in place",
                        graph_.name(comm.launch), why);
          context_.decide(graph_, comm.wait, "kept", fmt::format("It stays in place: {}.", why));
          return {};
        }
      tail.insert(at);
      for (const NodeId user : program_.users(at))
        if (graph_.node(user).kind != NodeKind::output && !tail.contains(user))
          open.push_back(user);
    }
    for (NodeId id = program_.first(); id; id = program_.next(id))
      if (graph_.node(id).kind == NodeKind::output) output = id;
    if (!output) return {};
    std::vector<NodeId> nodes(tail.begin(), tail.end());
    std::ranges::sort(nodes, {}, [&](NodeId id) { return places_[id.index()]; });
    for (const NodeId id : nodes) program_.move_before(id, output);
    context_.decide(graph_, comm.wait, "sunk",
                    "Only the output needs its result, so the wait moves to the end.");
    return {};
  }

  Result<void> perform(const Move& move) {
    const Places places = program_.places();
    const auto place = [&](NodeId id) { return places[id.index()]; };
    const std::vector<NodeId> chain = launch_chain(move.comm->launch);
    std::vector<NodeId> movable = chain;
    std::string why;
    const auto is_movable = [&](NodeId id) {
      return std::ranges::find(movable, id) != movable.end();
    };
    const auto stays = [&](NodeId id) {
      for (const NodeId input : graph_.inputs(id))
        if (!is_movable(input) && place(input) >= place(move.before)) {
          why = fmt::format("{} depends on {}, which comes later", graph_.name(id),
                            graph_.name(input));
          return true;
        }
      if (place(id) >= place(move.before)) return false;
      for (const NodeId user : program_.users(id))
        if (!is_movable(user) && place(user) < place(move.before)) {
          why =
              fmt::format("{}, which comes earlier, reads {}", graph_.name(user), graph_.name(id));
          return true;
        }
      return false;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const NodeId id : std::vector(movable))
        if (stays(id)) {
          std::erase(movable, id);
          changed = true;
        }
    }
    const NodeId launch = move.comm->launch;
    if (movable.empty()) {
      if (strict_)
        return fail(Error::Kind::usage,
                    "{} cannot start in {}: {}; set strict=false to leave it in place",
                    graph_.name(launch), move.what, why);
      context_.decide(graph_, launch, "kept",
                      fmt::format("It cannot start in {}: {}.", move.what, why));
      return {};
    }
    std::ranges::sort(movable, [&](NodeId a, NodeId b) { return place(a) < place(b); });
    for (const NodeId id : movable) program_.move_before(id, move.before);
    context_.decide(graph_, launch, "moved",
                    fmt::format("It starts before {}, in the dense compute of {}.",
                                graph_.name(move.before), move.what));
    return {};
  }

  Graph& graph_;
  PassContext& context_;
  bool strict_;
  std::vector<bool> is_backward_;  // indexed by node
  ModuleTree modules_;
  Users users_;  // of the original graph
  Dependencies dependencies_;
  FxProgram program_;
  Places places_;  // in the original order
  std::size_t layers_ = 0;
  std::vector<Region> regions_;  // indexed by slot
  NodeId first_backward_;
  std::vector<Comm> comms_;
  std::vector<Move> moves_;
  std::vector<std::pair<const Comm*, std::string>> blockers_;
};

Result<void> run_schedule_fsdp_comms_to_dense_regions(Graph& graph, const Arguments& arguments,
                                                      PassContext& context) {
  if (graph.part_count() == 0 || graph.part(PartId(0)).kind != CaptureKind::train_step) {
    context.decide("kept", "The pass applies only to flat training steps.");
    return {};
  }
  const Graph given = graph;
  const std::size_t first = context.decisions().size();
  for (std::size_t part = 0; part < graph.part_count(); ++part)
    JOINTER_CHECK(
        DenseRegionScheduler(graph, PartId(part), arguments.boolean("strict"), context).run());
  JOINTER_CHECK(graph.finish());
  const auto is_move = [](const Decision& each) {
    return each.action == "moved" || each.action == "sunk";
  };
  if (std::ranges::equal(given.order(), graph.order())) {
    if (std::ranges::any_of(context.decisions(), is_move)) {
      context.drop_changes(first);
      context.decide("kept", "The FSDP buckets are already where the pass would move them.");
    }
  } else {
    undo_above_peak_limit(graph, given, first, context);
  }
  return context.report(1);
}

}  // namespace

Pass schedule_fsdp_comms_to_dense_regions_pass() {
  return {
      .info = {.name = "schedule_fsdp_comms_to_dense_regions",
               .summary = "Overlaps FSDP buckets with the dense compute of the neighboring "
                          "block, and waits for gradients at the end.",
               .source = "torchtitan/experiments/graph_trainer/fsdp_passes.py",
               .stage = PassStage::reordering,
               .parameters = {flag("strict", false,
                                   "Fail, as torchtitan does, if a bucket cannot move or a block "
                                   "has unequal numbers of all-gathers and reduce-scatters; "
                                   "false: buckets that cannot move stay.")}},
      .run = with_kept_decision("The graph has no FSDP all-gather or reduce-scatter.",
                                run_schedule_fsdp_comms_to_dense_regions)};
}

}  // namespace jointer

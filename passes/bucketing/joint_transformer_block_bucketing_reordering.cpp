// Merges each transformer block's FSDP collectives and overlaps them with the neighboring block.
//
// Terms
//   plan       lists of modules (module_plan.h); each list is an entry. A block is the modules of
//              an entry.
//   direction  backward or forward, as traced_in_backward decides (passes/support).
//   bucket     collectives of the same block, direction, kind, group, reduction and dtype that do
//              not depend on each other's results (bucket_levels.h): all-gathers that depend on
//              only one parameter, reduce-scatters of gradients, or all-reduces. A single
//              collective is a bucket too.
//
// Steps
//   1. For each block and direction, in the plan's order, merge the buckets (bucket_calls.h).
//      Members are packed in the order of the model's parameters. A bucket starts after all its
//      inputs and after the start of its first member; its wait replaces the first of its members'
//      waits, or follows the start if that comes later.
//   2. Delay reduce-scatters by one block: the wait moves after the start of the next
//      reduce-scatter, together with the calls that read only the wait or other moved calls.
//   3. Prefetch all-gathers one block ahead, separately for each direction. The nodes are visited
//      in reverse order. Starts found between two waits move, with their dependencies, before the
//      earlier wait. The first starts of a direction move before its first compute node.
// transformer_block_bucketing does the same without directions, like torch's own scheduler; it also
// delays all-reduces by a block, and its first compute node may be in any module. The graph stays
// unchanged if the result's peak would exceed both the limit and the original graph's peak.
//
// Source: torchtitan 0.3.0, graph_trainer/fsdp_passes.py,
// joint_transformer_block_bucketing_reordering_pass, over torch 2.15's
// _inductor/fx_passes/overlap_manual_scheduling.py.
// Deviations:
//   - If the plan is not given, it is derived from the model's modules. If the order of parameters
//     is not given, it is derived from the graph's inputs.
//   - Upstream orders nodes by arguments alone. Here a collective is kept if something writes to
//     its input or result, and an order is corrected if a value would be read before it is written
//     or after it is overwritten. If that is impossible, the graph stays unchanged. Writes to parts
//     of a buffer that do not overlap may be reordered (core/graph/memory_order.h).
//   - A collective is kept if a node other than its wait reads it; upstream stops with an error.
//   - control_deps nodes (`insert_overlap_deps`), which only later stages of Inductor use, are not
//     created. As in upstream, `fsdp_bucket` of a bucket's calls names the block and the direction.
//     bucket_calls.h describes the calls and their names.
//
// Cost: nodes times buckets, and nodes times collectives / 32 for ancestors.

#include "passes/bucketing/joint_transformer_block_bucketing_reordering.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/units.h"
#include "core/graph/dependencies.h"
#include "core/schedule/stable_order.h"
#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/bucket_key.h"
#include "passes/bucketing/bucket_levels.h"
#include "passes/bucketing/fsdp_collectives.h"
#include "passes/bucketing/fx_buckets.h"
#include "passes/bucketing/fx_program.h"
#include "passes/bucketing/module_plan.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"
#include "passes/support/peak_limit.h"
#include "passes/support/traced_backward.h"
#include "passes/support/unknown_name.h"

namespace jointer {
namespace {

using Number = std::uint32_t;
using Places = std::vector<std::uint32_t>;

// The role of a bucket's node in steps 2 and 3.
enum class BucketRole : std::uint8_t { none, gather, gather_wait, scatter, scatter_wait };

// An order to establish: `nodes` run before `target`.
struct Wish {
  NodeId target;
  std::vector<NodeId> nodes;
};

class BlockBucketing {
 public:
  BlockBucketing(Graph& graph, PartId part, const ModuleTree& modules, const ModulePlan& plan,
                 const std::vector<std::uint32_t>& entries, const BlockBucketOptions& options,
                 PassContext& context)
      : graph_(graph),
        given_(graph),
        part_(part),
        modules_(modules),
        plan_(plan),
        entries_(entries),
        options_(options),
        module_order_(options.module_order),
        context_(context),
        program_(graph, part),
        names_(graph, part),
        dependencies_(graph),
        places_(program_.places()) {
    is_backward_ = options.by_direction ? traced_in_backward(graph_)
                                        : std::vector<bool>(graph_.node_count(), false);
    find_collectives();
  }

  // Returns true if it changed the graph.
  Result<bool> run() {
    if (all_.empty()) return false;
    const std::size_t first = context_.decisions().size();
    levels_.emplace(graph_, part_, all_);
    for (std::uint32_t entry = 0; entry < plan_.size(); ++entry)
      for (const bool backward : {false, true}) {
        if (backward && !options_.by_direction) continue;
        JOINTER_CHECK(context_.report(0.1 + 0.6 * entry / static_cast<double>(plan_.size())));
        JOINTER_CHECK(bucket(entry, backward));
      }
    note_kept();
    if (buckets_ == 0) return false;
    program_.apply();
    JOINTER_CHECK(graph_.finish());
    const Dependencies dependencies(graph_);
    JOINTER_CHECK(reorder(dependencies));
    JOINTER_TRY(const NodeId wrong, program_.apply(dependencies));
    if (wrong) report_corrected(context_, graph_, wrong);
    if (keep_given_orders()) return true;
    graph_ = given_;
    context_.drop_changes(first);
    return false;
  }

 private:
  // Restores the original order of calls relative to writes to their memory and to other effects,
  // because calls that moved with a bucket may have crossed one. Returns false if that is
  // impossible.
  bool keep_given_orders() {
    std::vector<OrderEdge> edges;
    NodeId wrong;
    for (std::size_t i = 0; i < given_.node_count(); ++i) {
      const NodeId id(i);
      if (!graph_.is_live(id)) continue;
      for (const Dependency& d : dependencies_.before(id)) {
        if (d.kind == DependencyKind::data || !graph_.is_live(d.node)) continue;
        edges.push_back({.before = d.node, .after = id});
        if (!wrong && graph_.position(d.node) > graph_.position(id)) wrong = id;
      }
    }
    if (!wrong) return true;
    const Dependencies now(graph_);
    // True if the new dependency reverses an original one that is not between a result and its
    // reader.
    const auto is_turned = [&](const Dependency& d, NodeId of) {
      if (d.node.index() >= given_.node_count()) return false;
      const auto before = dependencies_.before(d.node);
      return std::ranges::any_of(before, [&](const Dependency& given) {
        return given.kind != DependencyKind::data && given.node == of;
      });
    };
    auto order = stable_order(graph_, now, graph_.order(), edges, is_turned);
    if (!order) {
      context_.decide(
          "kept",
          fmt::format(
              "The graph is unchanged: {} would run before a node that it must follow because of a "
              "write to memory or another effect.",
              graph_.name(wrong)));
      return false;
    }
    graph_.set_order(*std::move(order));
    report_corrected(context_, graph_, wrong);
    return true;
  }

  void find_collectives() {
    for (NodeId id = program_.first(); id; id = program_.next(id)) {
      const Node& n = graph_.node(id);
      if (!graph_.is_wait(n) || graph_.inputs(n).empty()) continue;
      const NodeId start = graph_.inputs(n).front();
      if (graph_.is_collective_start(graph_.node(start))) all_.push_back({start, id});
    }
    why_.resize(all_.size());
  }

  // --- Step 1 ---

  [[nodiscard]] std::string key(NodeId start) const {
    return bucket_key(graph_, graph_.node(start), BucketDtypes::one);
  }

  // The index, within the plan's entry, of the innermost path that contains the collective's
  // module.
  [[nodiscard]] std::size_t path_place(NodeId start) const {
    const auto& paths = plan_[entries_[start.index()]];
    for (ModuleId at = modules_.of(start); at; at = modules_.module(at).parent) {
      const auto found = std::ranges::find(paths, modules_.module(at).path);
      if (found != paths.end()) return static_cast<std::size_t>(found - paths.begin());
    }
    return paths.size();
  }

  [[nodiscard]] std::size_t module_place(NodeId start) const {
    const ModuleId module = modules_.of(start);
    const auto at = module ? module_order_.find(modules_.module(module).path) : module_order_.end();
    return at == module_order_.end() ? graph_.node_count() : at->second;
  }

  // The reason why a collective in the plan stays separate; empty if it may be merged.
  std::string_view why_not(const WaitedCollective& c) const {
    const Node& start = graph_.node(c.start);
    switch (graph_.op(start).collective) {
      case CollectiveKind::all_gather:
        if (!is_fsdp_all_gather(graph_, c.start)) return kNotFsdpGather;
        break;
      case CollectiveKind::reduce_scatter:
        if (!users_) users_.emplace(given_);
        if (!is_fsdp_reduce_scatter(given_, *users_, c.start)) return kNotFsdpScatter;
        break;
      case CollectiveKind::all_reduce:
        break;
      default:
        return "It is not an all-gather, a reduce-scatter or an all-reduce.";
    }
    if (key(c.start).empty()) return kNoBucketKey;
    if (program_.users(c.start).size() != 1) return "A node other than its wait reads it.";
    if (is_written(graph_, dependencies_, c)) return "Something writes to its input or result.";
    if (dependencies_.wall_before(c.start) != dependencies_.wall_before(all_.front().start) ||
        dependencies_.wall_before(c.start) != dependencies_.wall_before(c.wait))
      return "A graph input separates it from the other collectives.";
    return {};
  }

  Result<void> bucket(std::uint32_t entry, bool backward) {
    if (of_entry_.empty()) {
      of_entry_.resize(2 * plan_.size());
      for (Number c = 0; c < all_.size(); ++c) {
        const NodeId start = all_[c].start;
        if (entries_[start.index()] == kNoEntry)
          why_[c] = "Its module is not in the plan.";
        else
          of_entry_[2 * entries_[start.index()] + (is_backward_[start.index()] ? 1 : 0)].push_back(
              c);
      }
    }
    std::vector<Number>& scope = of_entry_[2 * entry + (backward ? 1 : 0)];
    std::ranges::sort(scope, {}, [&](Number c) {
      return std::pair(path_place(all_[c].start), places_[all_[c].start.index()]);
    });
    std::vector<std::pair<std::string, std::vector<Number>>> groups;
    for (const Number c : scope) {
      why_[c] = why_not(all_[c]);
      if (!why_[c].empty()) continue;
      if (const auto member = read(c); !member) {
        why_[c] = fmt::format("It does not fit in a bucket: {}.", member.error().message);
        continue;
      }
      const std::string name = key(all_[c].start);
      auto at =
          std::ranges::find_if(groups, [&](const auto& group) { return group.first == name; });
      if (at == groups.end()) at = groups.insert(groups.end(), {name, {}});
      at->second.push_back(c);
    }
    std::vector<std::vector<Number>> buckets;
    for (const auto& [name, members] : groups)
      for (std::vector<Number>& level : levels_->split(members)) {
        levels_->merge(level);
        buckets.push_back(std::move(level));
      }
    if (buckets.empty()) return {};
    std::vector<NodeId> changed;
    for (std::vector<Number>& members : buckets)
      JOINTER_CHECK(merge(members, entry, backward, changed));
    return program_.sort_if_needed(changed);
  }

  Result<BucketMember> read(Number c) const {
    const auto inputs = graph_.inputs(all_[c].start);
    return read_bucket_member(graph_, all_[c],
                              inputs.empty() ? 0 : program_.users(inputs.front()).size());
  }

  Result<void> merge(std::vector<Number>& numbers, std::uint32_t entry, bool backward,
                     std::vector<NodeId>& changed) {
    if (!module_order_.empty())
      std::ranges::stable_sort(numbers, {}, [&](Number c) {
        return std::pair(module_place(all_[c].start), places_[all_[c].start.index()]);
      });
    std::vector<BucketMember> members;
    for (const Number c : numbers) {
      JOINTER_TRY(BucketMember member, read(c));
      members.push_back(std::move(member));
    }
    const Places now = program_.places();
    const auto later = [&](NodeId a, NodeId b) { return now[a.index()] < now[b.index()]; };
    NodeId anchor = members.front().start, wait = members.front().wait;
    for (const BucketMember& m : members) {
      anchor = std::min(anchor, m.start, later);
      wait = std::min(wait, m.wait, later);
    }
    for (const BucketMember& m : members) anchor = std::max(anchor, m.source, later);
    const NodeId before = behind_members(program_, members, anchor);
    if (later(wait, before)) wait = before;

    JOINTER_TRY(const PlacedBucket placed,
                place_bucket(graph_, program_, names_, members, options_.form, before, wait));
    const BucketCalls& calls = placed.calls;
    note_provenance(calls, entry, backward);
    changed.insert(changed.end(), placed.readers.begin(), placed.readers.end());
    changed.insert(changed.end(), calls.results.begin(), calls.results.end());
    ++buckets_;
    decide_merged(calls, members, entry, backward);
    return {};
  }

  void note_provenance(const BucketCalls& calls, std::uint32_t entry, bool backward) {
    is_backward_.resize(graph_.node_count(), false);
    roles_.resize(graph_.node_count(), BucketRole::none);
    if (options_.by_direction) note_block(calls, entry, backward);
    note_roles(calls);
  }

  void note_block(const BucketCalls& calls, std::uint32_t entry, bool backward) {
    const nlohmann::ordered_json bucket = {{"plan_fqns", plan_[entry]},
                                           {"direction", backward ? "bwd" : "fwd"}};
    const StringId extra = graph_.intern(fmt::format("\"fsdp_bucket\":{}", bucket.dump()));
    for (const auto* list : {&calls.ahead, &calls.behind})
      for (const NodeId id : *list) {
        graph_.node(id).extra = extra;
        is_backward_[id.index()] = backward;
        if (!backward) continue;
        graph_.node(id).set(Node::has_autograd_backward);
        graph_.node(id).set(Node::autograd_backward);
        graph_.node(id).phase = Phase::backward;
      }
  }

  void note_roles(const BucketCalls& calls) {
    const NodeId start = calls.start, wait = calls.waits.front();
    switch (graph_.op(graph_.node(start)).collective) {
      case CollectiveKind::all_gather:
        roles_[start.index()] = BucketRole::gather;
        roles_[wait.index()] = BucketRole::gather_wait;
        break;
      case CollectiveKind::reduce_scatter:
        roles_[start.index()] = BucketRole::scatter;
        for (const NodeId each : calls.waits) roles_[each.index()] = BucketRole::scatter_wait;
        break;
      case CollectiveKind::all_reduce:
        if (!options_.defers_all_reduces) break;
        roles_[start.index()] = BucketRole::scatter;
        roles_[wait.index()] = BucketRole::scatter_wait;
        break;
      default:
        break;
    }
  }

  // --- Steps 2 and 3 ---

  [[nodiscard]] BucketRole role(NodeId id) const {
    return id.index() < roles_.size() ? roles_[id.index()] : BucketRole::none;
  }
  static void add(std::vector<Wish>& wishes, NodeId target, NodeId node) {
    auto at = std::ranges::find_if(wishes, [&](const Wish& wish) { return wish.target == target; });
    if (at == wishes.end()) at = wishes.insert(wishes.end(), Wish{.target = target, .nodes = {}});
    if (std::ranges::find(at->nodes, node) == at->nodes.end()) at->nodes.push_back(node);
  }

  Result<void> reorder(const Dependencies& dependencies) {
    std::vector<NodeId> order;
    for (NodeId id = program_.first(); id; id = program_.next(id)) order.push_back(id);
    std::vector<NodeId> moved;
    defer_waits(possible(wishes_of_scatters(order), dependencies), dependencies, moved);
    prefetch(possible(wishes_of_gathers(order), dependencies), moved);
    return program_.sort_if_needed(moved);
  }

  // Removes nodes that would have to cross a placeholder or an output, and then wishes that have no
  // nodes left.
  static std::vector<Wish> possible(std::vector<Wish> wishes, const Dependencies& dependencies) {
    for (Wish& wish : wishes)
      std::erase_if(wish.nodes, [&](NodeId id) {
        return dependencies.wall_before(id) != dependencies.wall_before(wish.target);
      });
    std::erase_if(wishes, [](const Wish& wish) { return wish.nodes.empty(); });
    return wishes;
  }

  static std::vector<Wish> wishes_of(const std::vector<NodeId>& targets,
                                     const std::vector<NodeId>& nodes, std::vector<Wish> wishes) {
    for (const NodeId target : targets)
      for (const NodeId node : nodes) add(wishes, target, node);
    return wishes;
  }

  std::vector<Wish> wishes_of_scatters(const std::vector<NodeId>& order) const {
    std::vector<Wish> wishes;
    std::vector<NodeId> starts, delayed;
    for (const NodeId id : order) {
      if (role(id) == BucketRole::scatter) {
        starts.push_back(id);
      } else if (role(id) == BucketRole::scatter_wait) {
        if (!starts.empty()) {
          wishes = wishes_of(delayed, starts, std::move(wishes));
          delayed.clear();
          starts.clear();
        }
        delayed.push_back(id);
      }
    }
    return wishes;
  }

  std::vector<Wish> wishes_of_gathers(const std::vector<NodeId>& order) const {
    std::vector<Wish> wishes;
    std::array<std::vector<NodeId>, 2> picked;  // by direction
    std::array<NodeId, 2> compute;
    for (std::size_t i = order.size(); i-- > 0;) {
      const NodeId id = order[i];
      const std::size_t direction = is_backward_[id.index()] ? 1 : 0;
      if (role(id) == BucketRole::gather) {
        picked[direction].push_back(id);
      } else if (role(id) == BucketRole::gather_wait) {
        wishes = wishes_of({id}, picked[direction], std::move(wishes));
        picked[direction].clear();
      } else if (is_torch_compute(graph_, id) &&
                 (!options_.by_direction ||
                  (id.index() < entries_.size() && entries_[id.index()] != kNoEntry))) {
        compute[direction] = id;
      }
    }
    for (const std::size_t direction : {std::size_t{1}, std::size_t{0}})
      if (compute[direction])
        wishes = wishes_of({compute[direction]}, picked[direction], std::move(wishes));
    return wishes;
  }

  // Moves waits, and nodes that read only moved nodes, after the starts.
  void defer_waits(const std::vector<Wish>& wishes, const Dependencies& dependencies,
                   std::vector<NodeId>& moved) {
    const Places places = program_.places();
    for (const Wish& wish : wishes) {
      NodeId behind =
          *std::ranges::max_element(wish.nodes, {}, [&](NodeId id) { return places[id.index()]; });
      context_.decide(
          graph_, wish.target, "deferred",
          fmt::format("It moves after {}, so that its collective overlaps with the next block.",
                      graph_.name(behind)));
      std::vector<NodeId> chain{wish.target};
      std::vector<bool> is_in(graph_.node_count(), false);
      is_in[wish.target.index()] = true;
      for (std::size_t i = 0; i < chain.size(); ++i)
        for (const NodeId user : program_.users(chain[i])) {
          const auto inputs = graph_.inputs(user);
          if (is_in[user.index()] ||
              dependencies.wall_before(user) != dependencies.wall_before(wish.target) ||
              !std::ranges::all_of(inputs, [&](NodeId input) { return is_in[input.index()]; }))
            continue;
          is_in[user.index()] = true;
          chain.push_back(user);
        }
      for (const NodeId id : chain) {
        moved.push_back(id);
        program_.move_after(id, behind);
        behind = id;
      }
    }
  }

  // Moves starts and their dependencies before the targets.
  void prefetch(const std::vector<Wish>& wishes, std::vector<NodeId>& moved) {
    const Places places = program_.places();
    const auto earlier = [&](NodeId a, NodeId b) { return places[a.index()] < places[b.index()]; };
    std::vector<std::uint32_t> met(graph_.node_count(), 0);
    std::uint32_t mark = 0;
    for (const Wish& wish : wishes) {
      std::vector<NodeId> starts = wish.nodes;
      std::ranges::sort(starts, earlier);
      for (const NodeId start : starts) {
        context_.decide(
            graph_, start, "prefetched",
            fmt::format("It starts before {}, so that it overlaps with the previous block.",
                        graph_.name(wish.target)));
        if (earlier(start, wish.target)) continue;
        std::vector<NodeId> open{start}, needed;
        ++mark;
        while (!open.empty()) {
          const NodeId at = open.back();
          open.pop_back();
          if (met[at.index()] == mark || graph_.node(at).kind == NodeKind::placeholder ||
              earlier(at, wish.target))
            continue;
          met[at.index()] = mark;
          needed.push_back(at);
          const auto inputs = graph_.inputs(at);
          open.insert(open.end(), inputs.begin(), inputs.end());
        }
        std::ranges::sort(needed, earlier);
        for (const NodeId id : needed) {
          moved.push_back(id);
          program_.move_before(id, wish.target);
        }
      }
    }
  }

  // --- Reasons ---

  void decide_merged(const BucketCalls& calls, const std::vector<BucketMember>& members,
                     std::uint32_t entry, bool backward) {
    const NodeId start = calls.start;
    const std::string where =
        fmt::format("{} of {}{}", to_string(graph_.op(graph_.node(start)).collective),
                    fmt::join(plan_[entry], ", "),
                    !options_.by_direction ? ""
                    : backward             ? " in the backward"
                                           : " in the forward");
    context_.decide(graph_, start, "bucket",
                    fmt::format("Bucket of {}: {}, {}.", members.size(), where,
                                format_bytes(graph_.output_bytes(graph_.node(start)))));
    for (const BucketMember& m : members)
      context_.decide(
          given_, m.start, members.size() == 1 ? "alone" : "merged",
          members.size() == 1
              ? fmt::format("No other {} can join it; {} replaces it.", where, graph_.name(start))
              : fmt::format("Merged with {} more of the same kind, group and dtype into {}.",
                            members.size() - 1, graph_.name(start)));
  }

  void note_kept() {
    for (Number c = 0; c < all_.size(); ++c)
      if (!why_[c].empty()) context_.decide(given_, all_[c].start, "kept", why_[c]);
  }

  Graph& graph_;
  const Graph given_;
  PartId part_;
  const ModuleTree& modules_;
  const ModulePlan& plan_;
  const std::vector<std::uint32_t>& entries_;
  const BlockBucketOptions& options_;
  const std::map<std::string, std::size_t>& module_order_;
  PassContext& context_;
  FxProgram program_;
  BucketNames names_;
  Dependencies dependencies_;
  Places places_;                              // in the original order
  std::vector<WaitedCollective> all_;          // in the order of their waits
  std::vector<std::string> why_;               // by collective: why it stays separate
  std::vector<std::vector<Number>> of_entry_;  // by entry and direction
  std::optional<BucketLevels> levels_;
  mutable std::optional<Users> users_;
  std::vector<bool> is_backward_;  // by node
  std::vector<BucketRole> roles_;  // by node
  std::size_t buckets_ = 0;
};

// Numbers the modules in the order of their first parameters or buffers.
std::map<std::string, std::size_t> find_module_order(const Graph& graph,
                                                     const ModuleTree& modules) {
  std::map<std::string, std::size_t> order;
  const auto add = [&](std::string_view path) {
    order.try_emplace(std::string(path), order.size());
  };
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::placeholder || !n.role_target) continue;
    if (n.role != Role::parameter && n.role != Role::buffer) continue;
    const std::string_view name = graph.text(n.role_target);
    if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos)
      add(name.substr(0, dot));
  }
  if (!order.empty()) return order;
  // If the capture has no parameter names, use the modules that gather inputs, in the order of
  // these inputs.
  std::map<std::size_t, ModuleId> gathered;
  for (const NodeId id : graph.order()) {
    if (!is_fsdp_all_gather(graph, id)) continue;
    NodeId at = id;
    while (!graph.inputs(at).empty()) at = graph.inputs(at).front();
    if (const ModuleId module = modules.of(id)) gathered.try_emplace(graph.position(at), module);
  }
  for (const auto& [place, module] : gathered) add(modules.module(module).path);
  return order;
}

Result<std::map<std::string, std::size_t>> given_module_order(const Graph& graph,
                                                              const ModuleTree& modules,
                                                              const Arguments& arguments) {
  const auto of_parameters = find_module_order(graph, modules);
  std::map<std::string, std::size_t> order;
  for (const std::string& path : arguments.texts("fsdp_param_module_order")) {
    if (!modules.find(path) && !of_parameters.contains(path))
      return unknown_name("fsdp_param_module_order", "module", path, module_paths(modules));
    order.try_emplace(path, order.size());
  }
  return order;
}

Result<void> run_joint_transformer_block_bucketing_reordering(Graph& graph,
                                                              const Arguments& arguments,
                                                              PassContext& context) {
  JOINTER_TRY(const std::optional<ModulePlan> given, given_module_plan(graph, arguments));
  const Graph before = graph;
  const std::size_t first = context.decisions().size();
  bool changed = false;
  for (std::size_t part = 0; part < graph.part_count(); ++part) {
    const ModuleTree modules(graph);
    const ModulePlan plan = given ? *given : derive_joint_module_plan(graph, modules);
    if (plan.empty()) {
      context.decide("kept", given
                                 ? "`module_bucket_plans` is empty."
                                 : "The graph does not record which modules its nodes belong to.");
      return {};
    }
    BlockBucketOptions options;
    std::map<std::string, std::size_t>& order = options.module_order;
    if (arguments.has_value("fsdp_param_module_order")) {
      JOINTER_TRY(order, given_module_order(graph, modules, arguments));
    } else {
      order = find_module_order(graph, modules);
    }
    JOINTER_TRY(const std::vector<std::uint32_t> entries, entries_by_node(graph, modules, plan));
    JOINTER_TRY(const bool done,
                bucket_blocks(graph, PartId(part), modules, plan, entries, options, context));
    changed = changed || done;
  }
  if (!changed) {
    const auto is_of_node = [](const Decision& each) { return !each.node.empty(); };
    if (!context.decisions().empty() && std::ranges::all_of(context.decisions(), is_of_node))
      context.decide("kept",
                     "No FSDP collective in the plan's modules fits in a bucket; the decisions "
                     "give the reason for each.");
    return context.report(1);
  }
  JOINTER_CHECK(graph.finish());
  undo_above_peak_limit(graph, before, first, context);
  return context.report(1);
}

}  // namespace

Result<bool> bucket_blocks(Graph& graph, PartId part, const ModuleTree& modules,
                           const ModulePlan& plan, const std::vector<std::uint32_t>& entries,
                           const BlockBucketOptions& options, PassContext& context) {
  return BlockBucketing(graph, part, modules, plan, entries, options, context).run();
}

Pass joint_transformer_block_bucketing_reordering() {
  return {
      .info = {.name = "joint_transformer_block_bucketing_reordering",
               .summary = "Merges each transformer block's FSDP collectives, separately in forward "
                          "and backward, and overlaps them with the neighboring block.",
               .source = "torchtitan/experiments/graph_trainer/fsdp_passes.py",
               .stage = PassStage::bucketing,
               .parameters = {parameter("module_bucket_plans", Parameter::Type::list, {},
                                        "Modules, or lists of modules, whose collectives share "
                                        "buckets: [tok_embeddings,layers.0,[norm,lm_head]]; none: "
                                        "derived from the model."),
                              texts("fsdp_param_module_order", {},
                                    "Modules in the order in which their parameters are packed; "
                                    "none: the order of the graph's inputs.")}},
      .run = with_kept_decision("The plan's modules have no FSDP collectives.",
                                run_joint_transformer_block_bucketing_reordering)};
}

}  // namespace jointer

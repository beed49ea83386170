// async_tensor_parallel: fuses a tensor-parallel collective with the matmuls before or after it
// into one call, which computes with the data of one rank while the data of the next is in transit.
//
//   r = all-gather of x along d;  c_i = r @ b_i
// becomes
//   (r, [c_i]) = symm_mem.fused_all_gather_matmul(x, [b_i], d, group)
// and
//   s = reduce-scatter along d of a @ b
// becomes
//   s = symm_mem.fused_matmul_reduce_scatter(a, b, op, d, group)
// Scaled matmuls are fused in the same way. tp_patterns.cpp matches the collectives, and
// tp_matmuls.cpp the matmuls.
//
// Steps
//   1. Find the collectives. With `prefer_overlap`, leave those unfused that an independent matmul
//      can hide: in program order, each collective claims one mm that neither feeds it nor depends
//      on it and that no other collective has claimed.
//   2. Fuse all-gathers, in program order, with the matmuls that read r as their left operand only.
//      Either all or none of these matmuls must be scaled. A gather along the last dimension
//      requires at least 1,024 columns per rank, unscaled matmuls, and no other readers of r. Along
//      any other dimension, prims.inductor_force_stride_order changes the strides of x so that its
//      parts are dense. The fused call takes the position of the all-gather; operands b_i that are
//      computed later move before it. An unscaled call returns r only if something still reads r.
//   3. Fuse reduce-scatters, in program order, with the matmul that produces their input if nothing
//      else reads that input; along the last dimension, the matmul must be unscaled. The strides of
//      `a` change like those of x, also along the last dimension. The fused call takes the
//      position of the wait.
// Readers then read the new results. Matched calls without remaining readers are removed.
//
// A second run may fuse more: because of `prefer_overlap`, the first run may have left a collective
// unfused for a matmul that it then fused with another collective.
//
// Cost: linear in the number of nodes, for step 1 and again for each all-gather with matmuls and
// for each reduce-scatter whose matmul must precede a write; with `prefer_overlap`, nodes times
// collectives.
//
// Source: torchtitan 0.3.0, graph_trainer/passes.py, async_tensor_parallel_pass, over torch 2.15's
// _inductor/fx_passes/micro_pipeline_tp.py (`prefer_overlap`: reorder_for_compute_comm_overlap).
//
// Deviations:
// - `groups` lists the process groups that have symmetric memory; torchtitan enables it for all
//   groups.
// - If a node moves before a fused call, the calls that write the memory it reads also move.
//   Upstream follows only arguments: with torchtitan's buckets, which split_with_sizes_copy fills,
//   matmuls then read weights before they are written.
// - Upstream stops with an error, or produces a graph that cannot run, if one fusion removes nodes
//   of the next match, if reshapes around a matmul fold dimensions other than the rows of the
//   matmul, or if bytes are gathered. Here, matmuls are matched just before each fusion, a
//   collective stays if one of its matched calls was removed, such reshapes are not fused, and the
//   fused call reads the tensor whose bytes are gathered.
// - A collective is not fused if a matmul would run after a write to memory that it reads, if a
//   node would move across a graph input, if strides would be products that contain a symbolic
//   size, or if a forward returns the result to the backward, which looks it up by name.
// - New values have shapes, strides and storages, which upstream leaves out. A reshape counts as a
//   copy if the new strides do not allow a view.

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/graph/dependencies.h"
#include "core/graph/is_call_of.h"
#include "core/graph/storage_moves.h"
#include "core/ops/collective_targets.h"
#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/fx_program.h"
#include "passes/support/chosen_groups.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"
#include "passes/symm_mem/strides.h"
#include "passes/symm_mem/symm_mem.h"
#include "passes/symm_mem/tp_matmuls.h"
#include "passes/symm_mem/tp_patterns.h"

namespace jointer {
namespace {

using Kind = Argument::Kind;

constexpr std::int64_t kMinColumns = 1024;  // per rank, along the last dimension

const Tensor* tensor_of(const Graph& graph, NodeId id) {
  return graph.single_tensor(graph.node(id));
}

bool is_last(const Tensor& t, std::int64_t dim) {
  return dim == -1 || dim == static_cast<std::int64_t>(t.rank) - 1;
}

// For each node, true if it is a collective that an independent matmul can hide. Each matmul hides
// at most one collective.
std::vector<bool> find_hidden(const Graph& graph, const FxProgram& program,
                              const std::vector<NodeId>& collectives) {
  std::vector<NodeId> nodes;
  for (NodeId id = program.first(); id; id = program.next(id)) nodes.push_back(id);
  std::vector<bool> is_hidden(graph.node_count(), false), is_taken(graph.node_count(), false);
  for (const NodeId collective : collectives) {
    std::vector<bool> needs(graph.node_count(), false), is_needed(graph.node_count(), false);
    needs[collective.index()] = is_needed[collective.index()] = true;
    for (const NodeId id : nodes)
      if (std::ranges::any_of(graph.inputs(id), [&](NodeId input) { return needs[input.index()]; }))
        needs[id.index()] = true;
    for (std::size_t i = nodes.size(); i-- > 0;)
      if (is_needed[nodes[i].index()])
        for (const NodeId input : graph.inputs(nodes[i])) is_needed[input.index()] = true;
    const auto one = std::ranges::find_if(nodes, [&](NodeId id) {
      return !needs[id.index()] && !is_needed[id.index()] && !is_taken[id.index()] &&
             is_call_of(graph, id, "aten.mm.default");
    });
    if (one == nodes.end()) continue;
    is_taken[one->index()] = true;
    is_hidden[collective.index()] = true;
  }
  return is_hidden;
}

class Fusion {
 public:
  Fusion(Graph& graph, PartId part, const Arguments& arguments, const ChosenGroups& groups,
         PassContext& context)
      : graph_(graph),
        context_(context),
        part_(part),
        groups_(groups),
        prefers_overlap_(arguments.boolean("prefer_overlap")),
        dependencies_(graph),
        program_(graph, part),
        readers_(graph, program_),
        names_(names_of(graph, part)),
        given_count_(graph.node_count()),
        is_gone_(graph.node_count(), false),
        is_returned_(graph.node_count(), false) {
    for (const NodeId id : graph.order())
      if (const Node& n = graph.node(id);
          n.kind == NodeKind::output && graph.part(n.part).kind == CaptureKind::forward)
        for (const NodeId input : graph.inputs(id)) is_returned_[input.index()] = true;
  }

  Result<void> run() {
    auto gathers = find_gathered_inputs(graph_, program_);
    auto scatters = find_scattered_outputs(graph_, program_);
    if (prefers_overlap_) leave_hidden(gathers, scatters);
    const double all = static_cast<double>(gathers.size() + scatters.size() + 1);
    double done = 0;
    for (const GatheredInput& each : gathers) {
      fuse(each);
      JOINTER_CHECK(context_.report(++done / all));
    }
    for (const ScatteredOutput& each : scatters) {
      fuse(each);
      JOINTER_CHECK(context_.report(++done / all));
    }
    program_.apply();
    for (const NodeId id : graph_.order())
      if (const auto now = replaced_.find(graph_.node(id).origin); now != replaced_.end())
        graph_.node(id).origin = now->second;
    return {};
  }

 private:
  void keep(NodeId id, std::string why) { context_.decide(graph_, id, "kept", std::move(why)); }

  void leave_hidden(std::vector<GatheredInput>& gathers, std::vector<ScatteredOutput>& scatters) {
    std::vector<NodeId> collectives;
    for (NodeId id = program_.first(); id; id = program_.next(id)) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call) continue;
      const std::string_view target = graph_.target(n);
      if (target == kAllGatherTarget || target == kReduceScatterTarget) collectives.push_back(id);
    }
    const std::vector<bool> is_hidden = find_hidden(graph_, program_, collectives);
    const auto leave = [&](NodeId id) {
      if (is_hidden[id.index()]) keep(id, "an independent matmul can hide it");
      return is_hidden[id.index()];
    };
    std::erase_if(gathers, [&](const GatheredInput& each) { return leave(each.gather); });
    std::erase_if(scatters, [&](const ScatteredOutput& each) { return leave(each.scatter); });
  }

  [[nodiscard]] bool any_gone(const std::vector<NodeId>& calls) const {
    return std::ranges::any_of(calls, [&](NodeId id) { return is_gone(id); });
  }
  [[nodiscard]] bool is_gone(NodeId id) const {
    return id.index() < given_count_ && is_gone_[id.index()];
  }
  [[nodiscard]] bool is_returned(NodeId id) const {
    return id.index() < given_count_ && is_returned_[id.index()];
  }

  // --- Nodes that must precede a fused call ---

  // The roots after `start` and the nodes after `start` on which they depend, in program order.
  // With `writes`, also nodes that must precede one of these although it does not read them.
  [[nodiscard]] std::vector<NodeId> needed_behind(const std::vector<NodeId>& roots, NodeId start,
                                                  const std::vector<std::uint32_t>& places,
                                                  bool writes) const {
    const std::uint32_t from = places[start.index()];
    std::set<NodeId> met;
    std::vector<NodeId> open;
    const auto meet = [&](NodeId id) {
      if (places[id.index()] > from && met.insert(id).second) open.push_back(id);
    };
    for (const NodeId root : roots) meet(root);
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (const NodeId input : graph_.inputs(id)) meet(input);
      if (writes)
        for (const NodeId other : bound_to(id)) meet(other);
    }
    std::vector<NodeId> needed(met.begin(), met.end());
    std::ranges::sort(needed, {}, [&](NodeId id) { return places[id.index()]; });
    return needed;
  }

  // The nodes that must precede this node although it does not read them.
  [[nodiscard]] std::vector<NodeId> bound_to(NodeId id) const {
    std::vector<NodeId> others;
    if (id.index() >= given_count_) return others;
    for (const Dependency& d : dependencies_.before(id))
      if (d.kind != DependencyKind::data && !is_gone(d.node)) others.push_back(d.node);
    return others;
  }

  // True if the node cannot move before `start`, because it is a placeholder or an output, or would
  // have to cross one.
  [[nodiscard]] bool is_behind_a_wall(NodeId id, NodeId start,
                                      const std::vector<std::uint32_t>& places) const {
    if (is_wall(graph_.node(id))) return true;
    if (id.index() >= given_count_) return false;
    const NodeId wall = dependencies_.wall_before(id);
    return wall && graph_.node(wall).part == part_ && places[wall.index()] > places[start.index()];
  }

  // --- Writing ---

  static Argument number(std::int64_t value) { return Argument::of_int(value); }
  static Argument dim_argument(const Dim& dim) {
    return dim.expression ? Argument::of_symbol(dim.expression) : number(dim.value);
  }
  Argument list(Kind kind, std::span<const Argument> items) {
    return graph_.make_children(kind, items);
  }
  Argument sizes(Kind kind, std::span<const Dim> dims) {
    std::vector<Argument> items;
    for (const Dim& dim : dims) items.push_back(dim_argument(dim));
    return list(kind, items);
  }
  Argument shape_list(NodeId of) { return sizes(Kind::list, graph_.shape(*tensor_of(graph_, of))); }

  // A tensor like `like`, but with `strides`. If `storage` is null, creates a new storage.
  Value tensor(const Tensor& like, std::span<const Dim> strides, StorageId storage) {
    Tensor t = like;
    const std::vector<Dim> shape(graph_.shape(like).begin(), graph_.shape(like).end());
    const std::vector<Dim> steps(strides.begin(), strides.end());
    Dim offset = graph_.offset(like);
    if (!storage) {
      offset = {};
      storage = graph_.add_storage(part_, {.value = graph_.bytes(like), .expression = {}});
      graph_.storage(storage).device = like.device;
    }
    t.storage = storage;
    t.set(Tensor::has_stride);
    t.set(Tensor::has_storage);
    t.set(Tensor::has_offset);
    return Value::of_tensor(graph_.add_tensor(t, shape, steps, offset));
  }
  // A copy of the value for another node that returns the same tensor.
  Value again(const Value& value) {
    if (value.kind == Value::Kind::list) {
      const std::vector<Value> items(graph_.children(value).begin(), graph_.children(value).end());
      std::vector<Value> copies;
      for (const Value& item : items) copies.push_back(again(item));
      return graph_.make_children(Value::Kind::list, copies);
    }
    if (value.kind != Value::Kind::tensor) return value;
    const Tensor t = graph_.tensor(value.tensor());
    const std::vector<Dim> steps(graph_.stride(t).begin(), graph_.stride(t).end());
    return tensor(t, steps, t.storage);
  }

  NodeId call(std::string_view target, std::string_view base, std::span<const Argument> args,
              Value value, NodeId like, NodeId before, const Argument* kwargs = nullptr) {
    Node n;
    const Node& as = graph_.node(like);
    n.part = part_;
    n.phase = as.phase;
    n.module = as.module;
    n.stack = as.stack;
    n.partitioner_tag = as.partitioner_tag;
    n.custom = as.custom;
    for (const Node::Flag flag : {Node::has_autograd_backward, Node::autograd_backward})
      n.set(flag, as.has(flag));
    n.name = graph_.intern(names_.create(base));
    n.target = graph_.intern_operator(target);
    n.args = list(Kind::list, args);
    n.set(Node::has_args);
    if (kwargs != nullptr) {
      n.kwargs = *kwargs;
      n.set(Node::has_kwargs);
    }
    n.value = value;
    n.set(Node::has_value);
    const NodeId id = graph_.add_node(n);
    program_.insert(id, before);
    readers_.touch(id);
    return id;
  }
  NodeId element(NodeId of, std::int64_t at, NodeId like, NodeId before) {
    const Value value = again(graph_.children(graph_.node(of).value)[static_cast<std::size_t>(at)]);
    return call("_operator.getitem", "getitem", std::array{Argument::of_node(of), number(at)},
                value, like, before);
  }

  // Strides that make each part along `dim` dense; nullopt if they depend on symbols.
  [[nodiscard]] std::optional<std::vector<Dim>> strides_for(NodeId id, std::int64_t dim) const {
    const Tensor& t = *tensor_of(graph_, id);
    return dense_along(graph_.shape(t), graph_.stride(t), dim);
  }

  // Adds a call that returns the tensor with these strides. If the tensor already has them, the
  // call copies nothing.
  NodeId with_strides(NodeId id, std::span<const Dim> strides, NodeId before) {
    const Tensor t = *tensor_of(graph_, id);
    const bool is_same = std::ranges::equal(graph_.stride(t), strides);
    const Value value = tensor(t, strides, is_same ? t.storage : StorageId());
    return call("prims.inductor_force_stride_order.default", "inductor_force_stride_order_default",
                std::array{Argument::of_node(id), sizes(Kind::tuple, strides)}, value, id, before);
  }

  // Makes the readers of `node` read `by`, and makes views of the storage of `node` views of the
  // storage of `by`.
  void replace(NodeId node, NodeId by) {
    const std::vector<NodeId> readers = readers_.of(node);
    program_.replace_uses(node, by);
    for (const NodeId reader : readers) readers_.touch(reader);
    replaced_[node] = by;
    const Tensor* was = tensor_of(graph_, node);
    const Tensor* is = tensor_of(graph_, by);
    if (was == nullptr || is == nullptr || !was->storage || !is->storage) return;
    std::set<StorageId> old{was->storage, graph_.real_storage(was->storage)};
    move_views(readers, old, is->storage);
  }

  // True for a reshape that must copy its input because the input's strides do not allow a view of
  // the new shape.
  bool copies(NodeId id) {
    const Node& n = graph_.node(id);
    if (graph_.target(n) != "aten.reshape.default" || graph_.inputs(id).empty()) return false;
    const Tensor* from = tensor_of(graph_, graph_.inputs(id).front());
    const Tensor* to = tensor_of(graph_, id);
    return from != nullptr && to != nullptr &&
           !can_view(graph_.shape(*from), graph_.stride(*from), graph_.shape(*to));
  }

  void move_views(const std::vector<NodeId>& readers, const std::set<StorageId>& old,
                  StorageId now) {
    for (const NodeId id : readers) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call) continue;
      const auto tensors = graph_.tensors(id);
      if (std::ranges::none_of(tensors, [&](const Tensor& t) { return old.contains(t.storage); }))
        continue;
      const std::set<StorageId> was{tensors.begin()->storage};
      StorageId to = now;
      if (copies(id)) {
        to = graph_.add_storage(part_, {.value = graph_.bytes(*tensors.begin()), .expression = {}});
        graph_.storage(to).device = graph_.tensors(id).begin()->device;
      }
      move_tensors(graph_, id, [&](const Tensor& t) {
        return StorageMove{.to = old.contains(t.storage) ? to : StorageId(), .by = 0};
      });
      move_views(program_.users(id), old, to);
    }
  }

  void erase_unread(const std::vector<NodeId>& calls) {
    for (std::size_t i = calls.size(); i-- > 0;) {
      const NodeId id = calls[i];
      if (is_gone(id) || !program_.users(id).empty()) continue;
      program_.erase(id);
      if (id.index() < given_count_) is_gone_[id.index()] = true;
    }
  }

  // --- All-gathers ---

  // The tensor that is gathered, even if the gather reads a view of its bytes; null if there is no
  // tensor with the dtype of the result.
  [[nodiscard]] NodeId shard_of(const GatheredInput& match) const {
    const NodeId given = graph_.inputs(match.gather).front();
    const Tensor *in = tensor_of(graph_, given), *out = tensor_of(graph_, match.result);
    if (in == nullptr || out == nullptr) return {};
    if (in->dtype == out->dtype) return given;
    if (graph_.target(graph_.node(given)) != "aten.view.dtype") return {};
    const NodeId seen = graph_.inputs(given).front();
    const Tensor* t = tensor_of(graph_, seen);
    return t != nullptr && t->dtype == out->dtype ? seen : NodeId();
  }

  // The matmuls that can be fused. If there are none, sets `why` to the reason.
  std::vector<TpMatmul> choose(const GatheredInput& match, NodeId shard,
                               const std::vector<std::uint32_t>& places, std::string& why) {
    const Tensor& t = *tensor_of(graph_, shard);
    const bool last = is_last(t, match.dim);
    if (last && graph_.shape(t).back().value < kMinColumns) {
      why = fmt::format("it gathers fewer than {} columns per rank", kMinColumns);
      return {};
    }
    std::vector<TpMatmul> found = find_consumers(graph_, readers_, match.result);
    std::erase_if(found, [&](const TpMatmul& one) {
      const auto needed = needed_behind(other_operands(graph_, one), match.gather, places, false);
      return std::ranges::find(needed, match.result) != needed.end();
    });
    const auto is_scaled = [](const TpMatmul& one) { return one.is_scaled; };
    if (found.empty()) {
      why = "no matmul reads the gathered tensor as its left operand only";
    } else if (std::ranges::any_of(found, is_scaled) && !std::ranges::all_of(found, is_scaled)) {
      why = "both scaled and unscaled matmuls read it";
    } else if (last && program_.users(match.result).size() > found.size()) {
      why = "it gathers along the last dimension, and calls other than matmuls read the result";
    } else if (last && found.front().is_scaled) {
      why = "scaled matmuls need whole rows";
    } else {
      return found;
    }
    return {};
  }

  void fuse(const GatheredInput& match) {
    if (any_gone(match.calls)) return;
    if (!groups_.has(graph_, match.gather)) {
      keep(match.gather, "its group is not in `groups`");
      return;
    }
    const NodeId shard = shard_of(match);
    if (!shard || tensor_of(graph_, shard)->rank == 0) {
      keep(match.gather,
           "its input is a scalar or differs from its result in dtype, or one of them is unknown");
      return;
    }
    // places() visits all nodes, so it is called only if a matmul reads the gathered tensor, which
    // is rare.
    const auto may_reach = find_consumers(graph_, readers_, match.result);
    const std::vector<std::uint32_t> places =
        may_reach.empty() ? std::vector<std::uint32_t>() : program_.places();
    std::string why;
    const std::vector<TpMatmul> products = choose(match, shard, places, why);
    if (products.empty()) {
      keep(match.gather, why);
      return;
    }
    std::vector<NodeId> roots;
    for (const TpMatmul& one : products) {
      for (const NodeId id : other_operands(graph_, one)) roots.push_back(id);
      for (const NodeId id : bound_to(one.product)) roots.push_back(id);
    }
    const std::vector<NodeId> raised = needed_behind(roots, match.gather, places, true);
    const auto goes = [&](NodeId id) {
      return std::ranges::find(match.calls, id) != match.calls.end() ||
             std::ranges::any_of(products, [&](const TpMatmul& one) {
               return std::ranges::find(one.calls, id) != one.calls.end();
             });
    };
    if (std::ranges::any_of(
            raised, [&](NodeId id) { return is_behind_a_wall(id, match.gather, places); })) {
      keep(match.gather,
           "an operand of its matmuls comes after a graph input, and nodes do not move across "
           "graph inputs");
      return;
    }
    if (std::ranges::any_of(raised, goes)) {
      keep(match.gather, "its matmuls read memory whose contents depend on the gathered tensor");
      return;
    }
    if (is_returned(match.result) || std::ranges::any_of(products, [&](const TpMatmul& one) {
          return is_returned(one.result()) || is_returned(one.product);
        })) {
      keep(match.gather, "the backward looks up its result or that of a matmul by name");
      return;
    }
    const Tensor& t = *tensor_of(graph_, shard);
    const bool last = is_last(t, match.dim);
    const auto strides = strides_for(shard, match.dim);
    const auto results = result_strides(match, products, last);
    if (!strides || !results) {
      keep(match.gather, "the strides of its input or results would depend on symbols");
      return;
    }
    write(match, last ? shard : with_strides(shard, *strides, match.gather), products, *results,
          raised);
  }

  // The strides of the gathered tensor, followed by those of the matmuls' results. All are dense
  // along the gathered dimension or, if that is the last one, along dimension 0. nullopt if strides
  // would depend on symbols.
  [[nodiscard]] std::optional<std::vector<std::vector<Dim>>> result_strides(
      const GatheredInput& match, const std::vector<TpMatmul>& products, bool last) const {
    std::vector<std::vector<Dim>> all;
    std::vector<NodeId> results{match.result};
    for (const TpMatmul& one : products) results.push_back(one.result());
    for (const NodeId id : results) {
      const auto shape = graph_.shape(*tensor_of(graph_, id));
      auto strides = dense_along(shape, {}, last ? 0 : match.dim);
      if (!strides) return {};
      all.push_back(std::move(*strides));
    }
    return all;
  }

  NodeId write_gather(const GatheredInput& match, NodeId shard,
                      const std::vector<TpMatmul>& products,
                      const std::vector<std::vector<Dim>>& strides) {
    const bool is_scaled = products.front().is_scaled;
    std::vector<Value> results;
    const Value whole = tensor(Tensor(*tensor_of(graph_, match.result)), strides[0], StorageId());
    for (std::size_t i = 0; i < products.size(); ++i)
      results.push_back(
          tensor(Tensor(*tensor_of(graph_, products[i].result())), strides[i + 1], StorageId()));
    const std::array both{whole, graph_.make_children(Value::Kind::list, results)};
    const Value value = graph_.make_children(Value::Kind::list, both);
    const auto each = [&](std::string_view name) {
      std::vector<Argument> items;
      for (const TpMatmul& one : products)
        items.push_back(name.empty() ? Argument::of_node(one.b)
                                     : scaled_argument(graph_, one, name));
      return list(Kind::list, items);
    };
    if (!is_scaled) {
      const std::array keywords{Argument::of_text(Kind::string, graph_.intern("return_A")),
                                Argument::of_bool(true)};
      const Argument kwargs = list(Kind::dict, keywords);
      return call("symm_mem.fused_all_gather_matmul.default", "fused_all_gather_matmul_default",
                  std::array{Argument::of_node(shard), each({}), number(match.dim), match.group},
                  value, match.gather, match.gather, &kwargs);
    }
    std::vector<Argument> fast;
    for (const TpMatmul& one : products) {
      const Argument given = scaled_argument(graph_, one, "use_fast_accum");
      fast.push_back(given.kind == Kind::none ? Argument::of_bool(false) : given);
    }
    return call("symm_mem.fused_all_gather_scaled_matmul.default",
                "fused_all_gather_scaled_matmul_default",
                std::array{Argument::of_node(shard), each({}),
                           scaled_argument(graph_, products.front(), "scale_a"), each("scale_b"),
                           number(match.dim), match.group, each("bias"), each("scale_result"),
                           each("out_dtype"), list(Kind::list, fast)},
                value, match.gather, match.gather);
  }

  void write(const GatheredInput& match, NodeId shard, const std::vector<TpMatmul>& products,
             const std::vector<std::vector<Dim>>& strides, const std::vector<NodeId>& raised) {
    const NodeId fused = write_gather(match, shard, products, strides);
    const NodeId whole = element(fused, 0, match.gather, match.gather);
    const NodeId all = element(fused, 1, match.gather, match.gather);
    for (std::size_t i = 0; i < products.size(); ++i) {
      const TpMatmul& one = products[i];
      const NodeId result = element(all, static_cast<std::int64_t>(i), one.product, match.gather);
      replace(one.result(), result);
      if (one.is_reshaped() && program_.users(one.product).size() > 1) {
        const Tensor flat = *tensor_of(graph_, one.product);
        const Tensor& now = *tensor_of(graph_, result);
        const bool views = can_view(graph_.shape(now), graph_.stride(now), graph_.shape(flat));
        const std::vector<Dim> steps(graph_.stride(flat).begin(), graph_.stride(flat).end());
        const Value value = tensor(flat, steps, views ? now.storage : StorageId());
        const NodeId again = call("aten.reshape.default", "reshape_default",
                                  std::array{Argument::of_node(result), shape_list(one.product)},
                                  value, one.product, match.gather);
        replace(one.product, again);
      }
      erase_unread(one.calls);
    }
    replace(match.result, whole);
    erase_unread(match.calls);
    if (program_.users(whole).empty()) leave_out(fused, whole);
    for (const NodeId id : raised) program_.move_before(id, fused);
    context_.decide(graph_, fused, "fused",
                    fmt::format("{} and {} run together, on the data of one rank at a time.",
                                graph_.name(match.gather),
                                products.size() == 1
                                    ? std::string("the matmul that reads it")
                                    : fmt::format("the {} matmuls that read it", products.size())));
  }

  // Nothing reads the gathered tensor, so the call need not return it.
  void leave_out(NodeId fused, NodeId whole) {
    program_.erase(whole);
    Node& n = graph_.node(fused);
    if (graph_.children(n.kwargs).empty()) return;
    const std::array keywords{graph_.children(n.kwargs)[0], Argument::of_bool(false)};
    n.kwargs = list(Kind::dict, keywords);
    const std::array results{Value(), again(graph_.children(graph_.node(fused).value)[1])};
    graph_.node(fused).value = graph_.make_children(Value::Kind::list, results);
    graph_.refresh(fused);
    readers_.touch(fused);
  }

  // --- Reduce-scatters ---

  void fuse(const ScatteredOutput& match) {
    if (any_gone(match.calls)) return;
    if (!groups_.has(graph_, match.scatter)) {
      keep(match.scatter, "its group is not in `groups`");
      return;
    }
    NodeId input = match.input;
    while (const auto now = replaced_.find(input) != replaced_.end() ? replaced_[input] : NodeId())
      input = now;
    const auto product = find_producer(graph_, input);
    const Tensor* t = tensor_of(graph_, input);
    if (!product || t == nullptr) {
      keep(match.scatter, "its input is not the result of a matmul");
      return;
    }
    const auto& users = program_.users(input);
    if (users.size() != 1 && !std::ranges::all_of(users, [&](NodeId user) {
          return std::ranges::find(match.calls, user) != match.calls.end();
        })) {
      keep(match.scatter, "other calls also read the matmul's result");
      return;
    }
    if (product->is_scaled && is_last(*t, match.dim)) {
      keep(match.scatter, "scaled matmuls need whole rows");
      return;
    }
    if (is_returned(match.wait) || is_returned(match.scatter)) {
      keep(match.scatter, "the backward looks up its result by name");
      return;
    }
    if (runs_before_a_write(*product, match.wait)) {
      keep(match.scatter, "its matmul would run after a write to memory that it reads");
      return;
    }
    write(match, *product);
  }

  // True if something between the matmul and the wait writes to memory that the matmul reads.
  [[nodiscard]] bool runs_before_a_write(const TpMatmul& product, NodeId wait) const {
    std::vector<NodeId> bound;
    for (const NodeId id : product.calls)
      if (id.index() < given_count_)
        for (const Dependency& d : dependencies_.after(id))
          if (d.kind != DependencyKind::data && !is_gone(d.node)) bound.push_back(d.node);
    if (bound.empty()) return false;
    const std::vector<std::uint32_t> places = program_.places();
    return std::ranges::any_of(
        bound, [&](NodeId id) { return places[id.index()] < places[wait.index()]; });
  }

  // The dimension of the two-dimensional matmul into which `dim` is folded; `dim` itself if nothing
  // is folded.
  [[nodiscard]] std::int64_t dim_of_product(const TpMatmul& product, std::int64_t dim) const {
    if (!product.is_scaled || !product.is_reshaped()) return dim;
    const NodeId first = product.calls.front();
    const auto from = graph_.shape(*tensor_of(graph_, graph_.inputs(first).front()));
    const auto to = graph_.shape(*tensor_of(graph_, first));
    if (dim == 0) return 0;
    if (dim == static_cast<std::int64_t>(from.size()) - 1) return 1;
    std::int64_t rows = 1;
    for (std::size_t i = 0; i + 1 < from.size(); ++i) rows *= from[i].value;
    return to[0].value == rows ? 0 : 1;
  }

  Argument result_shape(const TpMatmul& product) {
    if (product.is_reshaped()) return shape_list(product.result());
    std::vector<Dim> shape(graph_.shape(*tensor_of(graph_, product.a)).begin(),
                           graph_.shape(*tensor_of(graph_, product.a)).end());
    shape.back() = graph_.shape(*tensor_of(graph_, product.b)).back();
    return sizes(Kind::list, shape);
  }

  void write(const ScatteredOutput& match, const TpMatmul& product) {
    const std::int64_t dim = dim_of_product(product, match.dim);
    const auto strides = strides_for(product.a, dim);
    const Tensor like = *tensor_of(graph_, match.wait);
    const auto dense = dense_along(graph_.shape(like), {}, 0);
    if (!strides || !dense) {
      keep(match.scatter, "the strides of its input or results would depend on symbols");
      return;
    }
    const Argument a = Argument::of_node(with_strides(product.a, *strides, match.wait));
    const Argument b = Argument::of_node(product.b);
    const Value value = tensor(like, *dense, StorageId());
    NodeId fused;
    if (product.is_scaled) {
      const auto given = [&](std::string_view name) {
        return scaled_argument(graph_, product, name);
      };
      const Argument fast = given("use_fast_accum");
      fused = call("symm_mem.fused_scaled_matmul_reduce_scatter.default",
                   "fused_scaled_matmul_reduce_scatter_default",
                   std::array{a, b, given("scale_a"), given("scale_b"), match.reduction,
                              number(match.dim), number(dim), match.group, result_shape(product),
                              given("bias"), given("scale_result"), given("out_dtype"),
                              fast.kind == Kind::none ? Argument::of_bool(false) : fast},
                   value, product.product, match.wait);
    } else {
      fused = call("symm_mem.fused_matmul_reduce_scatter.default",
                   "fused_matmul_reduce_scatter_default",
                   std::array{a, b, match.reduction, number(match.dim), match.group}, value,
                   product.product, match.wait);
    }
    replace(match.wait, fused);
    const auto& left = program_.users(match.scatter);
    const bool is_saved = std::ranges::any_of(
        left, [&](NodeId id) { return graph_.node(id).kind == NodeKind::output; });
    context_.decide(graph_, fused, "fused",
                    fmt::format("{} and {} run together, on the data of one rank at a time.",
                                graph_.name(product.product), graph_.name(match.scatter)));
    // An output may return the collective instead of the wait.
    if (is_saved) replace(match.scatter, fused);
    erase_unread(match.calls);
    erase_unread(product.calls);
  }

  Graph& graph_;
  PassContext& context_;
  PartId part_;
  const ChosenGroups& groups_;
  bool prefers_overlap_;
  Dependencies dependencies_;
  FxProgram program_;
  FxReaders readers_;
  FxNames names_;
  std::size_t given_count_;  // number of nodes before the first fusion in this part
  std::vector<bool> is_gone_, is_returned_;
  std::map<NodeId, NodeId> replaced_;
};

// True if a matmul reads a view, or a view reads a matmul. The pass matches only reshapes there.
bool has_viewed_product(const Graph& graph) {
  const auto is_product = [&](NodeId id) {
    return is_call_of(graph, id, "aten.mm.default") ||
           is_call_of(graph, id, "aten._scaled_mm.default");
  };
  const auto is_view = [&](NodeId id) {
    return is_call_of(graph, id, "aten.view.default") ||
           is_call_of(graph, id, "aten._unsafe_view.default");
  };
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    if (!is_view(id) && !is_product(id)) return false;
    return std::ranges::any_of(graph.inputs(id), [&](NodeId input) {
      return is_view(id) ? is_product(input) : is_view(input);
    });
  });
}

Result<void> run_async_tensor_parallel(Graph& graph, const Arguments& arguments,
                                       PassContext& context) {
  JOINTER_TRY(const ChosenGroups groups, ChosenGroups::read(graph, arguments));
  for (std::size_t part = 0; part < graph.part_count(); ++part)
    JOINTER_CHECK(Fusion(graph, PartId(part), arguments, groups, context).run());
  const bool is_fused = std::ranges::any_of(
      context.decisions(), [](const Decision& each) { return each.action == "fused"; });
  if (!is_fused && !context.decisions().empty() && has_viewed_product(graph))
    context.decide("kept",
                   "Nothing is fused: the pass matches reshapes around matmuls, but this graph has "
                   "views. Run canonicalize_graph first, which turns views into reshapes.");
  return graph.finish();
}

}  // namespace

Pass async_tensor_parallel_pass() {
  return {
      .info =
          {.name = "async_tensor_parallel",
           .summary =
               "Fuses tensor-parallel collectives with adjacent matmuls, using symmetric memory.",
           .source = "torch/_inductor/fx_passes/micro_pipeline_tp.py",
           .stage = PassStage::bucketing,
           .parameters = {texts("groups",
                                "Names or descriptions of the process groups that have "
                                "symmetric memory; empty: all groups."),
                          flag("prefer_overlap", false,
                               "Do not fuse collectives that an independent matmul can hide.")},
           .keeps_numerics = false},
      .run =
          with_kept_decision("The graph has no all-gather or reduce-scatter that the pass matches.",
                             run_async_tensor_parallel)};
}

}  // namespace jointer

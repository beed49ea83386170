// Matches tensor-parallel collectives along any dimension. Collectives gather and scatter whole
// rows, that is, along dimension 0. For another dimension, a gathered tensor is split and
// concatenated after the collective, and a scattered tensor before it.
//
// An all-gather is one of
//   along 0   w = wait_tensor(all_gather_into_tensor(x, ranks, group))
//   along d   cat([parts of w], d), where one split along 0 produces the parts
//             cat([slices of w along 0], d); a slice along d from 0, which removes padding, may
//             follow
//   as bytes  view(w, dtype)
//             view(cat([view(part, dtype), ...], d), dtype) with the parts of one split along 0
// A reduce-scatter is
//   along 0   wait_tensor(reduce_scatter_tensor(y, op, ranks, group))
//   along d   the same with cat([parts of y]) instead of y, where one split or several slices along
//             d produce the parts
//
// The forms with slices check no readers. In the others, calls before the last one have one reader,
// with two exceptions: a split may have any readers besides the parts that are concatenated, and
// reduce_scatter_tensor may have two readers, as the output of a forward may save its result.
// Nodes are matched from the end, so the match of an all-gather that ends last wins; thus, if one
// match contains another, the longer one does.
//
// Cost: linear in the number of nodes and arguments.
// Source: torch/_inductor/fx_passes/micro_pipeline_tp.py of torch 2.15, find_all_gather_patterns
// and find_reduce_scatter_patterns, with the argument and reader counts that
// torch/_inductor/pattern_matcher.py requires. Deviations: except in the forms with slices, calls
// that pass a default value as a keyword argument are not matched.

#include "passes/symm_mem/tp_patterns.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/graph/is_call_of.h"
#include "core/ops/collective_targets.h"
#include "passes/symm_mem/tp_matmuls.h"

namespace jointer {
namespace {

using Kind = Argument::Kind;

constexpr std::string_view kCat = "aten.cat.default";
constexpr std::string_view kSlice = "aten.slice.Tensor";
constexpr std::string_view kCast = "aten.view.dtype";
constexpr std::array<std::string_view, 3> kSplits{"aten.split.Tensor", "aten.split.sizes",
                                                  "aten.split_with_sizes.default"};

// The nodes of the graph part, last node first.
std::vector<NodeId> from_the_end(const FxProgram& program) {
  std::vector<NodeId> nodes;
  for (NodeId id = program.first(); id; id = program.next(id)) nodes.push_back(id);
  std::ranges::reverse(nodes);
  return nodes;
}

// The parts into which a tensor was split along one dimension.
struct Parts {
  NodeId whole;
  std::optional<std::int64_t> dim;  // if the call specifies it
  std::vector<NodeId> calls;        // in the order of the data flow
};

class Matcher {
 public:
  Matcher(const Graph& graph, const FxProgram& program) : graph_(graph), program_(program) {}

  [[nodiscard]] std::optional<GatheredInput> gather_that_ends_at(NodeId id) const {
    if (is_call_of(graph_, id, kSlice) || is_call_of(graph_, id, kCat))
      if (auto match = gather_in_slices(id)) return match;
    if (is_call_of(graph_, id, kCat)) return gather_in_parts(id, false);
    if (is_call_of(graph_, id, kCast) && has_form(id, 2)) {
      const NodeId inner = node_argument(graph_, id, 0);
      if (!inner || !is_read_once(inner)) return {};
      auto match =
          is_call_of(graph_, inner, kCat) ? gather_in_parts(inner, true) : whole_gather(inner);
      if (match) end_at(*match, id);
      return match;
    }
    return whole_gather(id);
  }

  [[nodiscard]] std::optional<ScatteredOutput> scatter_that_ends_at(NodeId wait) const {
    if (!is_call_of(graph_, wait, kWaitTarget)) return {};
    if (auto match = scatter_in_slices(wait)) return match;
    if (!has_form(wait, 1)) return {};
    const NodeId start = node_argument(graph_, wait, 0);
    if (!start || !is_call_of(graph_, start, kReduceScatterTarget) || !has_form(start, 4))
      return {};
    const std::size_t readers = program_.users(start).size();
    if (readers != 1 && readers != 2) return {};
    const auto args = graph_.args(graph_.node(start));
    if (args[0].kind != Kind::node) return {};
    ScatteredOutput match{.input = args[0].node(),
                          .scatter = start,
                          .wait = wait,
                          .reduction = args[1],
                          .group = args[3],
                          .calls = {start, wait}};
    if (const NodeId cat = match.input;
        is_call_of(graph_, cat, kCat) && has_form(cat, 1) && is_read_once(cat))
      if (const auto parts = split_parts(cat, 3, false); parts && parts->dim) {
        match.input = parts->whole;
        match.dim = *parts->dim;
        match.calls = parts->calls;
        match.calls.insert(match.calls.end(), {cat, start, wait});
      }
    return match;
  }

 private:
  // True if the call has exactly this many arguments, all positional.
  [[nodiscard]] bool has_form(NodeId id, std::size_t arguments) const {
    const Node& n = graph_.node(id);
    return graph_.args(n).size() == arguments && graph_.children(n.kwargs).empty();
  }
  [[nodiscard]] std::optional<std::int64_t> number(NodeId id, std::size_t at) const {
    const auto args = graph_.args(graph_.node(id));
    if (at >= args.size() || args[at].kind != Kind::integer) return {};
    return args[at].integer;
  }
  [[nodiscard]] bool is_read_once(NodeId id) const { return program_.users(id).size() == 1; }

  static void end_at(GatheredInput& match, NodeId id) {
    match.result = id;
    match.calls.push_back(id);
  }

  // Matches a gather along dimension 0. The wait may have any number of readers.
  [[nodiscard]] std::optional<GatheredInput> whole_gather(NodeId wait) const {
    if (!is_call_of(graph_, wait, kWaitTarget) || !has_form(wait, 1)) return {};
    const NodeId start = node_argument(graph_, wait, 0);
    if (!start || !is_call_of(graph_, start, kAllGatherTarget) || !has_form(start, 3) ||
        !is_read_once(start) || !node_argument(graph_, start, 0))
      return {};
    return GatheredInput{.gather = start,
                         .result = wait,
                         .group = graph_.args(graph_.node(start))[2],
                         .calls = {start, wait}};
  }

  // The elements of the list that a cat concatenates.
  [[nodiscard]] std::span<const Argument> list_of(NodeId cat) const {
    const auto args = graph_.args(graph_.node(cat));
    return args.empty() ? std::span<const Argument>() : graph_.children(args[0]);
  }

  // Matches a cat of the results of one split; with `casts`, each result is first viewed as another
  // dtype.
  [[nodiscard]] std::optional<Parts> split_parts(NodeId cat, std::size_t split_arguments,
                                                 bool casts) const {
    Parts parts;
    NodeId split;
    for (const Argument& each : list_of(cat)) {
      if (each.kind != Kind::node) return {};
      NodeId cast, part = each.node();
      if (casts) {
        cast = part;
        if (!is_call_of(graph_, cast, kCast) || !has_form(cast, 2) || !is_read_once(cast))
          return {};
        part = node_argument(graph_, cast, 0);
      }
      if (!part || graph_.node(part).kind != NodeKind::call ||
          !graph_.op(graph_.node(part)).is_getitem || !is_read_once(part))
        return {};
      const NodeId from = node_argument(graph_, part, 0);
      if (!from || (split && from != split)) return {};
      if (!split) {
        split = from;
        if (graph_.node(split).kind != NodeKind::call ||
            std::ranges::find(kSplits, graph_.target(graph_.node(split))) == kSplits.end() ||
            !has_form(split, split_arguments) || !node_argument(graph_, split, 0))
          return {};
        parts.whole = node_argument(graph_, split, 0);
        parts.dim = number(split, 2);
        parts.calls.push_back(split);
      }
      parts.calls.push_back(part);
      if (cast) parts.calls.push_back(cast);
    }
    if (!split) return {};
    return parts;
  }

  [[nodiscard]] std::optional<GatheredInput> gather_in_parts(NodeId cat, bool casts) const {
    const auto dim = number(cat, 1);
    if (!has_form(cat, 2) || !dim) return {};
    const auto parts = split_parts(cat, 2, casts);
    if (!parts || !is_read_once(parts->whole)) return {};
    auto match = whole_gather(parts->whole);
    if (!match) return {};
    match->dim = *dim;
    match->calls.insert(match->calls.end(), parts->calls.begin(), parts->calls.end());
    end_at(*match, cat);
    return match;
  }

  // Matches a cat of slices of one tensor along one dimension.
  [[nodiscard]] std::optional<Parts> slice_parts(NodeId cat) const {
    Parts parts;
    for (const Argument& each : list_of(cat)) {
      if (each.kind != Kind::node || !is_call_of(graph_, each.node(), kSlice)) return {};
      const NodeId from = node_argument(graph_, each.node(), 0);
      const auto dim = number(each.node(), 1);
      if (!from || !dim || (parts.whole && (parts.whole != from || parts.dim != dim))) return {};
      parts.whole = from;
      parts.dim = dim;
      parts.calls.push_back(each.node());
    }
    if (!parts.whole) return {};
    return parts;
  }

  [[nodiscard]] std::optional<std::int64_t> dim_of_cat(NodeId cat) const {
    if (graph_.args(graph_.node(cat)).size() > 1) return number(cat, 1);
    const Argument* dim = graph_.argument(graph_.node(cat), "dim");
    if (dim == nullptr) return 0;
    if (dim->kind != Kind::integer) return {};
    return dim->integer;
  }

  [[nodiscard]] std::optional<GatheredInput> gather_in_slices(NodeId id) const {
    NodeId cat = id, trim;
    if (is_call_of(graph_, id, kSlice)) {
      trim = id;
      cat = node_argument(graph_, id, 0);
      if (!cat || graph_.args(graph_.node(id)).size() < 4) return {};
    }
    if (!is_call_of(graph_, cat, kCat)) return {};
    const auto dim = dim_of_cat(cat);
    if (!dim || (trim && (number(trim, 1) != dim || number(trim, 2) != 0))) return {};
    const auto parts = slice_parts(cat);
    if (!parts || parts->dim != 0 || !is_call_of(graph_, parts->whole, kWaitTarget)) return {};
    const NodeId start = node_argument(graph_, parts->whole, 0);
    if (!start || !is_call_of(graph_, start, kAllGatherTarget) || !node_argument(graph_, start, 0))
      return {};
    const Argument* group = graph_.argument(graph_.node(start), "group_name");
    if (group == nullptr) return {};
    GatheredInput match{.gather = start,
                        .result = id,
                        .dim = *dim,
                        .group = *group,
                        .calls = {start, parts->whole}};
    match.calls.insert(match.calls.end(), parts->calls.begin(), parts->calls.end());
    match.calls.push_back(cat);
    if (trim) match.calls.push_back(trim);
    return match;
  }

  [[nodiscard]] std::optional<ScatteredOutput> scatter_in_slices(NodeId wait) const {
    const NodeId start = node_argument(graph_, wait, 0);
    if (!start || !is_call_of(graph_, start, kReduceScatterTarget)) return {};
    const NodeId cat = node_argument(graph_, start, 0);
    if (!cat || !is_call_of(graph_, cat, kCat) || dim_of_cat(cat) != 0) return {};
    const auto parts = slice_parts(cat);
    const Argument* group = graph_.argument(graph_.node(start), "group_name");
    const Argument* reduction = graph_.argument(graph_.node(start), "reduce_op");
    if (!parts || group == nullptr || reduction == nullptr) return {};
    ScatteredOutput match{.input = parts->whole,
                          .scatter = start,
                          .wait = wait,
                          .dim = *parts->dim,
                          .reduction = *reduction,
                          .group = *group,
                          .calls = parts->calls};
    match.calls.insert(match.calls.end(), {cat, start, wait});
    return match;
  }

  const Graph& graph_;
  const FxProgram& program_;
};

}  // namespace

std::vector<GatheredInput> find_gathered_inputs(const Graph& graph, const FxProgram& program) {
  const Matcher matcher(graph, program);
  std::vector<bool> is_met(graph.node_count(), false);
  std::vector<GatheredInput> found;
  for (const NodeId id : from_the_end(program)) {
    auto match = matcher.gather_that_ends_at(id);
    if (!match || is_met[match->gather.index()]) continue;
    is_met[match->gather.index()] = true;
    found.push_back(std::move(*match));
  }
  std::ranges::reverse(found);
  return found;
}

std::vector<ScatteredOutput> find_scattered_outputs(const Graph& graph, const FxProgram& program) {
  const Matcher matcher(graph, program);
  std::vector<ScatteredOutput> found;
  for (const NodeId id : from_the_end(program))
    if (auto match = matcher.scatter_that_ends_at(id)) found.push_back(std::move(*match));
  std::ranges::reverse(found);
  return found;
}

}  // namespace jointer

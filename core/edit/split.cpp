// Splits a bucket or a coalesced collective into one collective per member.
//
// A bucket is recognized by the nodes around it, as merge.cpp makes them: cat -> (view ->)
// collective -> wait -> (view ->) split_with_sizes -> getitem (-> clone) -> view. Each of them has
// one reader, except split_with_sizes and the last views. The sizes of the pieces, and the way in
// which they are split off, must show that they are the members' results. All nodes except the last
// views are removed. The members' last views become waits again, or views of waits if nodes outside
// the bucket flattened the member's input. A member starts where the bucket started.
//
// Cost: linear in the bucket, plus one scan of the graph to find readers.

#include <algorithm>

#include "core/base/checked.h"
#include "core/edit/call_builder.h"
#include "core/edit/collective_call.h"
#include "core/edit/merge.h"
#include "core/edit/refuse.h"
#include "core/graph/is_call_of.h"
#include "core/graph/users.h"
#include "core/ops/collective_targets.h"

namespace jointer {
namespace {

// True if the node returns one tensor, without symbolic sizes: an inserted node needs fixed sizes.
bool has_fixed_sizes(const Graph& graph, NodeId node) {
  const Tensor* t = graph.single_tensor(graph.node(node));
  if (t == nullptr) return false;
  const auto shape = graph.shape(*t);
  return std::ranges::all_of(shape, [](const Dim& size) { return !size.expression; });
}

std::vector<std::int64_t> result_shape(CollectiveKind kind, std::int64_t ranks,
                                       std::vector<std::int64_t> input) {
  if (input.empty()) return input;
  if (kind == CollectiveKind::all_gather) input.front() *= ranks;
  if (kind == CollectiveKind::reduce_scatter) input.front() /= ranks;
  return input;
}

class BucketSplitter {
 public:
  explicit BucketSplitter(const Graph& graph) : graph_(graph), users_(graph) {}

  Result<Edit> run(NodeId start) {
    JOINTER_TRY(call_, read_collective_call(graph_, start));
    if (!find_bucket())
      return refuse(
          "{} is not a bucket that can be split: its input must be concatenated by aten.cat, and "
          "its result split into tensors of fixed sizes",
          graph_.name(start));
    return write();
  }

 private:
  struct Member {
    NodeId joined;  // an input that the bucket concatenates
    NodeId getitem, copy, view;
  };

  [[nodiscard]] NodeId only_user(NodeId id) const {
    const auto users = users_.of(id);
    return users.size() == 1 ? users.front() : NodeId{};
  }
  // Returns the only reader of the node if it calls `target`.
  [[nodiscard]] NodeId next(NodeId id, std::string_view target) const {
    const NodeId user = only_user(id);
    return user && is_call_of(graph_, user, target) ? user : NodeId{};
  }

  bool find_bucket() {
    const bool scatters = call_.kind == CollectiveKind::reduce_scatter;
    const bool gathers = call_.kind == CollectiveKind::all_gather;
    join_ = call_.input;
    if (scatters) {
      if (!join_ || !is_call_of(graph_, join_, "aten.view.default") ||
          only_user(join_) != call_.start)
        return false;
      flat_ = join_;
      join_ = graph_.inputs(join_).front();
    }
    if (!join_ || !is_call_of(graph_, join_, "aten.cat.default") || users_.of(join_).size() != 1)
      return false;
    const auto arguments = graph_.args(graph_.node(join_));
    const bool side_by_side = arguments.size() > 1 &&
                              arguments[1].kind == Argument::Kind::integer &&
                              arguments[1].integer == 1;
    if (arguments.empty() || side_by_side != scatters) return false;
    for (const Argument& element : graph_.children(arguments.front())) {
      if (element.kind != Argument::Kind::node) return false;
      members_.push_back({.joined = element.node()});
    }
    wait_ = next(call_.start, kWaitTarget);
    if (!wait_) return false;
    rows_ = gathers ? next(wait_, "aten.view.default") : NodeId{};
    if (gathers && !rows_) return false;
    split_ = next(gathers ? rows_ : wait_, "aten.split_with_sizes.default");
    return split_ && splits_by_member(gathers) && find_results(gathers);
  }

  // True if the pieces are split off side by side, from a tensor with one row per rank (gathered),
  // or one after another.
  [[nodiscard]] bool splits_by_member(bool gathers) const {
    const Argument* dim = graph_.argument(graph_.node(split_), "dim");
    if (!gathers)
      return dim == nullptr || dim->kind == Argument::Kind::none ||
             (dim->kind == Argument::Kind::integer && dim->integer == 0);
    if (dim == nullptr || dim->kind != Argument::Kind::integer || dim->integer != 1) return false;
    if (!has_fixed_sizes(graph_, rows_)) return false;
    const std::vector<std::int64_t> shape = sizes_of(graph_, rows_);
    return shape.size() == 2 && shape.front() == call_.group_size;
  }

  // True if the member's final view has as many elements as the collective makes of its input.
  [[nodiscard]] bool fits(const Member& m, bool gathers) const {
    const auto elements = [&](NodeId id) {
      return graph_.numel(*graph_.single_tensor(graph_.node(id)));
    };
    const bool scatters = call_.kind == CollectiveKind::reduce_scatter;
    return saturating_mul(elements(m.view), scatters ? call_.group_size : 1) ==
           saturating_mul(elements(m.joined), gathers ? call_.group_size : 1);
  }

  bool find_results(bool gathers) {
    for (const NodeId user : users_.of(split_)) {
      const auto arguments = graph_.args(graph_.node(user));
      if (!graph_.op(graph_.node(user)).is_getitem || arguments.size() != 2 ||
          arguments[1].kind != Argument::Kind::integer)
        return false;
      const auto index = static_cast<std::size_t>(arguments[1].integer);
      if (index >= members_.size() || members_[index].getitem) return false;
      Member& m = members_[index];
      m.getitem = user;
      m.copy = gathers ? next(user, "aten.clone.default") : NodeId{};
      if (gathers && !m.copy) return false;
      m.view = next(gathers ? m.copy : user, "aten.view.default");
      if (!m.view || !has_fixed_sizes(graph_, m.view) || !has_fixed_sizes(graph_, m.joined) ||
          !fits(m, gathers))
        return false;
    }
    return std::ranges::all_of(members_, [](const Member& m) { return static_cast<bool>(m.view); });
  }

  Edit write() {
    CallBuilder calls_out(graph_, call_.part);
    const std::string place = edit_name(graph_, call_.start);
    for (const Member& m : members_) write_member(calls_out, m, place);
    const auto remove = [&](NodeId id) {
      if (id) calls_out.add(RemoveNode{.node = edit_name(graph_, id)});
    };
    for (const Member& m : members_) {
      remove(m.copy);
      remove(m.getitem);
    }
    for (const NodeId id : {split_, rows_, wait_, call_.start, flat_, join_}) remove(id);
    for (const Member& m : members_)
      if (flattened(m)) remove(m.joined);
    return {.title = fmt::format("Split {} into {}", graph_.name(call_.start), members_.size()),
            .changes = calls_out.take(),
            .notes = {fmt::format(
                "Every rank must do the same: a collective of group {} is split into {}.",
                call_.group_name, members_.size())}};
  }

  // True if the member's input is a view that merging added and splitting removes.
  [[nodiscard]] bool flattened(const Member& m) const {
    if (!m.joined || !is_call_of(graph_, m.joined, "aten.view.default") ||
        users_.of(m.joined).size() != 1)
      return false;
    const NodeId input = graph_.inputs(m.joined).front();
    return has_fixed_sizes(graph_, input) &&
           is_dense(graph_, *graph_.single_tensor(graph_.node(input))) &&
           result_shape(call_.kind, call_.group_size, sizes_of(graph_, input)) ==
               sizes_of(graph_, m.view);
  }

  void write_member(CallBuilder& calls_out, const Member& m, const std::string& place) {
    const NodeId input = flattened(m) ? graph_.inputs(m.joined).front() : m.joined;
    std::vector<std::int64_t> shape = sizes_of(graph_, input);
    std::string name(graph_.name(input));
    if (call_.kind == CollectiveKind::reduce_scatter && shape.size() == 2 &&
        result_shape(call_.kind, call_.group_size, shape) != sizes_of(graph_, m.view)) {
      // The input has one row per rank. Flatten it, so that each rank gets its row without a
      // leading dimension of 1.
      shape = {shape[0] * shape[1]};
      name = calls_out.insert("aten.view.default",
                              {CallBuilder::node(name), ArgumentRecord::of_ints(shape)},
                              tensor_like(graph_, input, shape, name), m.view, place);
    }
    const std::vector<std::int64_t> result =
        result_shape(call_.kind, call_.group_size, std::move(shape));
    const std::string start =
        calls_out.insert(call_.target, call_.args_with(name),
                         tensor_like(graph_, call_.input, result), m.view, place);
    if (result == sizes_of(graph_, m.view)) {
      calls_out.replace(m.view, kWaitTarget, {CallBuilder::node(start)});
      return;
    }
    const std::string waited = calls_out.insert(kWaitTarget, {CallBuilder::node(start)},
                                                tensor_like(graph_, call_.input, result), m.view,
                                                edit_name(graph_, m.view));
    calls_out.replace(
        m.view, "aten.view.default",
        {CallBuilder::node(waited), ArgumentRecord::of_ints(sizes_of(graph_, m.view))});
  }

  const Graph& graph_;
  const Users users_;
  CollectiveCall call_;
  NodeId join_, flat_, wait_, rows_, split_;
  std::vector<Member> members_;
};

// Replaces all_gather_into_tensor_coalesced([a, b], 2, g) with all_gather_into_tensor(a, 2, g) and
// all_gather_into_tensor(b, 2, g).
Result<Edit> split_coalesced(const Graph& graph, NodeId start) {
  const Node& n = graph.node(start);
  std::string target(graph.target(n));
  constexpr std::string_view kSuffix = "_coalesced.default";
  const auto arguments = graph.args(n);
  if (!target.ends_with(kSuffix) || arguments.empty())
    return refuse("{} ({}) is not a known coalesced collective", graph.name(start), target);
  target = target.substr(0, target.size() - kSuffix.size()) + ".default";
  if (!graph.children(n.kwargs).empty())
    return refuse("{} has keyword arguments, which a split would drop", graph.name(start));
  const auto inputs = graph.children(arguments.front());
  ArgumentRecords rest;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i].kind == Argument::Kind::integer)
      rest.push_back(ArgumentRecord::of_int(arguments[i].integer));
    else if (arguments[i].kind == Argument::Kind::string)
      rest.push_back(
          ArgumentRecord::of_text(Argument::Kind::string, graph.text(arguments[i].text())));
    else
      return refuse("{} has an argument that is neither an integer nor a string",
                    graph.name(start));
  }
  const Users users(graph);
  CallBuilder calls(graph, n.part);
  std::vector<NodeId> getitems;
  for (const NodeId getitem : users.of(start)) {
    const auto of = graph.args(graph.node(getitem));
    const auto waits = users.of(getitem);
    if (!graph.op(graph.node(getitem)).is_getitem || of.size() != 2 || waits.empty() ||
        !has_fixed_sizes(graph, getitem) ||
        !std::ranges::all_of(waits, [&](NodeId wait) { return graph.is_wait(graph.node(wait)); }))
      return refuse(
          "{} cannot be split: {} must be one element of its result, with fixed sizes, and read "
          "only by waits",
          graph.name(start), graph.name(getitem));
    const auto index = static_cast<std::size_t>(of[1].integer);
    if (index >= inputs.size() || inputs[index].kind != Argument::Kind::node)
      return refuse("{} has no member {}", graph.name(start), index);
    ArgumentRecords args{CallBuilder::node(graph.name(inputs[index].node()))};
    args.insert(args.end(), rest.begin(), rest.end());
    const std::string name =
        calls.insert(target, std::move(args), tensor_like(graph, getitem, sizes_of(graph, getitem)),
                     start, edit_name(graph, start));
    for (const NodeId wait : waits)
      calls.replace(wait, graph.target(graph.node(wait)), {CallBuilder::node(name)});
    getitems.push_back(getitem);
  }
  for (const NodeId getitem : getitems) calls.add(RemoveNode{.node = edit_name(graph, getitem)});
  calls.add(RemoveNode{.node = edit_name(graph, start)});
  return Edit{
      .title = fmt::format("Split {} into {}", graph.name(start), getitems.size()),
      .changes = calls.take(),
      .notes = {fmt::format("Every rank must do the same: a coalesced collective is split into {}.",
                            getitems.size())}};
}

}  // namespace

Result<Edit> split_collective(const Graph& graph, NodeId start) {
  const Node& n = graph.node(start);
  if (!graph.is_collective_start(n)) return refuse("{} is not a collective", graph.name(start));
  if (graph.op(n).is_coalesced) return split_coalesced(graph, start);
  return BucketSplitter(graph).run(start);
}

}  // namespace jointer

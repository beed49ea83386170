// Merges collectives into buckets.
//
// Terms. g: number of ranks. Member i has an input of m_i elements and a result of r_i elements.
// all_gather: r_i = g*m_i; reduce_scatter: m_i = g*r_i; all_reduce: r_i = m_i. M and R are the sums
// of m_i and r_i.
//
// Steps
//   - All-gather: the inputs are flattened and concatenated, [M]. The gathered buffer has one row
//     per rank, [g, M]. The members' results are blocks of its columns; each is copied out and
//     viewed in its shape.
//   - Reduce-scatter: each input is viewed as [g, r_i], one row per rank. The rows are
//     concatenated, [g, R], and flattened. The result of a rank, [R], consists of the members'
//     results one after another: views, no copies.
//   - All-reduce: the inputs are flattened and concatenated, [M]; the results are views.
//
// The wait of each member becomes the member's final view. The node keeps its name, value and
// readers, so nothing else in the graph changes. The bucket starts where its last member started
// or, if a member's result is used before that, as soon as all inputs exist, but not before its
// first member. Its wait is at the position of the first of the members' waits after the start or,
// if that is earlier, right before the first use of a result.
//
// Numerics: gathering and copying do not change any bits. A sum over two ranks is the same in any
// order. Over more ranks, the order may depend on an element's position in the buffer, and so may
// the last bit of the sum.
//
// Members have the same operator, group, reduction, device and dtype. The caller may allow
// all-gathers of different dtypes: their inputs are then viewed as bytes, and the results that are
// copied out are viewed with their dtypes again. Calls that feed a member (such as a cast) stay;
// torch casts while packing. Source: torch/_inductor/fx_passes/bucketing.py.
//
// Cost: linear in the members and their readers, plus finding the readers and the dependencies of
// all nodes.

#include "core/edit/merge.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_set>

#include "core/base/counted.h"
#include "core/base/is_one_of.h"
#include "core/edit/call_builder.h"
#include "core/edit/collective_call.h"
#include "core/edit/from_record.h"
#include "core/edit/moves.h"
#include "core/edit/refuse.h"
#include "core/graph/dependencies.h"
#include "core/graph/storage_rules.h"
#include "core/graph/users.h"
#include "core/ops/collective_targets.h"
#include "core/ops/exact_reductions.h"

namespace jointer {
namespace {

struct Member {
  NodeId start, input, wait;
  std::vector<std::int64_t> shape;  // of the result
  std::int64_t in = 0, out = 0;     // elements; bytes in a bucket of bytes
  std::int64_t in_elements = 0;
};

class Merger {
 public:
  Merger(const Graph& graph, const Users& users, const MergeOptions& options = {})
      : graph_(graph), users_(users), options_(options) {}

  Result<Edit> run(std::span<const NodeId> starts) {
    JOINTER_CHECK(find_members(starts));
    JOINTER_CHECK(find_places());
    return write();
  }

  Result<void> find_members(std::span<const NodeId> starts) {
    std::vector<NodeId> sorted(starts.begin(), starts.end());
    std::ranges::sort(sorted, {}, [&](NodeId id) { return graph_.position(id); });
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    if (sorted.size() < 2) return refuse("a bucket needs at least two collectives");
    for (const NodeId id : sorted) {
      JOINTER_TRY(const CollectiveCall call, read_collective_call(graph_, id));
      if (members_.empty()) call_ = call;
      JOINTER_CHECK(check_alike(call));
      JOINTER_TRY(members_.emplace_back(), read_member(call));
    }
    if (is_of_bytes_)
      for (Member& m : members_) {
        const std::int64_t size = item_size(graph_.single_tensor(graph_.node(m.input))->dtype);
        m.in *= size;
        m.out *= size;
      }
    return {};
  }

  // Writes the calls without placing them. Returns the number of calls up to and including the
  // bucket's start.
  std::size_t write_calls(CallBuilder& calls) {
    calls_ = &calls;
    const std::size_t known = calls.count();
    const std::string bucket = pack();
    const std::size_t ahead = calls.count() - known;
    unpack(bucket);
    return ahead;
  }
  [[nodiscard]] PartId part() const { return call_.part; }
  [[nodiscard]] std::vector<NodeId> nodes(NodeId Member::*which) const {
    std::vector<NodeId> found;
    for (const Member& m : members_) found.push_back(m.*which);
    return found;
  }

 private:
  Result<void> check_alike(const CollectiveCall& call) {
    const std::string_view name = graph_.name(call.start), first = graph_.name(call_.start);
    if (call.part != call_.part)
      return refuse(
          "{} and {} are in different halves of the pair: all members of a bucket must be in the "
          "same half",
          first, name);
    if (call.kind != call_.kind)
      return refuse("{} is {}, but {} is {}: all members of a bucket must call the same operator",
                    first, to_string(call_.kind), name, to_string(call.kind));
    if (call.group_name != call_.group_name)
      return refuse(
          "{} and {} belong to different process groups: all members of a bucket must have the "
          "same group",
          first, name);
    if (call.reduce_op != call_.reduce_op)
      return refuse(
          "{} uses the reduction {}, but {} uses {}: all members of a bucket must have the same "
          "reduction",
          first, call_.reduce_op, name, call.reduce_op);
    const Tensor& a = *graph_.single_tensor(graph_.node(call_.input));
    const Tensor& b = *graph_.single_tensor(graph_.node(call.input));
    if (a.dtype != b.dtype && options_.several_dtypes && call.kind == CollectiveKind::all_gather)
      is_of_bytes_ = true;
    else if (a.dtype != b.dtype)
      return refuse(
          "{} has dtype {}, but {} has {}: all members of a bucket must have the same dtype", first,
          to_string(a.dtype), name, to_string(b.dtype));
    if (a.device != b.device)
      return refuse(
          "{} and {} are on different devices: all members of a bucket must be on the same device",
          first, name);
    return {};
  }

  Result<Member> read_member(const CollectiveCall& call) {
    JOINTER_TRY(const NodeId wait, only_wait(graph_, users_, call.start));
    const Tensor* input = graph_.single_tensor(graph_.node(call.input));
    const Tensor* result = graph_.single_tensor(graph_.node(wait));
    if (result == nullptr) return refuse("{} returns no tensor", graph_.name(wait));
    for (const Tensor* t : {input, result})
      for (const Dim& size : graph_.shape(*t))
        if (size.expression)
          return refuse("{} has the symbolic size {}: a bucket needs fixed sizes",
                        graph_.name(call.start), graph_.expression_text(size.expression));
    Member member{.start = call.start,
                  .input = call.input,
                  .wait = wait,
                  .shape = sizes_of(graph_, wait),
                  .in = graph_.numel(*input),
                  .out = graph_.numel(*result),
                  .in_elements = graph_.numel(*input)};
    const std::int64_t g = call.group_size;
    const bool fits = call.kind == CollectiveKind::all_gather       ? member.out == g * member.in
                      : call.kind == CollectiveKind::reduce_scatter ? member.in == g * member.out
                                                                    : member.in == member.out;
    if (!fits || !is_dense(graph_, *result))
      return refuse("the result of {} has the wrong size or layout for {} over {}",
                    graph_.name(call.start), to_string(call.kind),
                    counted(static_cast<std::size_t>(g), "rank"));
    return member;
  }

  // The bucket reads all inputs where it starts, so no node may write to an input between the
  // member's start and that position. Writes before the member's start come before that position
  // (find_chains).
  Result<void> check_writes(const Dependencies& dependencies, std::size_t start) const {
    for (const Member& m : members_)
      for (const Dependency& d : dependencies.after(m.start))
        if (d.kind == DependencyKind::write && graph_.position(d.node) < start)
          return refuse("{} writes to the input of {} before the bucket could start",
                        graph_.name(d.node), graph_.name(m.start));
    return {};
  }

  // Finds the nodes before which to insert the bucket's start and its wait.
  Result<void> find_places() {
    const Dependencies dependencies(graph_);
    find_chains(dependencies);
    JOINTER_TRY(const std::size_t start, find_start());
    JOINTER_CHECK(check_writes(dependencies, start));
    std::size_t wait = first_use_;
    for (const Member& m : members_)
      if (const std::size_t at = graph_.position(m.wait); at > start) wait = std::min(wait, at);
    // Nodes in `behind_` may move: skip to the first node that stays.
    while (wait < first_use_ && behind_.contains(graph_.order()[wait])) ++wait;
    start_place_ = edit_name(graph_, graph_.order()[start]);
    wait_place_ = edit_name(graph_, graph_.order()[wait]);
    for (const NodeId id : in_order(ahead_))
      if (graph_.position(id) > start) moved_ahead_.push_back(id);
    for (const NodeId id : in_order(behind_))
      if (graph_.position(id) < wait) moved_behind_.push_back(id);
    for (const Member& m : members_)
      if (graph_.position(m.wait) > wait) moved_behind_.push_back(m.wait);
    return {};
  }

  // Finds the cheap nodes that feed the starts or read from the waits, the last node that computes
  // an input or writes to one before its member starts, and the first node that uses a result and
  // is not cheap.
  void find_chains(const Dependencies& dependencies) {
    first_use_ = graph_.order().size();
    const auto add_source = [&](NodeId source) {
      if (!last_source_ || graph_.position(source) > graph_.position(last_source_))
        last_source_ = source;
    };
    for (const Member& m : members_) {
      const auto feeds = carry(graph_, users_, m.start, Direction::earlier).block;
      ahead_.insert(feeds.begin(), feeds.end() - 1);
      add_source(graph_.inputs(feeds.front()).front());
      for (const Dependency& d : dependencies.before(m.start))
        if (d.kind == DependencyKind::write) add_source(d.node);
      const auto reads = carry(graph_, users_, m.wait, Direction::later).block;
      behind_.insert(reads.begin(), reads.end());
    }
    for (const NodeId id : behind_)
      for (const NodeId user : users_.of(id))
        if (!behind_.contains(user) && graph_.position(user) < first_use_) {
          first_use_ = graph_.position(user);
          first_user_ = user;
        }
  }

  // Returns the position of the bucket's start: where the last member starts or, if a result is
  // used before that, the first position where all inputs exist, but not before the first member's
  // start.
  Result<std::size_t> find_start() const {
    const std::size_t last_start = graph_.position(members_.back().start);
    if (last_start < first_use_) return last_start;
    std::size_t start =
        std::max(graph_.position(last_source_) + 1, graph_.position(members_.front().start));
    while (start < first_use_ && ahead_.contains(graph_.order()[start])) ++start;
    if (start > first_use_)
      return refuse("{} uses the result of one member before {} computes the input of another",
                    graph_.name(first_user_), graph_.name(last_source_));
    return start;
  }

  [[nodiscard]] std::vector<NodeId> in_order(const std::set<NodeId>& nodes) const {
    std::vector<NodeId> sorted(nodes.begin(), nodes.end());
    std::ranges::sort(sorted, {}, [&](NodeId id) { return graph_.position(id); });
    return sorted;
  }

  void add_move(CallBuilder& calls, const std::vector<NodeId>& nodes, const std::string& before) {
    if (nodes.empty()) return;
    MoveNodes move{.before = before};
    for (const NodeId id : nodes) move.nodes.push_back(edit_name(graph_, id));
    calls.add(std::move(move));
  }

  Edit write() {
    CallBuilder calls(graph_, call_.part);
    calls_ = &calls;
    add_move(calls, moved_ahead_, start_place_);
    unpack(pack());
    add_move(calls, moved_behind_, wait_place_);
    for (const Member& m : members_) calls.add(RemoveNode{.node = edit_name(graph_, m.start)});
    const std::string_view group = graph_.node(call_.start).group
                                       ? graph_.group_label(graph_.node(call_.start).group)
                                       : std::string_view(call_.group_name);
    Edit edit{.title = fmt::format("Merge {} {}s of group {}, starting with {}", members_.size(),
                                   to_string(call_.kind), group, graph_.name(call_.start)),
              .changes = calls.take()};
    edit.notes.push_back(
        fmt::format("Every rank must do the same: {} collectives of group {} become one.",
                    members_.size(), group));
    if (!call_.reduce_op.empty() && !is_one_of(call_.reduce_op, kExactReductions) &&
        call_.group_size > 2)
      edit.notes.push_back(
          fmt::format("Sums over {} ranks may differ in the last bit: the order of summation "
                      "depends on the position in the buffer.",
                      call_.group_size));
    return edit;
  }

  [[nodiscard]] TensorRecord tensor(const std::vector<std::int64_t>& shape,
                                    std::string_view of = {}) const {
    TensorRecord record = tensor_like(graph_, call_.input, shape, of);
    if (is_of_bytes_) record.dtype = DType::uint8;
    return record;
  }
  std::string insert(std::string_view target, ArgumentRecords args, TensorRecord val, NodeId like,
                     std::string_view before) {
    return calls_->insert(target, std::move(args), std::move(val), like, before);
  }
  static ArgumentRecord n(std::string_view name) { return ArgumentRecord::of_node(name); }
  static ArgumentRecord ints(const std::vector<std::int64_t>& values) {
    return ArgumentRecord::of_ints(values);
  }
  static ArgumentRecord of_dtype(DType dtype) {
    return ArgumentRecord::of_text(ArgumentRecord::Kind::dtype, to_string(dtype));
  }
  [[nodiscard]] std::int64_t total(std::int64_t Member::*size) const {
    return std::accumulate(members_.begin(), members_.end(), std::int64_t{0},
                           [&](std::int64_t sum, const Member& m) { return sum + m.*size; });
  }

  // Returns the name of a node with the member's input, flat or as rows, ready for concatenation.
  std::string part_of(const Member& m, const std::vector<std::int64_t>& shape) {
    const std::string dense =
        as_dense(graph_, *calls_, m.input, is_of_bytes_ ? std::vector{m.in_elements} : shape,
                 m.start, start_place_);
    if (!is_of_bytes_) return dense;
    const Tensor& input = *graph_.single_tensor(graph_.node(m.input));
    TensorRecord bytes = tensor(shape, dense);
    if (is_dense(graph_, input))
      bytes.offset = {.value = graph_.offset(input).value * item_size(input.dtype)};
    return insert("aten.view.dtype", {n(dense), of_dtype(DType::uint8)}, std::move(bytes), m.start,
                  start_place_);
  }

  // Concatenates the inputs and calls the collective. Returns the name of the collective.
  std::string pack() {
    const bool scatters = call_.kind == CollectiveKind::reduce_scatter;
    const std::int64_t g = call_.group_size, in = total(&Member::in), out = total(&Member::out);
    ArgumentRecords parts;
    for (const Member& m : members_) {
      const auto shape = scatters ? std::vector{g, m.out} : std::vector{m.in};
      parts.push_back(n(part_of(m, shape)));
    }
    const NodeId first = members_.front().start;
    ArgumentRecords args{ArgumentRecord::of_children(ArgumentRecord::Kind::list, std::move(parts))};
    if (scatters) args.push_back(ArgumentRecord::of_int(1));
    std::string joined =
        insert("aten.cat.default", std::move(args),
               tensor(scatters ? std::vector{g, out} : std::vector{in}), first, start_place_);
    if (scatters)
      joined = insert("aten.view.default", {n(joined), ints({g * out})}, tensor({g * out}, joined),
                      first, start_place_);
    const std::int64_t size = call_.kind == CollectiveKind::all_gather ? g * in
                              : scatters                               ? out
                                                                       : in;
    return insert(call_.target, call_.args_with(joined), tensor({size}), first, start_place_);
  }

  void unpack(const std::string& bucket) {
    const bool gathers = call_.kind == CollectiveKind::all_gather;
    const std::int64_t g = call_.group_size, in = total(&Member::in), out = total(&Member::out);
    const NodeId first = members_.front().start;
    const std::string wait =
        insert(kWaitTarget, {n(bucket)}, tensor({gathers ? g * in : out}), first, wait_place_);
    const std::string whole = gathers ? insert("aten.view.default", {n(wait), ints({g, in})},
                                               tensor({g, in}, wait), first, wait_place_)
                                      : wait;
    std::vector<std::int64_t> lengths;
    ValueRecord pieces{.kind = ValueRecord::Kind::list};
    std::int64_t offset = 0;
    for (const Member& m : members_) {
      const std::int64_t size = gathers ? m.in : m.out;
      TensorRecord piece = tensor(gathers ? std::vector{g, size} : std::vector{size}, wait);
      piece.stride = gathers ? sizes({in, 1}) : sizes({1});
      piece.offset = {.value = offset};
      pieces.children.push_back(ValueRecord::of_tensor(std::move(piece)));
      lengths.push_back(size);
      offset += size;
    }
    ArgumentRecords args{n(whole), ints(lengths)};
    if (gathers) args.push_back(ArgumentRecord::of_int(1));
    const std::string split = calls_->insert("aten.split_with_sizes.default", std::move(args), {},
                                             pieces, first, wait_place_);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Member& m = members_[i];
      const auto index = static_cast<std::int64_t>(i);
      std::string piece = insert("_operator.getitem", {n(split), ArgumentRecord::of_int(index)},
                                 *std::move(pieces.children[i].tensor), m.start, wait_place_);
      if (gathers)
        piece = calls_->insert("aten.clone.default", {n(piece)}, contiguous_format(),
                               ValueRecord::of_tensor(tensor({g, m.in})), m.start, wait_place_);
      if (is_of_bytes_) {
        const DType dtype = graph_.single_tensor(graph_.node(m.input))->dtype;
        TensorRecord typed = tensor({g, m.in_elements}, piece);
        typed.dtype = dtype;
        piece = insert("aten.view.dtype", {n(piece), of_dtype(dtype)}, std::move(typed), m.start,
                       wait_place_);
      }
      calls_->replace(m.wait, "aten.view.default", {n(piece), ints(m.shape)});
    }
  }

  const Graph& graph_;
  const Users& users_;
  MergeOptions options_;
  CollectiveCall call_;  // the first member's
  bool is_of_bytes_ = false;
  std::vector<Member> members_;
  // `ahead_`: the cheap nodes that feed the starts. `behind_`: the waits and the cheap nodes that
  // read them.
  std::set<NodeId> ahead_, behind_;
  std::vector<NodeId> moved_ahead_, moved_behind_;
  NodeId last_source_, first_user_;
  std::size_t first_use_ = 0;
  std::string start_place_, wait_place_;
  CallBuilder* calls_ = nullptr;
};

// Applies the changes that a builder made. Appends the new nodes to the order and returns them.
std::vector<NodeId> perform(Graph& graph, PartId part, const std::vector<Change>& changes) {
  std::vector<NodeId> added;
  for (const Change& change : changes) {
    if (const auto* insert = std::get_if<InsertNode>(&change)) {
      // Cannot fail: builders write valid records.
      added.push_back(graph.add_node(*node_of(graph, part, *insert->node)));
    } else if (const auto* replace = std::get_if<ReplaceCall>(&change)) {
      const NodeId id = graph.find(replace->node);
      Node called = *replaced_call(graph, graph.node(id), *replace);
      called.group = {};
      graph.node(id) = called;
      graph.refresh(id);
    }
  }
  return added;
}

}  // namespace

Result<Edit> merge_collectives(const Graph& graph, std::span<const NodeId> starts) {
  const Users users(graph);
  return Merger(graph, users).run(starts);
}

std::vector<Result<MergedBucket>> merge_buckets(Graph& graph,
                                                std::span<const std::vector<NodeId>> buckets,
                                                const MergeOptions& options) {
  const Users users(graph);
  std::vector<CallBuilder> builders;  // by part
  for (std::size_t i = 0; i < graph.part_count(); ++i) builders.emplace_back(graph, PartId(i));
  std::vector<Result<MergedBucket>> merged;
  std::vector<NodeId> gone;
  std::unordered_set<NodeId> replaced;
  for (const std::vector<NodeId>& starts : buckets) {
    Merger merger(graph, users, options);
    if (auto found = merger.find_members(starts); !found) {
      merged.emplace_back(tl::unexpected(std::move(found).error()));
      continue;
    }
    CallBuilder& calls = builders[merger.part().index()];
    const auto ahead = static_cast<std::ptrdiff_t>(merger.write_calls(calls));
    const std::vector<NodeId> added = perform(graph, merger.part(), calls.take());
    MergedBucket bucket{.start = added[static_cast<std::size_t>(ahead) - 1],
                        .wait = added[static_cast<std::size_t>(ahead)],
                        .ahead = {added.begin(), added.begin() + ahead},
                        .behind = {added.begin() + ahead, added.end()},
                        .old_starts = merger.nodes(&Member::start),
                        .old_waits = merger.nodes(&Member::wait)};
    gone.insert(gone.end(), bucket.old_starts.begin(), bucket.old_starts.end());
    replaced.insert(bucket.old_waits.begin(), bucket.old_waits.end());
    merged.emplace_back(std::move(bucket));
  }
  correct_replaced(graph, replaced, {}, [](NodeId) {});
  graph.erase(gone);
  return merged;
}

}  // namespace jointer

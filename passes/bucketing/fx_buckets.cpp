// Inserts buckets into torch's list of nodes.
//
// Steps: write the calls (bucket_calls.h) and insert them; turn views of a member's result into
// views of the bucket's result; redirect readers; remove the members and the casts that the bucket
// replaces. Inputs may come after the bucket, so the stretch between the bucket and its inputs is
// sorted.
//
// Source: torch/_inductor/fx_passes/bucketing.py (2.15), process_collective_bucket.
// Cost: linear in the number of nodes, for each bucket.

#include "passes/bucketing/fx_buckets.h"

#include <algorithm>

#include "core/graph/effects.h"
#include "core/graph/storage_moves.h"
#include "core/ops/collective_targets.h"

namespace jointer {
namespace {

// Turns views of the wait's result into views of its replacement.
void move_views(Graph& graph, const FxProgram& program, NodeId wait, NodeId result) {
  const StorageId was = graph.tensors(wait)[0].storage;
  const Tensor to = graph.tensors(result)[0];
  const std::int64_t bytes = graph.offset(to).value * item_size(to.dtype);
  if (!was) return;
  std::vector<NodeId> open{wait}, met{wait};
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    for (const NodeId user : program.users(at)) {
      if (std::ranges::find(met, user) != met.end()) continue;
      met.push_back(user);
      const auto tensors = graph.tensors(user);
      const auto is_view = [&](const Tensor& t) {
        return t.storage && graph.real_storage(t.storage) == graph.real_storage(was);
      };
      if (std::ranges::none_of(tensors, is_view)) continue;
      move_tensors(graph, user, [&](const Tensor& t) {
        return is_view(t) ? StorageMove{.to = to.storage, .by = bytes / item_size(t.dtype)}
                          : StorageMove{};
      });
      open.push_back(user);
    }
  }
}

Result<void> sort_around(const Graph& graph, FxProgram& program, const BucketCalls& calls,
                         std::span<const BucketMember> members) {
  const std::vector<std::uint32_t> places = program.places();
  NodeId first = calls.ahead.front(), last = calls.behind.back();
  for (const BucketMember& m : members) {
    if (graph.node(m.source).kind == NodeKind::placeholder) continue;
    if (places[m.source.index()] < places[first.index()]) first = m.source;
    if (places[m.source.index()] > places[last.index()]) last = m.source;
  }
  return program.sort(first, last);
}

}  // namespace

Result<PlacedBucket> place_bucket(Graph& graph, FxProgram& program, BucketNames& names,
                                  std::span<const BucketMember> members, BucketForm form,
                                  NodeId before, NodeId wait_before) {
  PlacedBucket placed{.calls = write_bucket(graph, names, members, form), .readers = {}};
  const BucketCalls& calls = placed.calls;
  for (const NodeId id : calls.ahead) program.insert(id, before);
  for (const NodeId id : calls.behind) program.insert(id, wait_before ? wait_before : before);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& readers = program.users(members[i].wait);
    placed.readers.insert(placed.readers.end(), readers.begin(), readers.end());
    move_views(graph, program, members[i].wait, calls.results[i]);
    program.replace_uses(members[i].wait, calls.results[i]);
  }
  for (const BucketMember& m : members) {
    program.erase(m.wait);
    program.erase(m.start);
    if (m.cast) program.erase(m.cast);
  }
  std::erase_if(placed.readers, [&](NodeId id) {
    return std::ranges::any_of(members, [&](const BucketMember& m) {
      return id == m.start || id == m.wait || id == m.cast;
    });
  });
  JOINTER_CHECK(sort_around(graph, program, calls, members));
  return placed;
}

NodeId behind_members(const FxProgram& program, std::span<const BucketMember> members,
                      NodeId node) {
  NodeId at = program.next(node);
  while (at && std::ranges::any_of(members, [&](const BucketMember& m) { return m.start == at; }))
    at = program.next(at);
  return at;
}

bool is_written(const Graph& graph, const Dependencies& dependencies,
                const WaitedCollective& collective) {
  // If a bucket gathers in place, both its packing call and its collective write to its memory. In
  // that case, other nodes that write to the memory count, but nodes that read it do not.
  const bool has_own = graph.target(graph.node(collective.start)) == kAllGatherOutTarget;
  const auto inputs = graph.inputs(collective.start);
  const auto is_own = [&](NodeId id) {
    return id == collective.start || id == collective.wait ||
           std::ranges::find(inputs, id) != inputs.end();
  };
  const auto has_write = [&](std::span<const Dependency> list) {
    return std::ranges::any_of(list, [&](const Dependency& d) {
      if (d.kind != DependencyKind::write || is_own(d.node)) return false;
      if (!has_own) return true;
      return !written_arguments(graph, graph.node(d.node)).empty();
    });
  };
  for (const NodeId id : {collective.start, collective.wait})
    if (has_write(dependencies.before(id)) || has_write(dependencies.after(id))) return true;
  return false;
}

}  // namespace jointer

// Checks that every call of a pair reads and writes the same memory contents as in the joint graph.
//
// Terms: an access is the use of a storage that some call writes to, by a call that reads, writes
// or returns it. A call that only creates views or returns an element of a tuple has no accesses,
// as it does not read the memory. The rank of an access is the number of calls before it, in the
// joint graph, that write to that storage.
//
// The pair is correct if each access runs after as many writes as its rank, and all writes run.
// Since writes are accesses, they then run in the right order as well. An access that runs in both
// halves is checked in each. The call that allocates such a storage must run only once, or there
// would be two storages.
//
// A typical failure: the backward reads an input that a later call of the forward writes to, such
// as a copy at the end of a traced graph. No plan avoids this, since the reader belongs to the
// backward and the writer to the forward. torch's partitioners emit such a pair nevertheless, and
// its backward reads the new values.
//
// Cost: linear in nodes and edges once per graph; each check is linear in the calls.

#include "core/partition/write_order.h"

#include <algorithm>

#include "core/graph/effects.h"
#include "core/graph/memory_access.h"

namespace jointer {
namespace {

constexpr std::uint32_t kNever = ~std::uint32_t{0};

}  // namespace

WriteOrder::WriteOrder(const Graph& joint) : joint_(joint) {
  std::vector<std::uint32_t> dense(joint.storage_count(), kNever);
  std::vector<NodeId> written;
  const auto each_storage = [&](NodeId id, const auto& visit) {
    for (const Tensor& t : joint.tensors(id))
      if (t.storage) visit(dense[joint.real_storage(t.storage).index()]);
  };
  // Check each operator only once: there are far fewer operators than calls.
  std::vector<std::int8_t> may(joint.operator_count(), -1);
  for (const NodeId id : joint.order()) {
    const Node& node = joint.node(id);
    std::int8_t& known = may[node.target.index()];
    if (known < 0) known = may_write(joint.op(node)) ? 1 : 0;
    if (known == 0) continue;
    written.clear();
    written_arguments(joint, node, written);
    for (const NodeId to : written)
      each_storage(to, [&](std::uint32_t& storage) {
        if (storage == kNever) {
          storage = static_cast<std::uint32_t>(writes_.size());
          writes_.emplace_back();
        }
      });
  }
  if (writes_.empty()) return;

  std::vector<std::pair<std::uint32_t, Access>> all;
  std::vector<Access> found;  // of one call
  for (const NodeId id : joint.order()) {
    const Node& node = joint.node(id);
    if (node.kind != NodeKind::call) continue;
    if (only_takes_views(joint, node)) continue;
    found.clear();
    const auto add = [&](std::uint32_t storage, bool writes) {
      if (storage == kNever) return;
      const auto known = std::ranges::find(found, storage, &Access::storage);
      if (known == found.end())
        found.push_back({.storage = storage,
                         .after = static_cast<std::uint32_t>(writes_[storage].size()),
                         .writes = writes});
      else
        known->writes |= writes;
    };
    const auto read = [&](NodeId of) {
      each_storage(of, [&](std::uint32_t storage) { add(storage, false); });
    };
    for (const NodeId input : joint.inputs(id)) read(input);
    const std::size_t of_inputs = found.size();
    read(id);
    for (std::size_t i = of_inputs; i < found.size(); ++i) found[i].makes = true;
    written.clear();
    written_arguments(joint, node, written);
    for (const NodeId to : written)
      each_storage(to, [&](std::uint32_t storage) { add(storage, true); });
    for (const Access& access : found) {
      if (access.writes) writes_[access.storage].push_back(id);
      all.emplace_back(id.value(), access);
    }
  }
  accesses_ = Lists<Access>::of_pairs(all, joint.node_count());
}

NodeId WriteOrder::next_write(NodeId id, const std::function<bool(NodeId)>& counts) const {
  NodeId first;
  for (const Access& access : accesses_.of(id.index())) {
    const auto& writes = writes_[access.storage];
    const auto behind = std::find_if(writes.begin() + access.after, writes.end(),
                                     [&](NodeId write) { return write != id && counts(write); });
    if (behind != writes.end() && (!first || joint_.position(*behind) < joint_.position(first)))
      first = *behind;
  }
  return first;
}

bool WriteOrder::any_before(NodeId id, const std::function<bool(NodeId)>& counts) const {
  return std::ranges::any_of(accesses_.of(id.index()), [&](const Access& access) {
    const auto& writes = writes_[access.storage];
    return std::any_of(writes.begin(), writes.begin() + access.after, counts);
  });
}

std::string overtaken(const Graph& joint, NodeId call, NodeId write) {
  return fmt::format(
      "{0} uses memory that {1} writes to later, but in the pair {1} runs first; let {0} work on a "
      "clone",
      joint.name(call), joint.name(write));
}

Result<void> WriteOrder::check(std::span<const NodeId> forward,
                               std::span<const NodeId> backward) const {
  if (!any()) return {};
  std::vector<std::uint32_t> done(writes_.size(), 0);
  std::vector<bool> is_made(writes_.size(), false);
  for (const auto half : {forward, backward})
    for (const NodeId id : half)
      for (const Access& access : accesses_.of(id.index())) {
        std::uint32_t& count = done[access.storage];
        const auto name = [&](NodeId node) { return joint_.name(node); };
        if (count > access.after)
          return fail(Error::Kind::usage, "{}",
                      overtaken(joint_, id, writes_[access.storage][access.after]));
        if (count < access.after)
          return fail(Error::Kind::usage,
                      "{0} must write before {1} uses the same memory, but in the pair {1} runs "
                      "first; partition a functional graph",
                      name(writes_[access.storage][count]), name(id));
        if (access.makes && is_made[access.storage])
          return fail(Error::Kind::usage,
                      "{} allocates the memory that {} writes to, but would run in both forward "
                      "and backward; partition a functional graph",
                      name(id), name(writes_[access.storage].front()));
        if (access.makes) is_made[access.storage] = true;
        if (access.writes) ++count;
      }
  for (std::size_t storage = 0; storage < done.size(); ++storage)
    if (done[storage] < writes_[storage].size()) {
      const NodeId lost = writes_[storage][done[storage]];
      return fail(Error::Kind::usage,
                  "{} writes in place, but its half of the pair lacks the value that it writes to; "
                  "partition a functional graph",
                  joint_.name(lost));
    }
  return {};
}

}  // namespace jointer

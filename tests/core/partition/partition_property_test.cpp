// For any graph and tags, the emitted pair is sound, computes what the joint graph computes, and is
// the same every time.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "core/partition/partition.h"
#include "tests/support/must.h"
#include "tests/support/random_graph.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

Graph some_joint_graph(bool writes, bool input_copies) {
  return random_graph(*rc::gen::arbitrary<std::uint64_t>(),
                      {.calls = *rc::gen::inRange<std::size_t>(2, 60),
                       .symbols = *rc::gen::arbitrary<bool>(),
                       .gradients = true,
                       .writes = writes,
                       .input_copies = input_copies});
}

// The error is about reads and writes of an input, whose order no pair can keep.
bool is_about_order(const std::string& why) {
  return why.find("in the pair") != std::string::npos ||
         why.find("lacks the value that it writes to") != std::string::npos;
}

std::vector<NodeId> passed_values(const Graph& pair) {
  std::vector<NodeId> nodes;
  for (const OutputEntry& entry : pair.part(PartId(0)).outputs)
    if (entry.role == Role::saved) nodes.push_back(entry.node);
  return nodes;
}

void check_pair(const Graph& joint, const Partition& done, const Graph& pair) {
  const auto sound = validate(pair);
  if (!sound) RC_FAIL(sound.error().message);
  RC_ASSERT(symbolic_run(pair) == symbolic_run(joint));
  // The forward saves what the plan lists, in its order, and states of random number generators.
  std::vector<std::string> wanted, given;
  const auto& offloaded = done.plan.offloaded;
  for (const NodeId id : done.plan.saved)
    wanted.push_back((std::ranges::binary_search(offloaded, id) ? "cpu_offload_" : "") +
                     std::string(done.joint.name(id)));
  for (const NodeId id : done.plan.saved_symbols) wanted.emplace_back(done.joint.name(id));
  for (const NodeId id : passed_values(pair))
    if (pair.target(pair.node(id)) != "_operator.getitem" || done.joint.find(pair.name(id)))
      given.emplace_back(pair.name(id));
  RC_ASSERT(given == wanted);
  // A random call that runs in both halves draws the same numbers.
  for (const NodeId id : pair.order()) {
    const Node& node = pair.node(id);
    if (node.part != PartId(1) || node.kind != NodeKind::call) continue;
    if (pair.op(node).has(OperatorTag::random)) RC_ASSERT(!pair.find(PartId(0), pair.name(id)));
  }
  const auto read = read_native("pair", PaddedBytes(write_native(pair)));
  if (!read) RC_FAIL(read.error().message);
  RC_ASSERT(graph_hash(*read) == graph_hash(pair));
}

RC_GTEST_PROP(PartitionProperty, MinCutComputesTheSame, (bool ignore_tags, bool input_copies)) {
  const bool writes = *rc::gen::inRange(0, 4) == 0;
  const Graph joint = some_joint_graph(writes, input_copies);
  const auto done = partition(joint, {.ignore_tags = ignore_tags});
  if (!done) {
    // Tags may contradict each other, and only functional graphs are partitioned: the error names
    // the calls that write.
    RC_ASSERT(done.error().kind == Error::Kind::usage);
    const std::string& why = done.error().message;
    if (ignore_tags) RC_LOG() << why;
    if (ignore_tags)
      RC_ASSERT((writes && why.find("writes in place") != std::string::npos) ||
                (input_copies && is_about_order(why)));
    RC_DISCARD("refused");
  }
  const auto pair = emit_pair(done->joint, done->plan);
  if (!pair) RC_FAIL(pair.error().message);
  check_pair(joint, *done, *pair);
}

RC_GTEST_PROP(PartitionProperty, DefaultComputesTheSame,
              (bool writes, bool ignore_tags, bool input_copies)) {
  const Graph joint = some_joint_graph(writes, input_copies);
  const PartitionOptions options{.partitioner = Partitioner::default_partition,
                                 .ignore_tags = ignore_tags};
  const auto done = partition(joint, options);
  // A tuple of the forward whose elements are read in the backward cannot be saved; and nothing is
  // recomputed if calls write in place.
  if (!done) {
    RC_ASSERT(done.error().kind == Error::Kind::usage);
    RC_DISCARD("cannot be saved for backward");
  }
  const auto pair = emit_pair(done->joint, done->plan, Partitioner::default_partition);
  if (!pair) RC_FAIL(pair.error().message);
  check_pair(joint, *done, *pair);
}

TEST(PartitionProperty, IsDeterministic) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Graph joint = random_graph(seed, {.calls = 200, .gradients = true, .writes = false});
    std::set<std::string> written;
    for (int run = 0; run < 20; ++run) {
      const auto done = must(partition(joint, {.ignore_tags = true}));
      const auto pair = must(emit_pair(done.joint, done.plan));
      written.insert(write_native(pair));
    }
    EXPECT_EQ(written.size(), 1U);
  }
}

}  // namespace
}  // namespace jointer::test

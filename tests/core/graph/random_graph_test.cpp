// The generator of random graphs covers what it promises; otherwise property tests would prove
// nothing.

#include "tests/support/random_graph.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <map>

#include "core/graph/canonical.h"
#include "core/graph/derive.h"
#include "core/graph/users.h"
#include "core/graph/validate.h"

namespace jointer::test {
namespace {

TEST(RandomGraph, CoversCaptures) {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph graph = random_graph(seed, {.pair = seed % 3 == 0});
    for (const NodeId id : graph.order()) {
      const Node& n = graph.node(id);
      seen["collective"] += graph.is_collective_start(n);
      seen["wait"] += graph.is_wait(n) && graph.collective_of_wait(n);
      seen["view"] += n.kind == NodeKind::call && graph.op(n).is_view;
      seen["mutation"] += n.kind == NodeKind::call && graph.op(n).mutates;
      seen["several tensors"] += n.tensor_count > 1;
      seen["backward"] += n.phase == Phase::backward;
      seen["module"] += static_cast<bool>(n.module);
      seen["tag"] += n.policy != MemoryPolicy::none;
      seen["partner"] += static_cast<bool>(n.partner);
      seen["group of one"] += graph.is_collective_start(n) && graph.group_size(n) == 1;
      for (const Tensor& t : graph.tensors(n)) {
        seen["symbol"] += static_cast<bool>(graph.shape(t).front().expression);
        seen["empty tensor"] += graph.numel(t) == 0;
        seen["other device"] += graph.device_type(t) != graph.main_device();
        seen["joined storage"] += graph.real_storage(t.storage) != t.storage;
      }
    }
  }
  for (const auto& [what, count] : seen) EXPECT_GT(count, 5) << what;
}

RC_GTEST_PROP(RandomGraphs, AreSoundAndTheSameForTheSameSeed, (std::uint64_t seed, bool pair)) {
  const auto calls = *rc::gen::inRange<std::size_t>(1, 80);
  const Graph graph = random_graph(seed, {.calls = calls, .pair = pair});
  RC_ASSERT(validate(graph).has_value());
  RC_ASSERT(graph_hash(graph) == graph_hash(random_graph(seed, {.calls = calls, .pair = pair})));
}

RC_GTEST_PROP(RandomGraphs, DerivingAgainChangesNothing, (std::uint64_t seed, bool pair)) {
  Graph graph = random_graph(seed, {.pair = pair});
  std::vector<std::tuple<Phase, Role, NodeId>> before, after;
  const auto collect = [&](auto& into) {
    for (const NodeId id : graph.order())
      into.emplace_back(graph.node(id).phase, graph.node(id).role, graph.node(id).partner);
  };
  collect(before);
  derive_phases(graph);
  derive_roles(graph);
  RC_ASSERT(link_pair(graph).has_value());
  RC_ASSERT(graph.finish().has_value());
  collect(after);
  RC_ASSERT(before == after);
}

RC_GTEST_PROP(RandomGraphs, UsersAreTheInverseOfInputs, (std::uint64_t seed)) {
  const Graph graph = random_graph(seed);
  const Users users(graph);
  std::size_t edges = 0, uses = 0;
  for (const NodeId id : graph.order()) {
    uses += users.of(id).size();
    for (const NodeId input : graph.inputs(id)) {
      ++edges;
      const auto of = users.of(input);
      RC_ASSERT(std::count(of.begin(), of.end(), id) == 1);
    }
  }
  RC_ASSERT(edges == uses);
}

}  // namespace
}  // namespace jointer::test

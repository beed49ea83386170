// Compares chains with a separate search from every value.

#include "core/partition/recompute_chains.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <set>

#include "tests/support/random_costs.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

std::set<Place> chain_of(const PairOrders& orders, std::span<const std::uint8_t> is_there,
                         Place value) {
  std::set<Place> chain{value};
  std::vector<Place> open{value};
  while (!open.empty()) {
    const Place p = open.back();
    open.pop_back();
    for (const Place input : orders.inputs(p))
      if (!is_there[input] && chain.insert(input).second) open.push_back(input);
  }
  return chain;
}

RC_GTEST_PROP(RecomputeChains, EqualASearch, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::mt19937_64 chance(seed);
  const Graph graph = random_graph(seed, {.calls = 5 + chance() % 150, .symbols = false});
  const PairOrders orders(graph);
  std::vector<Flops> flops(graph.node_count());
  for (Flops& each : flops) each.total = static_cast<std::int64_t>(chance() % 1000);
  const PlanTime time(orders, random_costs(graph, seed), flops, {}, {});
  std::vector<std::uint8_t> is_there(orders.size(), 0);
  std::vector<Place> values;
  const std::uint64_t saved = 1 + chance() % 40;
  for (Place p = 0; p < orders.size(); ++p) {
    is_there[p] = orders.has(p, PairOrders::is_placeholder) || chance() % saved == 0;
    if (orders.has(p, PairOrders::is_call) && chance() % 2 == 0) values.push_back(p);
  }
  const std::vector<RecomputeChain> chains = recompute_chains(orders, time, is_there, values);
  RC_ASSERT(chains.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    RecomputeChain expected;
    for (const Place p : chain_of(orders, is_there, values[i])) {
      expected.ns += time.ns(p);
      expected.flops += time.flops(p);
      ++expected.calls;
    }
    RC_ASSERT(chains[i].ns == expected.ns);
    RC_ASSERT(chains[i].flops == expected.flops);
    RC_ASSERT(chains[i].calls == expected.calls);
  }
}

}  // namespace
}  // namespace jointer::test

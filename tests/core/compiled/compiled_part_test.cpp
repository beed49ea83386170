// A half of a pair is compiled like the graph that it is when it is taken out of the pair.

#include "core/compiled/compiled_part.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/capture/half_graph.h"
#include "core/open/open.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

std::multiset<std::string> names_of(const Graph& graph, const kernels::Kernel& kernel) {
  std::multiset<std::string> names;
  for (const NodeId id : kernel.nodes) names.emplace(graph.name(id));
  return names;
}

TEST(CompiledPart, OfAPairIsThatOfTheHalfAlone) {
  const Graph pair = must(open_graph(
      {.path = source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")}));
  for (const PartId half : {kForwardPart, kBackwardPart}) {
    const Graph alone = must(half_graph(pair, half));
    const CompiledPart in_pair = compile_part(pair, half),
                       by_itself = compile_part(alone, PartId(0));
    EXPECT_EQ(in_pair.torch, by_itself.torch);
    EXPECT_EQ(in_pair.scheduled.peak, by_itself.scheduled.peak);
    ASSERT_EQ(in_pair.scheduled.kernels.size(), by_itself.scheduled.kernels.size());
    for (std::size_t i = 0; i < in_pair.scheduled.kernels.size(); ++i) {
      const kernels::Kernel &a = in_pair.scheduled.kernels[i], &b = by_itself.scheduled.kernels[i];
      EXPECT_EQ(a.kind, b.kind);
      EXPECT_EQ(a.bytes, b.bytes);
      EXPECT_EQ(names_of(pair, a), names_of(alone, b));
      for (const NodeId id : a.nodes) EXPECT_EQ(pair.node(id).part, half);
    }
  }
}

}  // namespace
}  // namespace jointer::test

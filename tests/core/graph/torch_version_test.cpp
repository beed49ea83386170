#include "core/graph/torch_version.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

TEST(TorchVersion, DefaultsToTheNewest) {
  Graph graph = parse("x: f32[4] = input\ny: f32[4] = aten.neg(x)\nreturn [y]");
  EXPECT_EQ(torch_version_of(graph), kNewestTorch);
  graph.part(PartId(0)).torch_version = "2.12.1+cpu";
  EXPECT_EQ(torch_version_of(graph), (TorchVersion{2, 12}));
  EXPECT_TRUE(is_of_torch(graph.part(PartId(0)), 2, 12));
  EXPECT_FALSE(is_of_torch(graph.part(PartId(0)), 2, 13));
}

}  // namespace
}  // namespace jointer::test

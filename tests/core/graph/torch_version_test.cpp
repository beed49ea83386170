#include "core/graph/torch_version.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

TEST(TorchVersion, OfATextThatTorchGives) {
  EXPECT_EQ(parse_torch_version("2.11.0"), (TorchVersion{2, 11}));
  EXPECT_EQ(parse_torch_version("2.15.0+cu132"), (TorchVersion{2, 15}));
  EXPECT_EQ(parse_torch_version("2.16.0.dev20260914+cpu"), (TorchVersion{2, 16}));
  for (const std::string_view text : {"", "2", "2.", "two.1", ".5", "nightly"})
    EXPECT_FALSE(parse_torch_version(text)) << text;
}

TEST(TorchVersion, MinorVersionsAreNumbers) {
  EXPECT_LT((TorchVersion{2, 9}), (TorchVersion{2, 11}));
  EXPECT_GT((TorchVersion{3, 0}), kNewestTorch);
}

TEST(TorchVersion, AGraphThatDoesNotSayIsOfTheNewest) {
  Graph graph = parse("x: f32[4] = input\ny: f32[4] = aten.neg(x)\nreturn [y]");
  EXPECT_EQ(torch_version_of(graph), kNewestTorch);
  graph.part(PartId(0)).torch_version = "2.12.1+cpu";
  EXPECT_EQ(torch_version_of(graph), (TorchVersion{2, 12}));
  EXPECT_TRUE(is_of_torch(graph.part(PartId(0)), 2, 12));
  EXPECT_FALSE(is_of_torch(graph.part(PartId(0)), 2, 13));
}

}  // namespace
}  // namespace jointer::test

#include "core/capture/subgraph_constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jointer {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(SubgraphConstants, AreConstantsWithThatMember) {
  EXPECT_THAT(subgraph_constants(R"({
    "table": {"t": {"shape": [2], "subgraph": {}}},
    "score": {"subgraph": {"nodes": [{"name": "subgraph"}], "constants": {"inner": {}}}},
    "scale": 2, "name": "subgraph", "list": [{"subgraph": {}}],
    "mask\n": {"kind": null, "subgraph": {}}
  })"),
              UnorderedElementsAre("score", "mask\n"));
}

TEST(SubgraphConstants, AreNoneWithoutAnObject) {
  for (const std::string_view text : {"", "null", "[]", "{", "{\"a\": {\"subgraph\"", "7"})
    EXPECT_THAT(subgraph_constants(text), IsEmpty()) << text;
}

}  // namespace
}  // namespace jointer

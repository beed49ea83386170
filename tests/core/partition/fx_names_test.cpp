#include "core/partition/fx_names.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

TEST(FxNames, ContinueTheNumbersOfTheGraph) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    view: f32[4] = aten.relu(x)
    view_7: f32[4] = aten.relu(x)
    view_3: f32[4] = aten.relu(x)
    return [view]
  )");
  FxNames names = names_of(graph, PartId(0));
  EXPECT_EQ(names.create("view"), "view_4");
  EXPECT_EQ(names.create("view"), "view_5");
  EXPECT_EQ(names.create("view_7"), "view_6");
  EXPECT_EQ(names.create("view"), "view_8");
  EXPECT_EQ(names.create("view_20"), "view_20");
  EXPECT_EQ(names.create("view_3_chunk0"), "view_3_chunk0");
  EXPECT_EQ(fx_call_name("aten.sum.dim_IntList"), "sum_dim_int_list");
  EXPECT_EQ(fx_call_name("_operator.floordiv"), "floordiv");
  EXPECT_EQ(names.create(fx_call_name("_operator.pow")), "pow_1");
}

TEST(FxNames, AvoidKeywordsAndBuiltins) {
  FxNames names;
  for (const char* name : {"sum", "slice", "lambda", "id", "True", "device", "inf", "__import__"})
    EXPECT_EQ(names.create(name), std::string(name) + "_1");
  for (const char* name : {"None", "sums", "relu", "match", "sum_7", "_3"})
    EXPECT_EQ(names.create(name), name);
  EXPECT_EQ(names.create("_3"), "_3_1");
  // A node that the graph already has keeps its name.
  const Graph graph = parse("x: f32[4] = input\nsum: f32[] = aten.sum(x)\nreturn [sum]");
  EXPECT_EQ(names_of(graph, PartId(0)).create("sum"), "sum_1");
  EXPECT_EQ(names_of(graph, PartId(0)).create("sum_1"), "sum_1");
}

// Before torch 2.13, FX numbers a name that is taken from 1, by the whole name.
TEST(FxNames, OlderTorchCountsFromOne) {
  FxNames older({.major = 2, .minor = 11}), newer({.major = 2, .minor = 15});
  for (FxNames* names : {&older, &newer}) EXPECT_EQ(names->create("mm_7"), "mm_7");
  EXPECT_EQ(older.create("mm_7"), "mm_1");
  EXPECT_EQ(newer.create("mm_7"), "mm_8");
}

}  // namespace
}  // namespace jointer::test

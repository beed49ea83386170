#include "core/graph/constant_tables.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/capture/native_writer.h"
#include "core/edit/edit.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

std::int64_t storage_of_b(const OrderedJson& document) {
  for (const OrderedJson& node : document["nodes"])
    if (node["name"] == "b") return node["val"]["t"]["storage"].get<std::int64_t>();
  return -1;
}

TEST(ConstantTables, FollowRenumberedTables) {
  Graph graph = parse(R"(
    x: f32[4] = input
    d: f32[4] = aten.sin(x)
    b: f32[4] = aten.relu(x)
    return [b]
  )");
  const std::size_t b = graph.tensors(graph.find("b")).front().storage.index();
  ASSERT_GT(b, graph.tensors(graph.find("d")).front().storage.index());
  graph.part(PartId(0)).constants =
      fmt::format(R"({{"t":{{"storage":{0}}},"g":{{"subgraph":{{"nodes":[)"
                  R"({{"name":"n","val":{{"list":[{{"t":{{"shape":[],"storage":{0}}}}}]}}}}],)"
                  R"("constants":{{"u":{{"storage":{0}}}}}}}}}}})",
                  b);
  const std::string before = write_native(graph);
  const auto inverse = apply(graph, Edit{.title = "", .changes = {RemoveNode{.node = "d"}}});
  ASSERT_TRUE(inverse) << inverse.error().message;
  const auto document = parse_json(write_native(graph), "capture");
  ASSERT_TRUE(document);
  const std::int64_t now = storage_of_b(*document);
  EXPECT_LT(now, static_cast<std::int64_t>(b));
  const OrderedJson& constants = (*document)["constants"];
  EXPECT_EQ(constants["t"]["storage"], now);
  const OrderedJson& subgraph = constants["g"]["subgraph"];
  EXPECT_EQ(subgraph["constants"]["u"]["storage"], now);
  EXPECT_EQ(subgraph["nodes"][0]["val"]["list"][0]["t"]["storage"], now);
  ASSERT_TRUE(apply(graph, *inverse));
  EXPECT_EQ(write_native(graph), before);
}

}  // namespace
}  // namespace jointer::test

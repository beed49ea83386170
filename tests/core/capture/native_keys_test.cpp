// The keys that captures of newer torch and torchtitan versions add: operator schemas, symbols of
// floats, calls without an autograd sequence number, documents of pipeline stages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/capture/native_reader.h"
#include "core/capture/native_stages.h"
#include "core/capture/native_writer.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json document_of(const char* text) {
  return Json::parse(write_native(parse(text)));
}

Json& node_in(Json& document, std::string_view name) {
  for (Json& node : document["nodes"])
    if (node["name"] == name) return node;
  throw std::runtime_error("there is no node " + std::string(name));
}

Graph read_document(const Json& document) {
  auto graph = read_native("test", PaddedBytes(document.dump()));
  if (!graph) throw std::runtime_error(graph.error().message);
  return *std::move(graph);
}

constexpr const char* kSmall = R"(
  x: f32[8] = input
  y: f32[8] = mine.scale_.default(x, 2.0)
  z: f32[8] = aten.relu(x)
  return [y, z]
)";

TEST(NativeKeys, SchemasDescribeOperators) {
  Json document = document_of(kSmall);
  EXPECT_THAT(read_document(document).facts().back().text, HasSubstr("without a schema"));
  document["schemas"] = {{"mine.scale_.default", "(Tensor(a!) self, float by) -> Tensor(a!)"}};
  const Graph graph = read_document(document);
  const OperatorInfo& op = graph.op(node(graph, "y"));
  EXPECT_TRUE(op.mutates);
  ASSERT_EQ(op.arguments.size(), 2U);
  EXPECT_EQ(op.arguments[1].name, "by");
  for (const Fact& fact : graph.facts()) EXPECT_THAT(fact.text, Not(HasSubstr("without a schema")));
  EXPECT_EQ(Json::parse(write_native(graph))["schemas"], document["schemas"]);
  // At any position in the document.
  Json rest = document;
  rest.erase("schemas");
  const std::string text = rest.dump();
  const std::string schemas =
      Json{{"schemas", {{"mine.scale_.default", "(Tensor(a!) self) -> ()"}}}}.dump();
  const auto late =
      read_native("late", PaddedBytes(text.substr(0, text.size() - 1) + "," + schemas.substr(1)));
  ASSERT_TRUE(late.has_value()) << late.error().message;
  EXPECT_TRUE(late->op(node(*late, "y")).mutates);
  document["schemas"] = 3;
  EXPECT_FALSE(read_native("test", PaddedBytes(document.dump())).has_value());
}

// In an edit, null removes the annotations, so a node cannot have null as its annotations.
TEST(NativeKeys, AnnotationsMayBeNull) {
  Json document = document_of(kSmall);
  const Json without = document;
  node_in(document, "z")["custom"] = nullptr;
  EXPECT_EQ(Json::parse(write_native(read_document(document))), without);
}

TEST(NativeKeys, UnknownMembersAreKept) {
  Json document = document_of(kSmall);
  document["added"] = {{"by", "a tool"}};
  document["forward"] = {1, 2};
  document["backward"] = nullptr;
  EXPECT_EQ(Json::parse(write_native(read_document(document))), document);
  // Also those of a pair, before its kind, even if a single capture has such members.
  const Json pair = {{"added", {{"by", "a tool"}}},
                     {"groups", {{"tp", {{"ranks", {0, 1}}}}}},
                     {"info", {{"model", "small"}}},
                     {"format", "jointer-capture"},
                     {"version", 1},
                     {"kind", "pair"},
                     {"name", "both"},
                     {"forward", document_of("kind forward\nx: f32[8] = input\nreturn [x]")},
                     {"backward", document_of("kind backward\ndy: f32[8] = tangent\nreturn [dy]")}};
  EXPECT_EQ(Json::parse(write_native(read_document(pair))), pair);
}

TEST(NativeKeys, TheSequenceNumberIsOptional) {
  Json document = document_of(kSmall);
  node_in(document, "y")["seq_nr"] = 18446744073709551615ULL;
  node_in(document, "z")["seq_nr"] = 7;
  const Graph graph = read_document(document);
  EXPECT_FALSE(node(graph, "y").has(Node::has_seq_nr));
  EXPECT_EQ(node(graph, "z").seq_nr, 7);
  for (const Json& bad : {Json(1.5), Json("3"), Json(true)}) {
    node_in(document, "z")["seq_nr"] = bad;
    EXPECT_FALSE(read_native("test", PaddedBytes(document.dump())).has_value()) << bad;
  }
}

TEST(NativeKeys, SymbolsOfFloatsAreNotSizes) {
  Json document = document_of(R"(
    x: f32[s0] = input
    y: f32[s0] = aten.add.Scalar(x, 1)
    return [y]
  )");
  document["symbols"] = Json::parse(
      R"({"vars":{"s0":{"min":2,"max":"int_oo","hint":8},
                  "zf16":{"min":-1e308,"max":1e308,"hint":1e-05},
                  "eps":{"type":"float","hint":2,"min":null,"max":null}},
          "replacements":{"zf16":"1e-05"},"deferred_asserts":{}})");
  node_in(document, "y")["args"][1] = {{"symint", "2*zf16"}};
  node_in(document, "x")["val"] = {{"list",
                                    {node_in(document, "x")["val"],
                                     {{"symint", "zf16"}, {"hint", 1e-05}},
                                     {{"symfloat", "eps"}, {"hint", 0.5}}}}};
  const Graph graph = read_document(document);
  ASSERT_EQ(graph.symbols().size(), 1U);
  EXPECT_EQ(graph.symbols().front().name, "s0");
  EXPECT_EQ(graph.args(node(graph, "y"))[1].kind, Argument::Kind::raw);
  Json written = Json::parse(write_native(graph));
  EXPECT_EQ(node_in(written, "y")["args"][1], (Json{{"symfloat", "2*zf16"}}));
  EXPECT_EQ(node_in(written, "x")["val"]["list"][1], (Json{{"symfloat", "zf16"}, {"hint", 1e-05}}));
  EXPECT_EQ(node_in(written, "x")["val"]["list"][2], (Json{{"symfloat", "eps"}, {"hint", 0.5}}));
  EXPECT_EQ(written["symbols"], document["symbols"]);
}

TEST(NativeKeys, AProcessGroupMayBeAValue) {
  Json document = document_of(R"(
    group tp: 0 1 2 3
    mesh: f32[4] = input
    x: f32[4] = input
    a: f32[4] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    w: f32[4] = _c10d_functional.wait_tensor(a)
    b: f32[4] = _c10d_functional.all_reduce(w, 'sum', 'tp')
    v: f32[4] = _c10d_functional.wait_tensor(b)
    return [v]
  )");
  const Json group = {{"opaque", "ProcessGroup"}, {"repr", "tp"}};
  node_in(document, "mesh")["val"] = group;
  node_in(document, "a")["args"][2] = {{"n", "mesh"}};
  node_in(document, "b")["args"][2] = group;
  const Graph graph = read_document(document);
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(node(graph, name).group) << name;
    EXPECT_EQ(graph.group_size(node(graph, name)), 4) << name;
  }
  node_in(document, "mesh")["val"] = {{"opaque", "DeviceMesh"}, {"repr", "tp"}};
  EXPECT_FALSE(node(read_document(document), "a").group);
}

TEST(NativeKeys, TheTwinOfAGroupHasItsRanks) {
  const Graph graph = parse(R"(
    group dp: 0 2 4 6
    group dp_mesh: 1 3
    x: f32[4] = input
    a: f32[16] = _c10d_functional.all_gather_into_tensor(x, 4, 'dp')
    b: f32[16] = _c10d_functional.all_gather_into_tensor(x, 4, 'dp_mesh_extra')
    c: f32[8] = _c10d_functional.all_gather_into_tensor(x, 2, 'dp_mesh_extra_2')
    d: f32[8] = _c10d_functional.all_gather_into_tensor(x, 2, 'dpx_extra')
    return [a, b, c, d]
  )");
  const auto ranks = [&](std::string_view name) {
    return graph.group(node(graph, name).group).ranks;
  };
  EXPECT_THAT(ranks("b"), testing::ElementsAre(0, 2, 4, 6));  // from dp: dp_mesh has two ranks
  EXPECT_THAT(ranks("c"), testing::ElementsAre(1, 3));
  EXPECT_THAT(ranks("d"), testing::ElementsAre(0, 1));  // named after no other group
}

TEST(NativeKeys, StagesAreGraphsOfOneDocument) {
  const Json capture = document_of(kSmall);
  Json document = {{"format", "jointer-capture"},
                   {"version", 1},
                   {"kind", "stages"},
                   {"name", "stage 0"},
                   {"stages",
                    {{{"name", "fw"}, {"role", "forward"}, {"capture", capture}},
                     {{"role", "backward_weight"}, {"capture", capture}}}}};
  const auto stages_of = [](const Json& json) {
    const PaddedBytes bytes(json.dump());
    auto stages = find_stages("file", bytes.view());
    std::vector<std::string> names;
    if (stages && *stages)
      for (const StageText& stage : **stages) {
        names.push_back(stage.name + "/" + stage.role);
        EXPECT_EQ(Json::parse(stage.capture)["nodes"].size(), 4U);
      }
    return stages ? names : std::vector{stages.error().message};
  };
  EXPECT_THAT(stages_of(document),
              testing::ElementsAre("fw/forward", "backward_weight/backward_weight"));
  EXPECT_THAT(stages_of(capture), testing::IsEmpty());
  document["stages"][1]["role"] = "sideways";
  EXPECT_THAT(stages_of(document).front(), HasSubstr("stage 1 has the role `sideways`"));
  document["stages"][1] = {{"role", "forward"}};
  EXPECT_THAT(stages_of(document).front(), HasSubstr("stage 1: `capture` is missing"));
  document["stages"] = Json::array();
  EXPECT_THAT(stages_of(document).front(), HasSubstr("no stage"));
}

}  // namespace
}  // namespace jointer::test

// Captures whose storage numbers contradict the operators.

#include "core/graph/storage_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/schedule/memory_timeline.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// A graph whose capture gives the tensors of `renumbered` the storages of other nodes.
Graph with_storages(const char* text,
                    const std::vector<std::pair<const char*, const char*>>& same) {
  Json document = Json::parse(write_native(parse(text)));
  const auto find = [&](std::string_view name) -> Json& {
    for (Json& node : document["nodes"])
      if (node["name"] == name) return node["val"]["t"];
    throw std::runtime_error("there is no node " + std::string(name));
  };
  for (const auto& [node, other] : same) find(node)["storage"] = find(other)["storage"];
  auto graph = read_native("test", PaddedBytes(document.dump()));
  if (!graph) throw std::runtime_error(graph.error().message);
  return *std::move(graph);
}

std::vector<std::string> facts(const Graph& graph) {
  std::vector<std::string> texts;
  for (const Fact& fact : graph.facts()) texts.push_back(fact.text);
  return texts;
}

// `a` and its dependents are needed again at the end, and recomputed for that.
constexpr const char* kStep = R"(
  kind train_step
  device cpu
  x: f32[1024] = input
  a: f32[1024] = aten.relu(x)
  v: f32[32,32] = aten.view(a, [32, 32])
  b: f32[32,32] = aten.exp(v)
  c: f32[32,32] = aten.sin(b)
  d: f32[32,32] = aten.sin(c)
  e: f32[32,32] = aten.sin(d)
  a_recomputed: f32[1024] = aten.relu(x)  {backward}
  v_recomputed: f32[32,32] = aten.view(a_recomputed, [32, 32])  {backward}
  g: f32[32,32] = aten.mul.Tensor(e, v_recomputed)  {backward}
  return [g]
)";

TEST(StorageRules, ARecomputedCallHasItsOwnMemory) {
  const Graph plain = parse(kStep);
  const Graph graph = with_storages(kStep, {{"a_recomputed", "a"}, {"v_recomputed", "v"}});
  EXPECT_NE(storage_of(graph, "a_recomputed"), storage_of(graph, "a"));
  EXPECT_EQ(storage_of(graph, "v_recomputed"), storage_of(graph, "a_recomputed"));
  EXPECT_EQ(storage_of(graph, "v"), storage_of(graph, "a"));
  EXPECT_THAT(facts(graph), testing::Contains(HasSubstr("a_recomputed")));

  const MemoryOptions runtime;
  EXPECT_EQ(MemoryTimeline(graph, runtime).peak_bytes(),
            MemoryTimeline(plain, runtime).peak_bytes());
  EXPECT_EQ(graph.captured_storage(graph.tensors(graph.find("a_recomputed")).front()),
            graph.tensors(graph.find("a")).front().storage)
      << "torch's profile uses the numbers in the file";
}

TEST(StorageRules, PossibleStoragesAreKept) {
  const char* text = R"(
    x: f32[1024] = input
    a: f32[1024] = aten.relu(x)
    added: f32[1024] = aten.add_.Tensor(a, x)
    kept: f32[1024] = aten.contiguous(added)
    split: (f32[512], f32[512]) = aten.split.Tensor(kept, 512)
    half: f32[512] = split[1]
    return [half]
  )";
  const Graph graph = parse(text);
  for (const char* name : {"added", "kept", "half"})
    EXPECT_EQ(storage_of(graph, name), storage_of(graph, "a")) << name;
  const auto again = read_native("again", PaddedBytes(write_native(graph)));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(facts(*again), facts(graph));
  EXPECT_EQ(again->storage_count(), graph.storage_count());
}

TEST(StorageRules, AViewFollowsAProducerThatAPassReplaced) {
  // The value of `v` still describes a view of `old`, which the pass that inserted `bucket` left.
  const Graph graph = with_storages(R"(
    x: f32[1024] = input
    old: f32[1024] = aten.relu(x)
    bucket: f32[1024] = aten.exp(old)
    v: f32[32,32] = aten.view(bucket, [32, 32])
    return [v]
  )",
                                    {{"v", "old"}});
  EXPECT_EQ(storage_of(graph, "v"), storage_of(graph, "bucket"));
  EXPECT_THAT(facts(graph), testing::Contains(HasSubstr("v aliases an argument")));
}

TEST(StorageRules, CopiesOfACallKeepItsTwoResultsSeparate) {
  const Graph graph = with_storages(R"(
    x: f32[64] = input
    a: f32[64] = aten.relu(x)
    b: f32[64] = aten.exp(x)
    again: f32[64] = aten.relu(x)
    third: f32[64] = aten.relu(x)
    r: f32[64] = aten.add.Tensor(again, third)
    return [r, a, b]
  )",
                                    {{"again", "a"}, {"third", "a"}});
  EXPECT_NE(storage_of(graph, "again"), storage_of(graph, "a"));
  EXPECT_NE(storage_of(graph, "third"), storage_of(graph, "a"));
  EXPECT_NE(storage_of(graph, "third"), storage_of(graph, "again"));
  EXPECT_THAT(facts(graph), testing::Contains(HasSubstr("2 tensors, first again")));
}

TEST(StorageRules, OnlyViewsReturnAnInputsMemory) {
  const Graph graph = with_storages(R"(
    x: f32[64,64] = input
    part: f32[64] = aten.select.int(x, 0, 0)
    copied: f32[64] = aten.relu(part)
    return [copied]
  )",
                                    {{"copied", "x"}});
  EXPECT_EQ(storage_of(graph, "part"), storage_of(graph, "x"));
  ASSERT_NE(storage_of(graph, "copied"), storage_of(graph, "x"));
  EXPECT_EQ(graph.storage(storage_of(graph, "copied")).bytes.value, 256)
      << "its own size, not the input's";
}

}  // namespace
}  // namespace jointer::test

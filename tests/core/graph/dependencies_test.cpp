#include "core/graph/dependencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/capture/native_reader.h"
#include "tests/support/graphs.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

// Returns the dependencies of a node: "data x", "write v", ...
std::vector<std::string> before(const Graph& graph, std::string_view name) {
  const Dependencies dependencies(graph);
  std::vector<std::string> found;
  for (const Dependency& d : dependencies.before(graph.find(name))) {
    const std::string_view kind = d.kind == DependencyKind::data    ? "data"
                                  : d.kind == DependencyKind::write ? "write"
                                                                    : "control";
    found.push_back(fmt::format("{} {}", kind, graph.name(d.node)));
  }
  return found;
}

TEST(Dependencies, FollowData) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    b: f32[4] = aten.mul.Tensor(a, a)
    return [b]
  )");
  EXPECT_THAT(before(graph, "a"), ElementsAre("data x"));
  EXPECT_THAT(before(graph, "b"), ElementsAre("data a"));
  EXPECT_THAT(before(graph, "output"), ElementsAre("data b"));
}

TEST(Dependencies, AWriteKeepsItsOrderWithReadersOfViews) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    view: f32[4] = aten.view(a, [4])
    early: f32[4] = aten.relu(view)
    write: f32[4] = aten.add_.Tensor(a, x)
    late: f32[4] = aten.relu(view)
    again: f32[4] = aten.mul_.Tensor(view, x)
    return [early, late]
  )");
  EXPECT_THAT(before(graph, "early"), ElementsAre("data view"));
  EXPECT_THAT(before(graph, "write"), UnorderedElementsAre("data a", "data x", "write early"));
  EXPECT_THAT(before(graph, "late"), UnorderedElementsAre("data view", "write write"));
  EXPECT_THAT(before(graph, "again"),
              UnorderedElementsAre("data view", "data x", "write late", "write write"));
}

TEST(Dependencies, AnUnwrittenStorageOrdersNothing) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.view(x, [4])
    b: f32[4] = aten.relu(x)
    return [a, b]
  )");
  EXPECT_THAT(before(graph, "b"), ElementsAre("data x"));
}

TEST(Dependencies, AWaitReturnsItsCollectivesBuffer) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[4] = input
    start: f32[4] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    wait: f32[4] = _c10d_functional.wait_tensor(start)
    other: f32[4] = _c10d_functional.wait_tensor(start)
    write: f32[4] = aten.add_.Tensor(wait, x)
    late: f32[4] = aten.relu(other)
    return [late]
  )");
  EXPECT_THAT(before(graph, "write"), Contains("write other"));
  EXPECT_THAT(before(graph, "late"), UnorderedElementsAre("data other", "write write"));
}

TEST(Dependencies, ACollectiveReadsItsInputUntilItsWait) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    start: f32[4] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    wait: f32[4] = _c10d_functional.wait_tensor(start)
    write: f32[4] = aten.add_.Tensor(a, x)
    return [wait, write]
  )");
  EXPECT_THAT(before(graph, "write"), Contains("write wait"));
}

TEST(Dependencies, ACollectiveInPlaceWritesUntilItsWait) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    view: f32[4] = aten.view(a, [4])
    start: f32[4] = _c10d_functional.all_reduce_(a, 'sum', 'tp')
    wait: f32[4] = _c10d_functional.wait_tensor(start)
    late: f32[4] = aten.relu(view)
    return [wait, late]
  )");
  EXPECT_THAT(before(graph, "late"), UnorderedElementsAre("data view", "write wait"));
}

TEST(Dependencies, RandomCallsKeepTheirOrder) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.rand_like(x)
    b: f32[4] = aten.relu(x)
    c: (f32[4], b8[4]) = aten.native_dropout(x, 0.5, True)
    return [a, b]
  )");
  EXPECT_THAT(before(graph, "b"), ElementsAre("data x"));
  EXPECT_THAT(before(graph, "c"), ElementsAre("data x", "control a"));
}

TEST(Dependencies, CallsWithSideEffectsKeepTheirOrder) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    print: none = aten._print('a')
    b: f32[4] = aten.relu(x)
    warn: none = aten.warn('b')
    check: none = aten._assert_async(x)
    return [b]
  )");
  EXPECT_THAT(before(graph, "print"), IsEmpty());
  EXPECT_THAT(before(graph, "b"), ElementsAre("data x"));
  EXPECT_THAT(before(graph, "warn"), ElementsAre("control print"));
  // It checks no size that an expression could name, so it counts as a side effect.
  EXPECT_THAT(before(graph, "check"), ElementsAre("data x", "control warn"));
}

TEST(Dependencies, NothingMovesOverAnOperatorOnStreams) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    event: none = streams.record_event(1, 2)
    b: f32[4] = aten.relu(x)
    return [a, b]
  )");
  EXPECT_THAT(before(graph, "event"), ElementsAre("control a"));
  EXPECT_THAT(before(graph, "b"), ElementsAre("data x", "control event"));
}

TEST(Dependencies, ASizeIsComputedBeforeItsUse) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    found: i64[u0,1] = aten.nonzero(x)
    other: i64[u1,1] = aten.nonzero(x)
    made: f32[u0] = aten.ones([4])
    used: f32[u0] = aten.relu(made)
    return [used]
  )");
  EXPECT_THAT(before(graph, "other"), ElementsAre("data x"));
  EXPECT_THAT(before(graph, "made"), ElementsAre("control found"));
  // The value that it reads already has that size.
  EXPECT_THAT(before(graph, "used"), ElementsAre("data made"));
}

Graph read_nodes(std::string_view nodes) {
  const PaddedBytes bytes(
      fmt::format(R"({{"format":"jointer-capture","version":1,"kind":"joint","storages":[16,16,16],
        "symbols":{{"vars":{{"u0":{{"min":null,"max":null,"hint":null}}}}}},"nodes":[{}]}})",
                  nodes));
  auto graph = read_native("test.json", bytes);
  if (!graph) throw std::runtime_error(graph.error().message);
  return *std::move(graph);
}

std::string tensor(std::string_view size, int storage) {
  return fmt::format(
      R"({{"t":{{"shape":[{}],"dtype":"float32","device":"cpu","stride":[1],"offset":0,"storage":{}}}}})",
      size, storage);
}

TEST(Dependencies, SizesAreUsedAfterTheirCheck) {
  const Graph graph =
      read_nodes(R"({"name":"x","op":"placeholder","target":"x","val":)" + tensor("4", 0) + R"(},
      {"name":"item","op":"call_function","target":"aten._local_scalar_dense.default",
       "args":[{"n":"x"}],"val":{"symint":"u0","hint":null}},
      {"name":"before","op":"call_function","target":"aten.ones.default","args":[[{"n":"item"}]],
       "val":)" + tensor(R"({"sym":"u0"})", 1) +
                 R"(},
      {"name":"ge","op":"call_function","target":"_operator.ge","args":[{"n":"item"},0],
       "val":{"symint":"u0 >= 0","hint":null}},
      {"name":"check","op":"call_function","target":"aten._assert_scalar.default",
       "args":[{"n":"ge"},"u0 >= 0"]},
      {"name":"after","op":"call_function","target":"aten.ones.default","args":[[{"n":"item"}]],
       "val":)" + tensor(R"({"sym":"u0"})", 2) +
                 R"(},
      {"name":"apart","op":"call_function","target":"aten.relu.default","args":[{"n":"x"}],
       "val":)" + tensor("4", 0) +
                 R"(},
      {"name":"output","op":"output","target":"output","args":[[{"n":"before"},{"n":"after"}]]})");
  EXPECT_THAT(before(graph, "before"), ElementsAre("data item"));
  EXPECT_THAT(before(graph, "check"), ElementsAre("data ge"));
  EXPECT_THAT(before(graph, "after"), ElementsAre("data item", "control check"));
  EXPECT_THAT(before(graph, "apart"), ElementsAre("data x"));
}

TEST(Dependencies, ACustomOperatorWritesAsTheCaptureStates) {
  const auto graph = [](std::string_view alias) {
    return read_nodes(R"({"name":"x","op":"placeholder","target":"x","val":)" + tensor("4", 0) +
                      R"(},
      {"name":"read","op":"call_function","target":"aten.relu.default","args":[{"n":"x"}],
       "val":)" + tensor("4", 1) +
                      R"(},
      {"name":"custom","op":"call_function","target":"mine.fill.default","args":[{"n":"x"}],
       "schema_alias":)" +
                      std::string(alias) + R"(,"val":)" + tensor("4", 2) + R"(},
      {"name":"output","op":"output","target":"output","args":[[{"n":"read"}]]})");
  };
  EXPECT_THAT(before(graph("[[0,true]]"), "custom"), ElementsAre("data x", "write read"));
  EXPECT_THAT(before(graph("[[0,false]]"), "custom"), ElementsAre("data x"));
}

TEST(Dependencies, ATritonKernelThatMutatesWritesToItsArguments) {
  const auto graph = [](std::string_view target) {
    return read_nodes(R"({"name":"x","op":"placeholder","target":"x","val":)" + tensor("4", 0) +
                      R"(},
      {"name":"read","op":"call_function","target":"aten.relu.default","args":[{"n":"x"}],
       "val":)" + tensor("4", 1) +
                      R"(},
      {"name":"triton","op":"call_function","target":")" +
                      std::string(target) + R"(","args":[],
       "kwargs":{"kernel_idx":0,"kwargs":{"dict":{"out_ptr":{"n":"x"}}}}},
      {"name":"output","op":"output","target":"output","args":[[{"n":"read"}]]})");
  };
  EXPECT_THAT(before(graph("triton_kernel_wrapper_mutation"), "triton"),
              ElementsAre("data x", "write read"));
  EXPECT_THAT(before(graph("triton_kernel_wrapper_functional"), "triton"), ElementsAre("data x"));
}

TEST(Dependencies, AnInPlaceNameMeansAWriteWithoutASchema) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    b: f32[4] = aten.relu(a)
    resize: none = inductor.resize_storage_bytes_(a, 0)
    return [b]
  )");
  EXPECT_THAT(before(graph, "resize"), ElementsAre("data a", "write b"));
}

TEST(Dependencies, ThereAreNoneBetweenHalvesOfAPair) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Graph graph = random_graph(seed, {.calls = 60, .pair = true});
    const Dependencies dependencies(graph);
    for (const NodeId id : graph.order())
      for (const Dependency& d : dependencies.before(id))
        ASSERT_EQ(graph.node(d.node).part, graph.node(id).part);
  }
}

TEST(Dependencies, WallsArePlaceholdersAndOutputs) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    t: f32[4] = tangent
    b: f32[4] = aten.mul.Tensor(a, t)
    return [b]
  )");
  const Dependencies dependencies(graph);
  EXPECT_EQ(dependencies.wall_before(graph.find("a")), graph.find("x"));
  EXPECT_EQ(dependencies.wall_after(graph.find("a")), graph.find("t"));
  EXPECT_EQ(dependencies.wall_before(graph.find("b")), graph.find("t"));
  EXPECT_EQ(dependencies.wall_after(graph.find("b")), graph.find("output"));
  EXPECT_FALSE(dependencies.wall_before(graph.find("x")));
}

RC_GTEST_PROP(DependenciesProperty, AreInProgramOrderOnceAndSeenFromBothSides,
              (std::uint64_t seed, bool pair)) {
  const Graph graph = random_graph(seed, {.calls = 60, .pair = pair});
  const Dependencies dependencies(graph);
  std::size_t before = 0, after = 0;
  for (const NodeId id : graph.order()) {
    std::vector<NodeId> seen;
    for (const Dependency& d : dependencies.before(id)) {
      RC_ASSERT(graph.position(d.node) < graph.position(id));
      RC_ASSERT(std::find(seen.begin(), seen.end(), d.node) == seen.end());
      seen.push_back(d.node);
      const auto back = dependencies.after(d.node);
      RC_ASSERT(std::any_of(back.begin(), back.end(), [&](const Dependency& other) {
        return other.node == id && other.kind == d.kind;
      }));
    }
    for (const NodeId input : graph.inputs(id))
      RC_ASSERT(std::find(seen.begin(), seen.end(), input) != seen.end());
    before += dependencies.before(id).size();
    after += dependencies.after(id).size();
  }
  RC_ASSERT(before == after);
}

}  // namespace
}  // namespace jointer::test

// Dead-code elimination and common-subexpression elimination.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/validate.h"
#include "core/partition/common_subexpressions.h"
#include "core/partition/dead_code.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;

TEST(DeadCode, RemovesUnusedCalls) {
  Graph graph = parse(R"(
    group tp: 0 1
    x: f32[4] = input
    unused: f32[4] = input
    dead: f32[4] = aten.relu(x)
    deader: f32[4] = aten.relu(dead)
    dropped: (f32[4], bool[4]) = aten.native_dropout(x, 0.5, True)
    y: f32[4] = aten.neg(x)
    ar: f32[4] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    wt: f32[4] = _c10d_functional.wait_tensor(ar)
    written: f32[4] = aten.add_.Tensor(y, x)
    return [y]
  )");
  eliminate_dead_code(graph);
  ASSERT_TRUE(graph.finish());
  EXPECT_TRUE(validate(graph));
  EXPECT_THAT(calls_of(graph), ElementsAre("y", "ar", "wt", "written"))
      << "waits and writes have effects, random calls have none here";
  EXPECT_TRUE(graph.find("unused")) << "inputs are kept";
}

Graph merged(std::string_view text) {
  Graph graph = parse(text);
  merge_common_subexpressions(graph);
  if (const auto done = graph.finish(); !done) throw std::runtime_error(done.error().message);
  if (const auto sound = validate(graph); !sound) throw std::runtime_error(sound.error().message);
  return graph;
}

std::vector<std::string> merged_by(std::string_view torch, std::string_view text) {
  Graph graph = parse(text);
  graph.part(PartId(0)).torch_version = torch;
  merge_common_subexpressions(graph);
  return calls_of(graph);
}

TEST(CommonSubexpressions, KeepTheFirstOfEqualCalls) {
  const Graph graph = merged(R"(
    x: f32[4] = input
    a: f32[4] = aten.mul.Tensor(x, 2)
    b: f32[4] = aten.mul.Tensor(x, 2)
    c: f32[4] = aten.mul.Tensor(x, 2.0)
    d: f32[4] = aten.mul.Tensor(x, 3)
    e: f32[4] = aten.neg(a)
    f: f32[4] = aten.neg(b)
    g: f32[4] = aten.add.Tensor(e, f)
    h: f32[4] = aten.add.Tensor(c, d)
    out: f32[4] = aten.add.Tensor(g, h)
    return [out]
  )");
  EXPECT_THAT(calls_of(graph), ElementsAre("a", "c", "d", "e", "g", "h", "out"))
      << "2 and 2.0 are different; f reads the duplicate of what e reads";
  EXPECT_THAT(graph.inputs(graph.find("g")), ElementsAre(graph.find("e")));
}

TEST(CommonSubexpressions, NestedArgumentsAndKeywordsCount) {
  const Graph graph = merged(R"(
    x: f32[4] = input
    y: f32[4] = input
    a: f32[8] = aten.cat([x, y])
    b: f32[8] = aten.cat([y, x])
    c: f32[8] = aten.cat([x, y])
    d: f32[8] = aten.cat([x, y], dim=0)
    e: f32[8] = aten.cat((x, y))
    ab: f32[8] = aten.add.Tensor(a, b)
    cd: f32[8] = aten.add.Tensor(c, d)
    all: f32[8] = aten.add.Tensor(ab, cd)
    out: f32[8] = aten.add.Tensor(all, e)
    return [out]
  )");
  EXPECT_THAT(calls_of(graph), ElementsAre("a", "b", "d", "e", "ab", "cd", "all", "out"));
}

TEST(CommonSubexpressions, AreComparedWithOneCallOfTheSameHashAsInTorch) {
  // To Python, -1 and -2 have the same hash.
  const Graph graph = merged(R"(
    x: f32[4,4] = input
    a: f32[4] = aten.sum.dim_IntList(x, [-2])
    b: f32[4] = aten.sum.dim_IntList(x, [-1])
    c: f32[4] = aten.sum.dim_IntList(x, [-1])
    d: f32[4] = aten.sum.dim_IntList(x, [-2])
    e: f32[4] = aten.sum.dim_IntList(x, [1])
    f: f32[4] = aten.sum.dim_IntList(x, [1])
    bc: f32[4] = aten.mul.Tensor(b, c)
    ad: f32[4] = aten.mul.Tensor(a, d)
    ef: f32[4] = aten.mul.Tensor(e, f)
    most: f32[4] = aten.add.Tensor(bc, ad)
    out: f32[4] = aten.sub.Tensor(most, ef)
    return [out]
  )");
  EXPECT_THAT(calls_of(graph), ElementsAre("a", "b", "c", "e", "bc", "ad", "ef", "most", "out"));
}

TEST(CommonSubexpressions, FloatsHadTheHashesOfIntegersBeforeTorch214) {
  constexpr std::string_view kFloats = R"(
    x: f32[4] = input
    a: f32[4] = aten.mul.Tensor(x, -2.0)
    b: f32[4] = aten.mul.Tensor(x, -1.0)
    c: f32[4] = aten.mul.Tensor(x, -1.0)
    bc: f32[4] = aten.mul.Tensor(b, c)
    out: f32[4] = aten.add.Tensor(bc, a)
    return [out]
  )";
  EXPECT_THAT(merged_by("2.13.0", kFloats), ElementsAre("a", "b", "c", "bc", "out"));
  EXPECT_THAT(merged_by("2.14.0", kFloats), ElementsAre("a", "b", "bc", "out"));
}

TEST(CommonSubexpressions, KeepSomeCallsSeparate) {
  const Graph graph = merged(R"(
    x: f32[4] = input
    r1: f32[4] = aten.rand_like(x)
    r2: f32[4] = aten.rand_like(x)
    o1: f32[4] = aten.neg(x)
    o2: f32[4] = aten.neg(x)
    v: f32[4] = aten.view(o2, [4])
    z: f32[4] = aten.neg(x)
    s: f32[4] = aten.add.Tensor(r1, r2)
    t: f32[4] = aten.add.Tensor(s, z)
    return [o1, v, t]
  )");
  EXPECT_THAT(calls_of(graph), ElementsAre("r1", "r2", "o1", "o2", "v", "z", "s", "t"))
      << "random calls, and results of the graph or views of them";
}

TEST(CommonSubexpressions, AreNotSharedAcrossAWrite) {
  const Graph graph = merged(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    b: f32[4] = aten.relu(x)
    w: f32[4] = aten.add_.Tensor(x, a)
    c: f32[4] = aten.relu(x)
    d: f32[4] = aten.relu(x)
    ab: f32[4] = aten.mul.Tensor(a, b)
    cd: f32[4] = aten.mul.Tensor(c, d)
    out: f32[4] = aten.sub.Tensor(ab, cd)
    return [out, w]
  )");
  EXPECT_THAT(calls_of(graph), ElementsAre("a", "w", "c", "ab", "cd", "out"));
}

TEST(CommonSubexpressions, ViewsOfARemovedCallBecomeViewsOfTheKeptOne) {
  const Graph graph = merged(R"(
    x: f32[4,4] = input
    a: f32[4,4] = aten.neg(x)
    b: f32[4,4] = aten.neg(x)
    t: f32[4,4] = aten.t(b)
    u: f32[4,4] = aten.t(t)
    out: f32[4,4] = aten.mm(a, u)
    return [out]
  )");
  EXPECT_THAT(calls_of(graph), ElementsAre("a", "t", "u", "out"));
  EXPECT_EQ(storage_of(graph, "t"), storage_of(graph, "a"));
  EXPECT_EQ(storage_of(graph, "u"), storage_of(graph, "a"));
}

TEST(CommonSubexpressions, AViewOfARemovedCallMayBeKept) {
  // t comes first and is a view of b, which is removed; u is a view of a, which is kept, and is
  // replaced by t.
  const Graph graph = merged(R"(
    x: f32[4,4] = input
    a: f32[4,4] = aten.neg(x)
    b: f32[4,4] = aten.neg(x)
    t: f32[4,4] = aten.t(b)
    u: f32[4,4] = aten.t(a)
    out: f32[4,4] = aten.mm(t, u)
    return [out]
  )");
  EXPECT_THAT(calls_of(graph), ElementsAre("a", "t", "out"));
  EXPECT_EQ(storage_of(graph, "t"), storage_of(graph, "a"));
}

TEST(CommonSubexpressions, AViewOfARemovedWaitBecomesAViewOfTheKeptOne) {
  // The same with waits, whose storage numbers differ from those of their collectives.
  Graph graph = parse(R"(
    group tp: 0 1
    x: f32[4,4] = input
    s: f32[4,4] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    a: f32[4,4] = _c10d_functional.wait_tensor(s)
    b: f32[4,4] = _c10d_functional.wait_tensor(s)
    t: f32[4,4] = aten.t(b)
    u: f32[4,4] = aten.t(a)
    out: f32[4,4] = aten.mm(t, u)
    return [out]
  )");
  const auto number_of = [&](std::string_view name) {
    return graph.tensors(node(graph, name)).front().storage;
  };
  ASSERT_NE(number_of("a"), number_of("s"));
  ASSERT_NE(number_of("a"), number_of("b"));
  graph.part(PartId(0)).torch_version = "2.11.0";  // later versions merge no waits
  merge_common_subexpressions(graph);
  EXPECT_THAT(calls_of(graph), ElementsAre("s", "a", "t", "out"));
  EXPECT_EQ(number_of("t"), number_of("a"));
}

// `b` is only for the backward, `a` is not.
constexpr std::string_view kTwoSides = R"(
  group tp: 0 1
  primals_1: f32[4] = input
  tangents_1: f32[4] = tangent
  s: f32[4] = _c10d_functional.all_reduce(primals_1, 'sum', 'tp')
  v: f32[4] = _c10d_functional.wait_tensor(s)
  w: f32[4] = _c10d_functional.wait_tensor(s)
  vw: f32[4] = aten.mul.Tensor(v, w)
  a: f32[4] = aten.neg(primals_1)
  out: f32[4] = aten.add.Tensor(a, vw)
  b: f32[4] = aten.neg(primals_1)
  c: f32[4] = aten.neg(primals_1)
  d: f32[4] = aten.mul.Tensor(b, c)
  g: f32[4] = aten.mul.Tensor(d, tangents_1)
  return [out, g]
)";

TEST(CommonSubexpressions, ForwardAndBackwardAreSeparateSinceTorch214) {
  for (const char* torch : {"2.11.0", "2.13.0+cu130"})
    EXPECT_THAT(merged_by(torch, kTwoSides), ElementsAre("s", "v", "vw", "a", "out", "d", "g"))
        << torch;
  for (const char* torch : {"2.14.0", "2.15.0+cu132", ""})
    EXPECT_THAT(merged_by(torch, kTwoSides),
                ElementsAre("s", "v", "w", "vw", "a", "out", "b", "d", "g"))
        << torch;
}

TEST(CommonSubexpressions, StreamsAreSeparateSinceTorch214) {
  for (const char* torch : {"2.13.0", "2.14.0"}) {
    Graph graph = parse(R"(
      x: f32[4] = input
      a: f32[4] = aten.neg(x)
      b: f32[4] = aten.neg(x)
      c: f32[4] = aten.neg(x)
      d: f32[4] = aten.neg(x)
      ab: f32[4] = aten.mul.Tensor(a, b)
      cd: f32[4] = aten.mul.Tensor(c, d)
      out: f32[4] = aten.mul.Tensor(ab, cd)
      return [out]
    )");
    graph.part(PartId(0)).torch_version = torch;
    graph.node(graph.find("b")).custom = graph.intern(R"({"stream": 1})");
    graph.node(graph.find("c")).custom = graph.intern(R"({"stream": 0, "note": "default"})");
    graph.node(graph.find("d")).custom = graph.node(graph.find("b")).custom;
    merge_common_subexpressions(graph);
    if (std::string_view(torch) == "2.13.0")
      EXPECT_THAT(calls_of(graph), ElementsAre("a", "ab", "out"));
    else
      EXPECT_THAT(calls_of(graph), ElementsAre("a", "b", "d", "ab", "cd", "out"))
          << "c runs where a does; d is compared with a alone, as in torch";
  }
}

TEST(CommonSubexpressions, WrittenBuffersAreSeparateSinceTorch214) {
  constexpr std::string_view kBuffers = R"(
    x: f32[4] = input
    a: f32[4] = aten.zeros_like(x)
    b: f32[4] = aten.zeros_like(x)
    c: f32[4] = aten.zeros_like(x)
    d: f32[4] = aten.zeros_like(x)
    w: (f32[4], f32[4]) = auto_functionalized_v2('my.fill', _all_bases=[a])
    ab: f32[4] = aten.mul.Tensor(b, c)
    cd: f32[4] = aten.mul.Tensor(ab, d)
    out: f32[4] = aten.add.Tensor(cd, x)
    return [out, w]
  )";
  EXPECT_THAT(merged_by("2.13.0", kBuffers), ElementsAre("a", "w", "ab", "cd", "out"));
  EXPECT_THAT(merged_by("2.14.0", kBuffers), ElementsAre("a", "b", "w", "ab", "cd", "out"));
}

}  // namespace
}  // namespace jointer::test

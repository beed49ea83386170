// Saved values and the reasons for them, on graphs of a few nodes: the semantics of torch's own
// tests of its partitioners (test_aotdispatch.py, TestPartitioning).

#include "core/partition/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "tests/support/graphs.h"
#include "tests/support/joints.h"
#include "tests/support/must.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Partition partitioned(const Graph& graph, const PartitionOptions& options = {}) {
  return must(partition(graph, options));
}

Partition partitioned(std::string_view text, const PartitionOptions& options = {}) {
  return partitioned(parse(text), options);
}

std::vector<std::string> saved(const Partition& done) {
  return names(done.joint, done.plan.saved);
}

PlanReason reason(const Partition& done, std::string_view name) {
  return done.reasons[done.joint.find(name).index()];
}

const PartitionOptions kDefault{.partitioner = Partitioner::default_partition};

constexpr const char* kTwice = R"(
  x: f32[64] = input
  dy: f32[64] = tangent
  y: f32[64] = aten.silu(x)
  z: f32[64] = aten.silu(y)
  gz: f32[64] = aten.silu_backward(dy, y)  {backward}
  gy: f32[64] = aten.silu_backward(gz, x)  {backward}
  return [z, gy]
)";

TEST(MinCut, RecomputesPointwiseCallsFromTheInput) {
  const Partition done = partitioned(kTwice);
  EXPECT_THAT(saved(done), ElementsAre("x"));
  EXPECT_EQ(reason(done, "x").kind, PlanReason::Kind::input);
  EXPECT_EQ(reason(done, "y").kind, PlanReason::Kind::cut);
  EXPECT_EQ(reason(done, "y").node, done.joint.find("x"));
  EXPECT_EQ(reason(done, "z").kind, PlanReason::Kind::none) << "the backward does not need it";
}

// torch inserts such a call for graphs that are compiled once for all ranks.
TEST(MinCut, RecomputesACallThatReturnsADevice) {
  auto document = nlohmann::json::parse(write_native(parse(R"(
    x: f32[64] = input
    dy: f32[64] = tangent
    here: i64[1] = coor.current_device.default()
    y: f32[64] = aten.silu(x)
    gx: f32[64] = mine.fill.default(dy, here)  {backward}
    return [y, gx]
  )")));
  for (auto& node : document["nodes"])
    if (node["name"] == "here") node["val"] = {{"opaque", "device"}, {"repr", "cuda:0"}};
  auto graph = must(read_native("test", PaddedBytes(document.dump())));
  EXPECT_THAT(saved(partitioned(graph)), IsEmpty());
}

TEST(DefaultPartition, SavesWhatTheBackwardReads) {
  const Partition done = partitioned(kTwice, kDefault);
  EXPECT_THAT(saved(done), ElementsAre("x", "y"));
  EXPECT_EQ(reason(done, "y").kind, PlanReason::Kind::read_by_forward);
  EXPECT_THAT(reason(done, "y").text, HasSubstr("gz"));
}

constexpr const char* kSum = R"(
  a: f32[64] = input
  b: f32[64] = input
  c: f32[64] = input
  dy: f32[64] = tangent
  ab: f32[64] = aten.add.Tensor(a, b)
  abc: f32[64] = aten.add.Tensor(ab, c)
  y: f32[64] = aten.silu(abc)
  g: f32[64] = aten.silu_backward(dy, abc)  {backward}
  return [y, g, g, g]
)";

TEST(MinCut, CutsWhereTheFewestBytesPass) {
  const Partition done = partitioned(kSum);
  EXPECT_THAT(saved(done), ElementsAre("abc")) << "one tensor instead of three inputs";
  EXPECT_EQ(reason(done, "abc").kind, PlanReason::Kind::cut);
  EXPECT_THAT(reason(done, "abc").text, HasSubstr("256 B"));
  EXPECT_EQ(reason(done, "ab").kind, PlanReason::Kind::none);
  // One edge to the backward, and every reader fuses: it is never written to memory.
  EXPECT_EQ(done.cut_capacity, 2 * static_cast<std::int64_t>(256 * 1.1));
}

TEST(MinCut, ParametersCostNothing) {
  const Partition done = partitioned(R"(
    a: f32[64] = parameter
    b: f32[64] = parameter
    dy: f32[64] = tangent
    y: f32[64] = aten.mul.Tensor(a, b)
    z: f32[64] = aten.cos(y)
    s: f32[64] = aten.sin(y)  {backward}
    g: f32[64] = aten.mul.Tensor(dy, s)  {backward}
    ga: f32[64] = aten.mul.Tensor(g, b)  {backward}
    gb: f32[64] = aten.mul.Tensor(g, a)  {backward}
    return [z, ga, gb]
  )");
  EXPECT_THAT(saved(done), ElementsAre("a", "b"));
  EXPECT_EQ(done.cut_capacity, 0);
}

constexpr const char* kProduct = R"(
  x: f32[8,8] = input
  w: f32[8,8] = parameter
  dy: f32[8,8] = tangent
  mm: f32[8,8] = aten.mm(x, w)
  y: f32[8,8] = aten.cos(mm)
  out: f32[8,8] = aten.mul.Tensor(y, 2)
  s: f32[8,8] = aten.sin(mm)  {backward}
  g: f32[8,8] = aten.mul.Tensor(dy, s)  {backward}
  t: f32[8,8] = aten.t(w)  {backward}
  gx: f32[8,8] = aten.mm(g, t)  {backward}
  return [out, gx, None]
)";

TEST(MinCut, DoesNotRecomputeProducts) {
  const Partition done = partitioned(kProduct);
  EXPECT_THAT(saved(done), ElementsAre("w", "mm"));
  EXPECT_EQ(reason(done, "mm").kind, PlanReason::Kind::banned);
  EXPECT_THAT(reason(done, "mm").text, HasSubstr("aten.mm is not on torch's list"));
}

std::string tagged(std::string text, std::string_view node, std::string_view tag) {
  const auto line = text.find(fmt::format(" {}: ", node));
  const auto end = text.find('\n', line);
  return text.insert(end, fmt::format("  {{{}}}", tag));
}

TEST(MinCut, TagsDecide) {
  const Partition again = partitioned(tagged(kProduct, "mm", "PREFER_RECOMPUTE"));
  EXPECT_THAT(saved(again), ElementsAre("x", "w"));
  EXPECT_EQ(reason(again, "mm").kind, PlanReason::Kind::tagged);
  EXPECT_THAT(reason(again, "mm").text, HasSubstr("PREFER_RECOMPUTE"));

  const Partition kept = partitioned(tagged(kTwice, "y", "MUST_SAVE"));
  EXPECT_THAT(saved(kept), ElementsAre("x", "y"));
  EXPECT_EQ(reason(kept, "y").kind, PlanReason::Kind::tagged);

  const Partition ignored =
      partitioned(tagged(kProduct, "mm", "PREFER_RECOMPUTE"), {.ignore_tags = true});
  EXPECT_EQ(saved(ignored), saved(partitioned(kProduct)));
}

// If a tuple and one of its elements are tagged, the element is saved once.
TEST(Budget, ATaggedElementOfATaggedTupleIsSavedOnce) {
  constexpr std::string_view kTuple = R"(
    x: f32[64,64] = input
    dy: f32[64,32] = tangent
    s: (f32[64,32], f32[64,32]) = aten.topk(x, 32)  {MUST_SAVE}
    a: f32[64,32] = s[0]  {MUST_SAVE}
    y: f32[64,32] = aten.mul.Tensor(a, a)  {MUST_RECOMPUTE}
    g: f32[64,32] = aten.mul.Tensor(dy, a)  {backward}
    h: f32[64,32] = aten.mul.Tensor(g, y)  {backward}
    return [y, h]
  )";
  for (const double budget : {0.1, 0.5, 0.9}) {
    PartitionOptions options;
    options.activation_budget = budget;
    const std::vector<std::string> kept = saved(partitioned(kTuple, options));
    EXPECT_LE(std::count(kept.begin(), kept.end(), "a"), 1) << budget;
    EXPECT_TRUE(emit_pair(partitioned(kTuple, options).joint, partitioned(kTuple, options).plan));
  }
}

TEST(DefaultPartition, TagsDecide) {
  const Partition again = partitioned(tagged(kProduct, "mm", "MUST_RECOMPUTE"), kDefault);
  EXPECT_THAT(saved(again), ElementsAre("x", "w"));
  const Partition kept = partitioned(tagged(kTwice, "z", "MUST_SAVE"), kDefault);
  EXPECT_THAT(saved(kept), ElementsAre("x", "y")) << "z is not needed, whatever its tag";
}

TEST(MinCut, SavesSmallResultsOfReductions) {
  const Partition done = partitioned(R"(
    x: f32[64,64] = input
    dy: f32[64] = tangent
    s: f32[64] = aten.sum.dim_IntList(x, [1])
    y: f32[64] = aten.silu(s)
    g: f32[64] = aten.silu_backward(dy, s)  {backward}
    r: f32[64,1] = aten.unsqueeze(g, 1)  {backward}
    gx: f32[64,64] = aten.expand(r, [64, 64])  {backward}
    return [y, gx]
  )");
  EXPECT_THAT(saved(done), ElementsAre("s"));
  EXPECT_EQ(reason(done, "s").kind, PlanReason::Kind::banned);
  EXPECT_THAT(reason(done, "s").text, HasSubstr("reduction"));
}

TEST(MinCut, SavesWhatTheBackwardNeedsInMemory) {
  const Partition done = partitioned(R"(
    x: f32[8,8] = input
    dy: f32[8,8] = tangent
    y: f32[8,8] = aten.cos(x)
    z: f32[8,8] = aten.mul.Tensor(y, 2)
    v: f32[8,8] = aten.view(z, [8, 8])
    out: f32[8,8] = aten.sin(v)
    g: f32[8,8] = aten.mm(v, dy)  {backward}
    return [out, g]
  )");
  EXPECT_THAT(saved(done), ElementsAre("v")) << "z is read through a view, which is not banned";
  EXPECT_EQ(reason(done, "v").kind, PlanReason::Kind::cut);
  EXPECT_THAT(reason(done, "v").text, HasSubstr("between z, which may not be recomputed, and g"));
}

TEST(MinCut, NamesTheReaderThatNeedsTheValueInMemory) {
  const Partition done = partitioned(R"(
    x: f32[8,8] = input
    dy: f32[8,8] = tangent
    y: f32[8,8] = aten.cos(x)
    out: f32[8,8] = aten.sin(y)
    g: f32[8,8] = aten.mm(y, dy)  {backward}
    return [out, g]
  )");
  EXPECT_THAT(saved(done), ElementsAre("y"));
  EXPECT_EQ(reason(done, "y").kind, PlanReason::Kind::banned);
  EXPECT_EQ(reason(done, "y").node, done.joint.find("g"));
  EXPECT_THAT(reason(done, "y").text, HasSubstr("g reads it or a view of it and does not fuse"));
}

TEST(MinCut, TakesTheCutNearestToTheBackward) {
  // transpose is not a view that torch may recompute, so the three candidates cost the same.
  const Partition done = partitioned(R"(
    w: f32[8,8] = parameter
    x: f32[8,8] = input
    dy: f32[8,8] = tangent
    mm: f32[8,8] = aten.mm(x, w)
    a: f32[8,8] = aten.transpose.int(mm, 0, 1)
    b: f32[8,8] = aten.transpose.int(a, 0, 1)
    y: f32[8,8] = aten.sin(b)
    g: f32[8,8] = aten.mm(b, dy)  {backward}
    return [y, None, g]
  )");
  EXPECT_THAT(saved(done), ElementsAre("b"));
}

// h is read at the start and, after a product, at the end of the forward.
TEST(MinCut, DoesNotRecomputeBothOfTwoDistantReaders) {
  const Partition done = partitioned(R"(
    x: f32[8,8] = input
    w: f32[8,8] = parameter
    dy: f32[8,8] = tangent
    h: f32[8,8] = aten.cos(x)
    early: f32[8,8] = aten.cos(h)
    mm: f32[8,8] = aten.mm(early, w)
    late: f32[8,8] = aten.sin(h)
    y: f32[8,8] = aten.mul.Tensor(mm, late)
    a: f32[8,8] = aten.mul.Tensor(dy, late)  {backward}
    b: f32[8,8] = aten.mul.Tensor(a, early)  {backward}
    return [y, b, None]
  )");
  EXPECT_THAT(saved(done), ElementsAre("early", "late"));
  EXPECT_EQ(reason(done, "late").kind, PlanReason::Kind::banned);
  EXPECT_EQ(reason(done, "late").node, done.joint.find("h"));
  EXPECT_THAT(reason(done, "late").text, HasSubstr("too late to fuse"));
}

TEST(MinCut, BreaksLongChains) {
  std::string text = "x: f32[64] = parameter\ndy: f32[64] = tangent\nc0: f32[64] = aten.cos(x)\n";
  constexpr int kCalls = 150;
  for (int i = 1; i < kCalls; ++i) text += fmt::format("c{}: f32[64] = aten.cos(c{})\n", i, i - 1);
  text += fmt::format("g: f32[64] = aten.silu_backward(dy, c{})  {{backward}}\n", kCalls - 2);
  text += fmt::format("return [c{}, g]\n", kCalls - 1);
  const Partition done = partitioned(text);
  const auto kept = saved(done);
  EXPECT_THAT(kept, ElementsAre("c148")) << "x costs nothing, but the chain from there is too long";
  EXPECT_THAT(reason(done, "c148").text, HasSubstr("between c101, which may not be recomputed"));
}

TEST(MinCut, SavesOnlySizesIfOnlySizesAreRead) {
  Graph graph = parse(R"(
    x: f32[s0,8] = input
    dy: f32[8] = tangent
    y: f32[s0,8] = aten.cos(x)
    n: f32[8] = aten.sum.dim_IntList(y, [0])
    size: f32[1] = aten.sym_size.int(y, 0)
    e: f32[s0,8] = aten.expand(dy, [size, 8])  {backward}
    return [n, e]
  )");
  // A literal cannot have symbols as results.
  Node& size = graph.node(graph.find("size"));
  size.value = Value::of_symbol(*graph.intern_expression(PartId(0), "s0", "16"));
  graph.refresh(graph.find("size"));
  ASSERT_TRUE(graph.finish());
  for (const PartitionOptions& options : {PartitionOptions{}, kDefault}) {
    const Partition done = partitioned(graph, options);
    EXPECT_THAT(saved(done), IsEmpty());
    EXPECT_THAT(names(done.joint, done.plan.saved_symbols), ElementsAre("size"));
  }
}

TEST(MinCut, RecomputesARandomCallForOneOfItsValues) {
  const auto done = must(partition(parse(R"(
    x: f32[64] = input
    dy: f32[64] = tangent
    drop: (f32[64], bool[64]) = aten.native_dropout(x, 0.5, True)
    y: f32[64] = drop[0]
    mask: bool[64] = drop[1]  {MUST_RECOMPUTE}
    g: f32[64] = aten.mul.Tensor(dy, mask)  {backward}
    return [y, g]
  )")));
  EXPECT_THAT(saved(done), testing::Not(testing::Contains("mask")));
  const auto pair = must(emit_pair(done.joint, done.plan));
  EXPECT_TRUE(pair.find("graphsafe_run_with_rng_state")) << "it draws the same numbers again";
}

TEST(Partition, RefusesOtherGraphs) {
  const auto done = partition(parse("kind forward\nx: f32[4] = input\nreturn [x]"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, Error::Kind::usage);
  EXPECT_THAT(done.error().message, HasSubstr("but this graph is of kind forward"));
}

TEST(Partition, SavesNothingWithoutABackward) {
  for (const PartitionOptions& options : {PartitionOptions{}, kDefault}) {
    const Partition done =
        partitioned("x: f32[4] = input\ny: f32[4] = aten.relu(x)\nreturn [y]", options);
    EXPECT_THAT(saved(done), IsEmpty());
  }
}

TEST(Partition, RefusesInPlaceWrites) {
  const auto cut = partition(parse(kWriteInPlace));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, Error::Kind::usage);
  EXPECT_THAT(cut.error().message, HasSubstr("b (aten.add_.Tensor) writes in place"));
  EXPECT_THAT(saved(partitioned(kWriteInPlace, kDefault)), ElementsAre("b"));
  EXPECT_FALSE(partition(parse(tagged(kWriteInPlace, "c", "MUST_RECOMPUTE")), kDefault));
}

TEST(MinCut, DoesNotRecomputeReadersOfUpdatedInputs) {
  const Partition done = partitioned(R"(
    x: f32[64] = input
    state: f32[64] = buffer
    dy: f32[64] = tangent
    a: f32[64] = aten.cos(state)
    b: f32[64] = aten.mul.Tensor(x, a)
    next: f32[64] = aten.add.Tensor(state, 1)
    g: f32[64] = aten.mul.Tensor(dy, a)  {backward}
    update: f32[64] = aten.copy_(state, next)
    return [b, g, None]
  )");
  EXPECT_THAT(saved(done), ElementsAre("a"));
  EXPECT_THAT(reason(done, "a").text, HasSubstr("later calls write to what it reads"));
}

}  // namespace
}  // namespace jointer::test

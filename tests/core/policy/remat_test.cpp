#include "core/policy/remat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <pthread.h>

#include <optional>
#include <random>

#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/graph/storage_moves.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "core/policy/tagging.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/names.h"
#include "tests/support/paths.h"
#include "tests/support/random_graph.h"
#include "tests/support/reference.h"
#include "tests/support/slow.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRematStep = R"(
  kind train_step
  w: f32[8,8] = parameter
  x: f32[8,8] = input
  a: f32[8,8] = aten.mm(x, w)  {MUST_SAVE}
  s: f32[8,8] = aten.sin(a)  {PREFER_RECOMPUTE}
  v: f32[64] = aten.view(s, [64])  {MUST_RECOMPUTE}
  p: (f32[4,8], f32[4,8]) = aten.split.Tensor(s, 4)  {PREFER_RECOMPUTE}
  p0: f32[4,8] = p[0]  {PREFER_RECOMPUTE}
  p1: f32[4,8] = p[1]  {PREFER_RECOMPUTE}
  l: f32[] = aten.sum(s)
  one: f32[8,8] = aten.ones_like(a)  {backward}
  g: f32[64] = aten.sin(v)  {backward}
  h: f32[4,8] = aten.exp(p1)  {backward}
  k: f32[4,8] = aten.mul.Tensor(h, p0)  {backward}
  return [l, one, g, k]
)";

Graph rematerialized(std::string_view text, Edit* made = nullptr) {
  Graph graph = parse(text);
  const auto edit = must(selective_activation_remat(graph));
  must(apply(graph, edit));
  if (made != nullptr) *made = edit;
  return graph;
}

// Constants differ from rank to rank, for example in a vocab-parallel embedding.
TEST(Remat, TheEditKeepsTheConstantsOfAnotherRank) {
  const auto rank = [](int first) {
    return parse(fmt::format(R"(
      kind train_step
      x: f32[8] = input
      a: f32[8] = aten.sub.Tensor(x, {0})  {{MUST_RECOMPUTE}}
      b: f32[8] = aten.add.Tensor(a, {0})  {{MUST_RECOMPUTE}}
      l: f32[8] = aten.cos(b)
      g: f32[8] = aten.mul.Tensor(b, {0})  {{backward}}
      return [l, g])",
                             first));
  };
  const auto edit = must(selective_activation_remat(rank(0)));
  Graph other = rank(128);
  ASSERT_TRUE(apply(other, edit));
  const auto call = [&](std::string_view name) {
    return canonical_call(other, other.find(name)).substr(0, 40);
  };
  EXPECT_THAT(call("a_recomputed"), HasSubstr("aten.sub.Tensor(%x,128)"));
  EXPECT_THAT(call("b_recomputed"), HasSubstr("(%a_recomputed,128)"));
  EXPECT_THAT(call("g"), HasSubstr("(%b_recomputed,128)"));
}

TEST(Remat, WritersAreRecomputedWithTheirArguments) {
  // `g` reads `s` after the write by `u`, so the copy of `u` must precede it even though the reader
  // of `u` comes later; and the copy of `e` must precede that of `u`.
  const Graph graph = rematerialized(R"(
    kind train_step
    x: f32[8,8] = input
    a: f32[8,8] = aten.mm(x, x)  {MUST_SAVE}
    s: f32[8,8] = aten.sin(a)  {PREFER_RECOMPUTE}
    e: f32[8,8] = aten.exp(s)  {PREFER_RECOMPUTE}
    u: f32[8,8] = aten.add_.Tensor(s, 1)  {PREFER_RECOMPUTE}
    l: f32[] = aten.sum(u)
    g: f32[8,8] = aten.cos(s)  {backward}
    h: f32[8,8] = aten.exp(u)  {backward}
    i: f32[8,8] = aten.cos(e)  {backward}
    return [l, g, h, i]
  )");
  EXPECT_THAT(names(graph), ElementsAre("x", "a", "s", "u", "l", "s_recomputed", "e_recomputed",
                                        "u_recomputed", "g", "h", "i", "output"));
}

TEST(Remat, WritersToKeptMemoryAreKept) {
  // The loss reads `s` after the write by `u`; in the forward `u` itself is unused.
  Edit edit;
  const Graph graph = rematerialized(R"(
    kind train_step
    x: f32[8,8] = input
    a: f32[8,8] = aten.mm(x, x)  {MUST_SAVE}
    s: f32[8,8] = aten.sin(a)  {PREFER_RECOMPUTE}
    u: f32[8,8] = aten.add_.Tensor(s, 1)  {PREFER_RECOMPUTE}
    l: f32[] = aten.sum(s)
    h: f32[8,8] = aten.exp(u)  {backward}
    return [l, h]
  )",
                                     &edit);
  EXPECT_THAT(edit.notes, IsEmpty()) << "no original is removed";
  EXPECT_THAT(names(graph),
              ElementsAre("x", "a", "s", "u", "l", "s_recomputed", "u_recomputed", "h", "output"));
}

TEST(Remat, CopiesPrecedeTheirFirstReader) {
  Edit edit;
  const Graph graph = rematerialized(kRematStep, &edit);
  // `s` is also read by the loss, so it stays; its views and parts are removed.
  EXPECT_THAT(names(graph),
              ElementsAre("w", "x", "a", "s", "l", "one", "s_recomputed", "v_recomputed", "g",
                          "p_recomputed", "p1_recomputed", "p0_recomputed", "h", "k", "output"));
  EXPECT_EQ(graph.inputs(graph.find("v_recomputed")).front(), graph.find("s_recomputed"));
  EXPECT_EQ(graph.inputs(graph.find("s_recomputed")).front(), graph.find("a"));
  const Node& copy = node(graph, "s_recomputed");
  EXPECT_EQ(copy.phase, Phase::backward);
  EXPECT_TRUE(copy.has(Node::recomputed));
  EXPECT_TRUE(copy.has(Node::autograd_backward));
  EXPECT_EQ(copy.policy, MemoryPolicy::none);
  EXPECT_NE(storage_of(graph, "s_recomputed"), storage_of(graph, "s"));
  EXPECT_EQ(storage_of(graph, "v_recomputed"), storage_of(graph, "s_recomputed"));
  EXPECT_EQ(edit.title, "Recompute 5 calls in the backward");
}

TEST(Remat, APartThatIsNeededEarlierFollowsItsWhole) {
  const Graph graph = rematerialized(R"(
    kind train_step
    x: f32[8,8] = input
    p: (f32[4,8], f32[4,8]) = aten.split.Tensor(x, 4)  {MUST_RECOMPUTE}
    p0: f32[4,8] = p[0]  {MUST_RECOMPUTE}
    p1: f32[4,8] = p[1]  {MUST_RECOMPUTE}
    l: f32[] = aten.sum(x)
    h: f32[4,8] = aten.exp(p1)  {backward}
    k: f32[4,8] = aten.mul.Tensor(h, p0)  {backward}
    return [l, k]
  )");
  EXPECT_THAT(names(graph), ElementsAre("x", "l", "p_recomputed", "p1_recomputed", "p0_recomputed",
                                        "h", "k", "output"));
}

// A view of a recomputed value in the backward is a view of the copy, and so are its views: the
// original is freed in the forward.
TEST(Remat, ViewsOfACopyShareItsMemory) {
  const Graph graph = rematerialized(R"(
    kind train_step
    x: f32[8,8] = input
    a: f32[8,8] = aten.sin(x)  {MUST_RECOMPUTE}
    v: f32[8,8] = aten.t(a)  {MUST_RECOMPUTE}
    l: f32[] = aten.sum(v)
    b: f32[8,8] = aten.t(v)  {backward}
    c: f32[64] = aten.view(b, [64])  {backward}
    g: f32[64] = aten.exp(c)  {backward}
    return [l, g]
  )");
  for (const char* name : {"v_recomputed", "b", "c"})
    EXPECT_EQ(storage_of(graph, name), storage_of(graph, "a_recomputed")) << name;
  EXPECT_NE(storage_of(graph, "a"), storage_of(graph, "a_recomputed"));
}

TEST(Remat, IsIdempotent) {
  Graph graph = rematerialized(kRematStep);
  const auto again = must(selective_activation_remat(graph));
  EXPECT_THAT(again.changes, IsEmpty());
  EXPECT_THAT(selective_activation_remat(parse(R"(
    kind train_step
    x: f32[8] = input
    a: f32[8] = aten.sin(x)
    g: f32[8] = aten.cos(a)  {backward}
    return [a, g]
  )"))
                  ->changes,
              IsEmpty());
}

TEST(Remat, RefusesWhatCannotRunTwice) {
  EXPECT_THAT(
      selective_activation_remat(parse(R"(
    kind train_step
    x: f32[8] = input
    a: f32[8] = aten.rand_like(x)  {MUST_RECOMPUTE}
    g: f32[8] = aten.cos(a)  {backward}
    return [x, g]
  )"))
          .error()
          .message,
      HasSubstr("a (aten.rand_like.default) is tagged for recomputation but draws random numbers"));
  EXPECT_THAT(selective_activation_remat(parse(R"(
    kind train_step
    b: f32[8] = buffer
    x: f32[8] = input
    a: f32[8] = aten.add_.Tensor(b, x)  {MUST_RECOMPUTE}
    g: f32[8] = aten.cos(a)  {backward}
    return [x, g]
  )"))
                  .error()
                  .message,
              HasSubstr("writes to b, which is not recomputed"));
}

// `s` reads one half of a buffer, and `u` writes to `hi` before `s` runs again.
TEST(Remat, AWriteToOtherBytesDoesNotBlock) {
  Graph graph = parse(R"(
    kind train_step
    b: f32[8,8] = buffer
    x: f32[4,8] = input
    lo: f32[4,8] = aten.slice.Tensor(b, 0, 0, 4)
    hi: f32[4,8] = aten.slice.Tensor(b, 0, 4, 8)
    s: f32[4,8] = aten.sin(lo)  {MUST_RECOMPUTE}
    u: f32[4,8] = aten.add_.Tensor(hi, x)
    l: f32[] = aten.sum(x)
    g: f32[4,8] = aten.cos(s)  {backward}
    return [l, g]
  )");
  EXPECT_THAT(selective_activation_remat(graph).error().message,
              HasSubstr("u writes to memory that s uses"))
      << "literals have offsets of 0, so that both halves are the first";
  for (const char* name : {"hi", "u"})
    move_tensors(graph, graph.find(name),
                 [](const Tensor& t) { return StorageMove{.to = t.storage, .by = 32}; });
  const auto edit = must(selective_activation_remat(graph));
  ASSERT_TRUE(apply(graph, edit));
  EXPECT_THAT(names(graph),
              ElementsAre("b", "x", "lo", "hi", "u", "l", "s_recomputed", "g", "output"));
}

// Files may lack the value of a node: any byte of `p` may change.
TEST(Remat, AWriteToUnknownBytesIsRefused) {
  Graph graph = parse(R"(
    kind train_step
    x: f32[4,8] = input
    p: f32[4,8] = buffer
    f: f32[4,8] = aten.add.Tensor(x, p)  {MUST_RECOMPUTE}
    w: f32[4,8] = aten.copy_(p, x)
    h: f32[] = aten.sum(f)
    g: f32[4,8] = aten.cos(f)  {backward}
    return [h, g]
  )");
  for (const char* name : {"p", "w"}) {
    graph.node(graph.find(name)).value = {};
    graph.refresh(graph.find(name));
  }
  EXPECT_THAT(selective_activation_remat(graph).error().message,
              HasSubstr("w writes to memory that f uses"));
}

// On a thread with 1 MB of stack, so that recursion along a chain ends the test.
std::optional<Result<Edit>> remat_with_little_stack(const Graph& graph) {
  struct Job {
    const Graph& graph;
    std::optional<Result<Edit>> made;
  } job{graph, {}};
  const auto run = [](void* data) -> void* {
    Job& mine = *static_cast<Job*>(data);
    mine.made = selective_activation_remat(mine.graph);
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  if (pthread_create(&thread, &attributes, run, &job) == 0) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return std::move(job.made);
}

// The copy of `u` moves before `g`, for which `e` is copied, and takes with it all that it reads.
TEST(Remat, AWriterMayReadALongChain) {
  JOINTER_SLOW_TEST();
  constexpr std::size_t kCalls = 200'000;
  std::string text = R"(
    kind train_step
    x: f32[8] = input
    s: f32[8] = aten.sin(x)  {MUST_RECOMPUTE}
    e: f32[8] = aten.exp(s)  {MUST_RECOMPUTE}
    c0: f32[8] = aten.cos(x)  {MUST_RECOMPUTE}
)";
  for (std::size_t i = 1; i < kCalls; ++i)
    text += fmt::format("c{}: f32[8] = aten.cos(c{})  {{MUST_RECOMPUTE}}\n", i, i - 1);
  text += fmt::format(R"(
    u: f32[8] = aten.add_.Tensor(s, c{})  {{MUST_RECOMPUTE}}
    l: f32[] = aten.sum(x)
    g: f32[8] = aten.exp(e)  {{backward}}
    h: f32[8] = aten.exp(u)  {{backward}}
    return [l, g, h]
)",
                      kCalls - 1);
  const auto edit = remat_with_little_stack(parse(text));
  ASSERT_TRUE(edit && *edit);
  std::size_t copies = 0;
  for (const Change& change : (*edit)->changes)
    if (const auto* insert = std::get_if<InsertNode>(&change)) {
      ++copies;
      EXPECT_EQ(insert->before, "g");
    }
  EXPECT_EQ(copies, kCalls + 3);
}

TEST(Remat, AllowsOneRegionOnly) {
  EXPECT_THAT(selective_activation_remat(parse(R"(
    kind train_step
    x: f32[8] = input
    a: f32[8] = aten.sin(x)  {MUST_RECOMPUTE}
    g: f32[8] = aten.cos(a)  {backward}
    c: f32[8] = aten.cos(x)
    h: f32[8] = aten.exp(a)  {backward}
    return [c, g, h]
  )"))
                  .error()
                  .message,
              HasSubstr("starting at g and at h"));
  // The loss's own backward does not count, and still reads the original.
  const Graph graph = rematerialized(R"(
    kind train_step
    x: f32[8] = input
    a: f32[8] = aten.sin(x)  {MUST_RECOMPUTE}
    g: f32[8] = aten.cos(a)  {backward loss}
    c: f32[8] = aten.cos(x)  {loss}
    h: f32[8] = aten.exp(a)  {backward layers.0}
    return [c, g, h]
  )");
  EXPECT_EQ(graph.inputs(graph.find("g")).front(), graph.find("a"));
  EXPECT_EQ(graph.inputs(graph.find("h")).front(), graph.find("a_recomputed"));
}

TEST(Remat, RefusesAPair) {
  const Graph pair = random_graph(1, {.calls = 20, .pair = true});
  EXPECT_FALSE(selective_activation_remat(pair));
}

TEST(Remat, EachCopyHasItsOwnSubgraph) {
  Graph graph = parse(R"(
    kind train_step
    x: f32[8] = input
    score: f32[] = constant
    table: f32[8] = constant
    a: f32[8] = aten.add.Tensor(x, score)  {MUST_RECOMPUTE}
    b: f32[8] = aten.mul.Tensor(a, table)  {MUST_RECOMPUTE}
    f: f32[8] = aten.exp(b)
    g: f32[8] = aten.cos(b)  {backward}
    return [f, g]
  )");
  graph.part(PartId(0)).constants = R"({"score": {"subgraph": {}}, "table": {"t": {}}})";
  const std::string before = write_native(graph);
  const auto edit = must(selective_activation_remat(graph));
  const auto inverse = must(apply(graph, edit));
  EXPECT_EQ(graph.inputs(graph.find("a_recomputed")).back(), graph.find("score_1"));
  EXPECT_EQ(node(graph, "score_1").kind, NodeKind::get_attr);
  EXPECT_EQ(graph.target(node(graph, "score_1")), graph.target(node(graph, "score")));
  EXPECT_EQ(graph.inputs(graph.find("b_recomputed")).back(), graph.find("table"));
  ASSERT_TRUE(apply(graph, inverse));
  EXPECT_EQ(write_native(graph), before);
}

// Whatever is tagged, the resulting graph is sound, computes the same outputs with the same
// operators, and the edit can be undone exactly.
TEST(Remat, ACopyIsInTheMemoryOfWhatItReads) {
  const Graph graph = rematerialized(R"(
    kind train_step
    x: f32[8,8] = input
    s: f32[8,8] = aten.sin(x)  {MUST_RECOMPUTE}
    v: f32[64] = aten.view(s, [64])  {MUST_SAVE}
    w: f32[4,16] = aten.view(v, [4,16])  {MUST_RECOMPUTE}
    l: f32[] = aten.sum(s)
    g: f32[4,16] = aten.sin(w)  {backward}
    h: f32[8,8] = aten.exp(s)  {backward}
    return [l, g, h])");
  const auto storage = [&](std::string_view name) {
    return graph.real_storage(graph.tensors(graph.find(name)).front().storage);
  };
  EXPECT_EQ(storage("w_recomputed"), storage("v"));
  EXPECT_NE(storage("s_recomputed"), storage("v"));
}

RC_GTEST_PROP(RematProperty, IsLegalWhateverIsTagged, (std::uint64_t seed)) {
  Graph graph = random_graph(seed, {.calls = 60});
  std::mt19937_64 random(seed);
  for (const NodeId id : graph.order()) {
    Node& n = graph.node(id);
    // Calls that cannot run twice are tagged seldom; otherwise nearly all graphs would be refused.
    const bool again =
        n.kind == NodeKind::call && random() % 3 == 0 &&
        (random() % 50 == 0 || !(graph.op(n).has(OperatorTag::random) || graph.op(n).mutates));
    n.policy = again ? MemoryPolicy::must_recompute : MemoryPolicy::none;
  }
  const std::string before = write_native(graph);
  const auto computed = symbolic_run(graph);
  const auto edit = selective_activation_remat(graph);
  if (!edit) {
    RC_TAG("refused");
    RC_ASSERT(edit.error().kind == Error::Kind::usage);
    return;
  }
  const auto inverse = apply(graph, *edit);
  if (!inverse) RC_FAIL(inverse.error().message);
  RC_ASSERT(validate(graph).has_value());
  RC_ASSERT(symbolic_run(graph) == computed);
  RC_ASSERT(apply(graph, *inverse).has_value());
  RC_ASSERT(write_native(graph) == before);
}

TEST(Remat, AcceptsTheTrainingStepOfTheCaptures) {
  JOINTER_NEEDS_SHARED();
  for (const MemoryPolicyPreset& preset : memory_policy_presets()) {
    auto graph = must(open_graph({.path = capture_path("llama_like_train_step"), .backward = {}}));
    const std::size_t nodes = graph.order().size();
    ASSERT_TRUE(apply(graph, *tag_with_memory_policy(graph, preset.name)));
    const auto edit = must(selective_activation_remat(graph));
    const auto inverse = apply(graph, edit);
    ASSERT_TRUE(inverse) << inverse.error().message;
    EXPECT_GT(graph.order().size(), nodes) << preset.name;
  }
}

}  // namespace
}  // namespace jointer::test

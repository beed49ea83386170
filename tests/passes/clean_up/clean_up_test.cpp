#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/graphs.h"
#include "tests/support/names.h"
#include "tests/support/run_pass.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StepResult run(const Graph& graph, std::string_view pass) {
  std::vector<StepResult> steps = run_pipeline_text(graph, pass);
  if (steps.size() != 1) throw std::runtime_error("the pass did not run");
  // The other two compute the same values through different views.
  if (pass.starts_with("eliminate") || pass.starts_with("deduplicate")) {
    EXPECT_EQ(symbolic_run(graph), symbolic_run(*steps.front().graph));
  }
  return std::move(steps.front());
}

std::vector<std::string> calls_after(std::string_view pass, std::string_view literal) {
  return calls_of(*run(parse(literal), pass).graph);
}

TEST(EliminateDeadCode, RemovesUnusedCalls) {
  const Graph graph = parse(R"(
    x: f32[4,4] = input
    a: f32[4,4] = aten.relu(x)
    dead: f32[4,4] = aten.mm(x, a)
    deader: f32[4,4] = aten.relu(dead)
    return [a]
  )");
  const StepResult step = run(graph, "eliminate_dead_code");
  EXPECT_THAT(calls_of(*step.graph), ElementsAre("a"));
  EXPECT_EQ(step.removed, 2U);
  EXPECT_THAT(reason_of(step, "dead"), HasSubstr("nothing reads its result"));
}

TEST(EliminateDeadCode, KeepsWritesWaitsAndChecks) {
  const char* const kLiteral = R"(
    group g: 0 1
    x: f32[4,4] = input
    buf: f32[4,4] = buffer
    c: f32[4,4] = aten.copy_(buf, x)
    r: f32[4,4] = _c10d_functional.all_reduce(x, 'sum', 'g')
    w: f32[4,4] = _c10d_functional.wait_tensor(r)
    ok: bool[] = aten.any(x)
    check: none = aten._assert_async.msg(ok, 'all')
    return [x]
  )";
  EXPECT_THAT(calls_after("eliminate_dead_code{drop_asserts=false}", kLiteral),
              ElementsAre("c", "r", "w", "ok", "check"));
}

TEST(EliminateDeadCode, RemovesAssertsAndTheirInputs) {
  EXPECT_THAT(calls_after("eliminate_dead_code", R"(
    x: i64[4] = input
    small: bool[4] = aten.le.Scalar(x, 7)
    all: bool[] = aten.all(small)
    check: none = aten._assert_async.msg(all, 'too large')
    y: i64[4] = aten.add.Tensor(x, 1)
    read: bool[] = aten.any(y)
    check_1: none = aten._assert_async(read)
    return [y]
  )"),
              ElementsAre("y"));
}

TEST(EliminateDeadCode, KeepsRandomCallsUnlessConfigured) {
  const char* const kLiteral = R"(
    x: f32[4] = input
    r: f32[4] = aten.rand_like(x)
    s: f32[4] = aten.relu(r)
    return [x]
  )";
  EXPECT_THAT(calls_after("eliminate_dead_code", kLiteral), ElementsAre("r"));
  EXPECT_THAT(calls_after("eliminate_dead_code{drop_random=true}", kLiteral), ElementsAre());
}

TEST(CanonicalizeGraph, RemovesIdentities) {
  const Graph graph = parse(R"(
    x: f32[4,6] = input
    d: f32[4,6] = aten.detach(x)
    same: f32[4,6] = aten.view(d, [4, 6])
    whole: f32[4,6] = aten.slice.Tensor(same, 0, 0, 9223372036854775807)
    a: f32[4,6] = aten.relu(whole)
    flat: f32[24] = aten.view(a, [24])
    half: f32[2,6] = aten.slice.Tensor(a, 0, 0, 2)
    late: f32[2,6] = aten.slice.Tensor(a, 0, 2, 4)
    return [flat, half, late]
  )");
  const StepResult step = run(graph, "canonicalize_graph");
  EXPECT_THAT(calls_of(*step.graph), ElementsAre("a", "flat", "half", "late"));
  EXPECT_EQ(step.graph->inputs(step.graph->find("a")).front(), step.graph->find("x"));
  EXPECT_EQ(step.graph->target(node(*step.graph, "flat")), "aten.reshape.default");
  EXPECT_THAT(reason_of(step, "whole"), HasSubstr("its whole input"));
}

TEST(CanonicalizeGraph, RemovesInverseTransposes) {
  EXPECT_THAT(calls_after("canonicalize_graph", R"(
    x: f32[4,6] = input
    t: f32[6,4] = aten.t(x)
    d: f32[6,4] = aten.detach(t)
    back: f32[4,6] = aten.t(d)
    a: f32[4,6] = aten.relu(back)
    return [a]
  )"),
              ElementsAre("a"));
  EXPECT_THAT(calls_after("canonicalize_graph", R"(
    x: f32[4,6] = input
    t: f32[6,4] = aten.t(x)
    back: f32[4,6] = aten.t(t)
    a: f32[4,6] = aten.relu(back)
    b: f32[6,4] = aten.relu(t)
    return [a, b]
  )"),
              ElementsAre("t", "a", "b"))
      << "other calls read the inner one";
}

TEST(CanonicalizeGraph, KeepsOtherSizesAndSteps) {
  EXPECT_THAT(calls_after("canonicalize_graph", R"(
    x: f32[4,6] = input
    every: f32[2,6] = aten.slice.Tensor(x, 0, 0, 4, 2)
    turned: f32[6,4] = aten.t(x)
    other: f32[6,4] = aten.view(x, [6, 4])
    return [every, turned, other]
  )"),
              ElementsAre("every", "turned", "other"));
}

TEST(CanonicalizeGraph, KeepsValuesThatABackwardLooksUpByName) {
  const char* const kText = R"(
    kind forward
    x: f32[4,6] = input
    d: f32[4,6] = aten.detach(x)
    a: f32[4,6] = aten.relu(d)
    return [a, d]
  )";
  EXPECT_THAT(calls_after("canonicalize_graph", kText), ElementsAre("d", "a"));
}

TEST(CanonicalizeGraph, KeepsInPlaceShapeChanges) {
  EXPECT_THAT(calls_after("canonicalize_graph", R"(
    x: f32[4,6] = input
    d: f32[4,6] = aten.detach(x)
    u: f32[1,4,6] = aten.unsqueeze_(d, 0)
    a: f32[4,6] = aten.relu(x)
    return [a, u]
  )"),
              ElementsAre("d", "u", "a"));
  EXPECT_THAT(calls_after("canonicalize_graph", R"(
    x: f32[4,6] = input
    t: f32[6,4] = aten.t(x)
    back: f32[4,6] = aten.t(t)
    u: f32[1,4,6] = aten.unsqueeze_(x, 0)
    a: f32[4,6] = aten.relu(back)
    return [a, u]
  )"),
              ElementsAre("t", "back", "u", "a"))
      << "the transposes do not see the new shape of x";
}

TEST(CanonicalizeGraph, ViewsOfRemovedCallsBecomeViewsOfKeptOnes) {
  const Graph graph = parse(R"(
    x: f32[4,6] = input
    r: f32[4,6] = aten.relu(x)
    d: f32[4,6] = aten.detach(r)
    v: f32[24] = aten.view(d, [24])
    return [v]
  )");
  const StepResult step = run(graph, "canonicalize_graph");
  EXPECT_EQ(storage_of(*step.graph, "v"), storage_of(*step.graph, "r"));
}

// --- FSDP's chains ---

const char* const kTwice = R"(
  group fsdp: 0 1
  group other: 0 1
  w: f32[4,8] = parameter
  x: f32[8,8] = input
  c1: bf16[4,8] = prims.convert_element_type(w, bf16)
  g1: bf16[8,8] = _c10d_functional.all_gather_into_tensor(c1, 2, 'fsdp')
  w1: bf16[8,8] = _c10d_functional.wait_tensor(g1)
  t1: bf16[8,8] = aten.t(w1)
  y1: bf16[8,8] = aten.mm(w1, t1)
  c2: bf16[4,8] = prims.convert_element_type(w, bf16)
  g2: bf16[8,8] = _c10d_functional.all_gather_into_tensor(c2, 2, 'fsdp')
  w2: bf16[8,8] = _c10d_functional.wait_tensor(g2)
  t2: bf16[8,8] = aten.t(w2)
  y2: bf16[8,8] = aten.mm(t2, w2)
  g3: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
  w3: f32[8,8] = _c10d_functional.wait_tensor(g3)
  g4: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'other')
  w4: f32[8,8] = _c10d_functional.wait_tensor(g4)
  return [y1, y2, w3, w4]
)";

TEST(DeduplicateFsdpUnshardChains, GathersOnce) {
  const StepResult step = run(parse(kTwice), "deduplicate_fsdp_unshard_chains");
  EXPECT_THAT(calls_of(*step.graph),
              ElementsAre("c1", "g1", "w1", "t1", "y1", "t2", "y2", "g3", "w3", "g4", "w4"))
      << "chains with a different dtype or group are not equal";
  EXPECT_THAT(reason_of(step, "g2"), HasSubstr("g1"));
  EXPECT_EQ(step.after.collectives, 3U);
  EXPECT_EQ(storage_of(*step.graph, "t1"), storage_of(*step.graph, "w1"));
}

TEST(DeduplicateFsdpUnshardChains, LeavesFinalViewsToTheirReaders) {
  EXPECT_THAT(calls_after("deduplicate_fsdp_unshard_chains", R"(
    group fsdp: 0 1
    w: f32[4,8] = parameter
    g1: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    w1: f32[8,8] = _c10d_functional.wait_tensor(g1)
    v1: f32[64] = aten.view(w1, [64])
    k1: bf16[64] = prims.convert_element_type(v1, bf16)
    e1: bf16[8,8] = aten.view(k1, [8,8])
    y: bf16[8,8] = aten.mm(e1, e1)
    g2: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    w2: f32[8,8] = _c10d_functional.wait_tensor(g2)
    v2: f32[64] = aten.view(w2, [64])
    k2: bf16[64] = prims.convert_element_type(v2, bf16)
    e2: bf16[8,8] = aten.view(k2, [8,8])
    z: bf16[8,8] = aten.mm(e2, y)
    return [z]
  )"),
              ElementsAre("g1", "w1", "v1", "k1", "e1", "y", "e2", "z"));
}

TEST(DeduplicateFsdpUnshardChains, KeepsDeliberateRecomputation) {
  EXPECT_THAT(calls_after("deduplicate_fsdp_unshard_chains", R"(
    group fsdp: 0 1
    w: f32[4,8] = parameter
    g1: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    w1: f32[8,8] = _c10d_functional.wait_tensor(g1)
    g2: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')  {backward recomputed}
    w2: f32[8,8] = _c10d_functional.wait_tensor(g2)                       {backward recomputed}
    y: f32[8,8] = aten.mm(w1, w1)
    z: f32[8,8] = aten.mm(w2, w2)                                         {backward}
    return [y, z]
  )"),
              ElementsAre("g1", "w1", "g2", "w2", "y", "z"));
}

TEST(DeduplicateFsdpUnshardChains, KeepsReadersOfOtherContents) {
  EXPECT_THAT(calls_after("deduplicate_fsdp_unshard_chains", R"(
    group fsdp: 0 1
    w: f32[4,8] = parameter
    g1: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    w1: f32[8,8] = _c10d_functional.wait_tensor(g1)
    o: f32[4,8] = aten.add_.Tensor(w, 1)
    g2: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    w2: f32[8,8] = _c10d_functional.wait_tensor(g2)
    g3: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    w3: f32[8,8] = _c10d_functional.wait_tensor(g3)
    y: f32[8,8] = aten.mm(w1, w2)
    z: f32[8,8] = aten.mm(y, w3)
    return [z]
  )"),
              ElementsAre("g1", "w1", "o", "g2", "w2", "y", "z"))
      << "the gathers on the same side of the write are merged";
}

TEST(DeduplicateFsdpUnshardChains, KeepsWrittenValues) {
  EXPECT_THAT(calls_after("deduplicate_fsdp_unshard_chains", R"(
    group fsdp: 0 1
    w: f32[4,8] = parameter
    g1: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    w1: f32[8,8] = _c10d_functional.wait_tensor(g1)
    g2: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    w2: f32[8,8] = _c10d_functional.wait_tensor(g2)
    o: f32[8,8] = aten.add_.Tensor(w1, 1)
    y: f32[8,8] = aten.mm(w1, w2)
    return [y]
  )"),
              ElementsAre("g1", "w1", "g2", "w2", "o", "y"));
}

// --- Copies that could be views ---

TEST(ReplaceViewCopyWithView, ReplacesCopiesOfDenseParts) {
  const Graph graph = parse(R"(
    x: f32[8,6] = input
    s: f32[2,6] = aten.slice_copy.Tensor(x, 0, 4, 6)
    v: f32[12] = aten.view(s, [12])
    e: f32[6] = aten.select_copy.int(x, 0, 3)
    u: f32[8,1,6] = aten.unsqueeze_copy(x, 1)
    a: f32[12] = aten.relu(v)
    b: f32[6] = aten.relu(e)
    c: f32[8,1,6] = aten.relu(u)
    return [a, b, c]
  )");
  const StepResult step = run(graph, "replace_view_copy_with_view");
  const Graph& after = *step.graph;
  EXPECT_EQ(after.target(node(after, "s")), "aten.slice.Tensor");
  EXPECT_EQ(after.target(node(after, "e")), "aten.select.int");
  EXPECT_EQ(after.target(node(after, "u")), "aten.unsqueeze.default");
  for (const char* name : {"s", "v", "e", "u"})
    EXPECT_EQ(storage_of(after, name), storage_of(after, "x")) << name;
  EXPECT_EQ(after.offset(after.tensors(after.find("v")).front()).value, 24)
      << "a view of the copy is a view of its base, at an offset of four rows";
  EXPECT_LT(step.after.figures.peak_bytes, step.before.figures.peak_bytes);
}

TEST(ReplaceViewCopyWithView, KeepsCopiesWhoseStridesWouldChange) {
  const Graph graph = parse(R"(
    x: f32[8,6] = input
    s: f32[8,3] = aten.slice_copy.Tensor(x, 1, 0, 3)
    t: f32[6,8] = aten.t_copy(x)
    a: f32[8,3] = aten.relu(s)
    b: f32[6,8] = aten.relu(t)
    return [a, b]
  )");
  const StepResult step = run(graph, "replace_view_copy_with_view");
  EXPECT_EQ(step.changed, 0U);
  EXPECT_THAT(reason_of(step, "s"), HasSubstr("strides"));
  EXPECT_THAT(reason_of(step, "t"), HasSubstr("strides"));
}

TEST(ReplaceViewCopyWithView, KeepsWrittenAndReturnedCopies) {
  const Graph graph = parse(R"(
    x: f32[8,6] = input
    y: f32[8,6] = aten.relu(x)
    written: f32[2,6] = aten.slice_copy.Tensor(x, 0, 0, 2)
    w: f32[2,6] = aten.add_.Tensor(written, 1)
    base: f32[8,6] = aten.relu(y)
    of_written: f32[2,6] = aten.slice_copy.Tensor(base, 0, 0, 2)
    v: f32[8,6] = aten.add_.Tensor(base, 1)
    a: f32[2,6] = aten.relu(of_written)
    returned: f32[2,6] = aten.slice_copy.Tensor(y, 0, 0, 2)
    flat: f32[12] = aten.view(returned, [12])
    return [a, flat, w, v]
  )");
  const StepResult step = run(graph, "replace_view_copy_with_view");
  EXPECT_EQ(step.changed, 0U);
  EXPECT_THAT(reason_of(step, "written"), HasSubstr("written to"));
  EXPECT_THAT(reason_of(step, "of_written"), HasSubstr("its base is written to"));
  EXPECT_THAT(reason_of(step, "returned"), HasSubstr("returned"));
}

}  // namespace
}  // namespace jointer::test

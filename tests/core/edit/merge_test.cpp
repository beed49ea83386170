#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/edit/merge.h"
#include "core/edit/moves.h"
#include "core/edit/replace.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "core/schedule/memory_timeline.h"
#include "tests/support/graphs.h"
#include "tests/support/must_apply.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kGathers = R"(
  group dp: 0 1
  group tp: 0 1
  a: bf16[8,4] = parameter
  b: bf16[2,4] = parameter
  x: bf16[16,4] = input
  ag_a: bf16[16,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')  {layers.0.wq}
  wt_a: bf16[16,4] = _c10d_functional.wait_tensor(ag_a)  {layers.0.wq}
  ag_b: bf16[4,4] = _c10d_functional.all_gather_into_tensor(b, 2, 'dp')  {layers.0.wk}
  ag_t: bf16[4,4] = _c10d_functional.all_gather_into_tensor(b, 2, 'tp')  {layers.0.wk}
  wt_t: bf16[4,4] = _c10d_functional.wait_tensor(ag_t)  {layers.0.wk}
  r: bf16[16,4] = aten.relu(x)
  wt_b: bf16[4,4] = _c10d_functional.wait_tensor(ag_b)  {layers.0.wk}
  y: bf16[16,4] = aten.mul.Tensor(wt_a, r)  {layers.0.wq}
  v: bf16[16] = aten.view(wt_b, [16])
  z: bf16[16] = aten.relu(v)
  return [y, z, wt_t]
)";

constexpr std::string_view kScatters = R"(
  group dp: 0 1 2 3
  a: f32[8,4] = input
  b: f32[4,6] = input
  rs_a: f32[2,4] = _c10d_functional.reduce_scatter_tensor(a, 'avg', 4, 'dp')
  wt_a: f32[2,4] = _c10d_functional.wait_tensor(rs_a)
  rs_b: f32[1,6] = _c10d_functional.reduce_scatter_tensor(b, 'avg', 4, 'dp')
  wt_b: f32[1,6] = _c10d_functional.wait_tensor(rs_b)
  return [wt_a, wt_b]
)";

std::vector<NodeId> nodes(const Graph& graph, std::initializer_list<const char*> names) {
  std::vector<NodeId> ids;
  for (const char* name : names) ids.push_back(graph.find(name));
  return ids;
}

std::vector<std::string> calls_with_operators(const Graph& graph) {
  std::vector<std::string> calls;
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call)
      calls.push_back(std::string(graph.name(id)) + " " +
                      std::string(graph.op(graph.node(id)).packet()));
  return calls;
}

void must_apply(Graph& graph, const Result<Edit>& edit) {
  ASSERT_TRUE(edit) << edit.error().message;
  ASSERT_NO_FATAL_FAILURE(test::must_apply(graph, *edit));
  EXPECT_THAT(find_warnings(graph), testing::IsEmpty());
}

TEST(Merge, AllGathersOfAGroup) {
  Graph graph = parse(kGathers);
  const Node before = node(graph, "ag_b");
  const auto edit = merge_collectives(graph, nodes(graph, {"ag_b", "ag_a"}));
  ASSERT_NO_FATAL_FAILURE(must_apply(graph, edit));
  EXPECT_THAT(
      calls_with_operators(graph),
      ElementsAre("view aten.view", "view_1 aten.view", "cat aten.cat",
                  "all_gather_into_tensor _c10d_functional.all_gather_into_tensor",
                  "ag_t _c10d_functional.all_gather_into_tensor",
                  "wt_t _c10d_functional.wait_tensor", "r aten.relu",
                  "wait_tensor _c10d_functional.wait_tensor", "view_2 aten.view",
                  "split_with_sizes aten.split_with_sizes", "getitem _operator.getitem",
                  "clone aten.clone", "getitem_1 _operator.getitem", "clone_1 aten.clone",
                  "wt_a aten.view", "wt_b aten.view", "y aten.mul", "v aten.view", "z aten.relu"));
  EXPECT_THAT(edit->notes, ElementsAre(HasSubstr("Every rank must do the same: 2 collectives of")));
  EXPECT_EQ(edit->title, "Merge 2 all-gathers of group dp, starting with ag_a");
  // In the order of starts: a holds 32 elements, b 8.
  EXPECT_EQ(canonical_call(graph, graph.find("split_with_sizes")),
            "aten.split_with_sizes.default(%view_2,[32,8],1) -> [bfloat16[2,32],bfloat16[2,8]]");
  // Module, phase and tags of inserted nodes.
  EXPECT_EQ(node(graph, "clone_1").module, before.module);
  EXPECT_EQ(graph.name(node(graph, "clone_1").origin), "ag_b");
  // A member's result is now the copy in the bucket's output.
  EXPECT_EQ(storage_of(graph, "wt_b"), storage_of(graph, "clone_1"));
  EXPECT_EQ(storage_of(graph, "v"), storage_of(graph, "clone_1"));
  EXPECT_NE(storage_of(graph, "wt_a"), storage_of(graph, "wt_b"));
}

TEST(Merge, ABucketOfParametersIsCommunication) {
  Graph graph = parse(kGathers);
  const auto category = [&](const Graph& g, std::string_view name) {
    const MemoryTimeline timeline(g);
    const auto index = timeline.lifetime_of(storage_of(g, name));
    return index ? timeline.lifetimes()[*index].category : MemoryCategory::temporary;
  };
  EXPECT_EQ(category(graph, "wt_a"), MemoryCategory::communication);
  must_apply(graph, merge_collectives(graph, nodes(graph, {"ag_a", "ag_b"})));
  EXPECT_EQ(category(graph, "all_gather_into_tensor"), MemoryCategory::communication);
  EXPECT_EQ(category(graph, "wt_a"), MemoryCategory::communication);
}

TEST(Merge, ReduceScattersAreViewsOfTheBucket) {
  Graph graph = parse(kScatters);
  const auto edit = merge_collectives(graph, nodes(graph, {"rs_a", "rs_b"}));
  ASSERT_NO_FATAL_FAILURE(must_apply(graph, edit));
  EXPECT_EQ(canonical_call(graph, graph.find("cat")),
            "aten.cat.default([%view,%b],1) -> float32[4,14]");
  EXPECT_EQ(storage_of(graph, "wt_a"), storage_of(graph, "reduce_scatter_tensor"));
  EXPECT_EQ(storage_of(graph, "wt_b"), storage_of(graph, "reduce_scatter_tensor"));
  EXPECT_THAT(edit->notes[1], HasSubstr("may differ in the last bit"));
}

TEST(Merge, AMaximumDoesNotDependOnTheOrder) {
  std::string text(kScatters);
  for (std::size_t at; (at = text.find("'avg'")) != std::string::npos;)
    text.replace(at, 5, "'max'");
  const Graph graph = parse(text);
  const auto edit = merge_collectives(graph, nodes(graph, {"rs_a", "rs_b"}));
  ASSERT_TRUE(edit) << edit.error().message;
  EXPECT_THAT(edit->notes, ElementsAre(HasSubstr("Every rank must do the same")));
}

// `w` writes to an input of the bucket, which starts early because `r` uses a member's result.
TEST(Merge, TheBucketStartsAfterWritesToItsInputs) {
  const auto text = [](std::string_view early, std::string_view late) {
    return fmt::format(R"(
      group dp: 0 1
      x: f32[4] = input
      a: f32[4] = aten.neg(x)
      b: f32[4] = aten.relu(x)
      ag_a: f32[8] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')
      {}wt_a: f32[8] = _c10d_functional.wait_tensor(ag_a)
      r: f32[8] = aten.relu(wt_a)
      {}ag_b: f32[8] = _c10d_functional.all_gather_into_tensor(b, 2, 'dp')
      wt_b: f32[8] = _c10d_functional.wait_tensor(ag_b)
      return [r, wt_b]
    )",
                       early, late);
  };
  constexpr std::string_view kWrite = "w: f32[4] = aten.add_.Tensor(b, x)\n      ";
  Graph graph = parse(text(kWrite, ""));
  must_apply(graph, merge_collectives(graph, nodes(graph, {"ag_a", "ag_b"})));
  EXPECT_LT(graph.position(graph.find("w")), graph.position(graph.find("cat")));
  const Graph late = parse(text("", kWrite));
  const auto edit = merge_collectives(late, nodes(late, {"ag_a", "ag_b"}));
  ASSERT_FALSE(edit);
  EXPECT_EQ(edit.error().message,
            "r uses the result of one member before w computes the input of another");
}

TEST(Merge, OnlyABucketThatIsSplitIntoItsMembersCanBeSplit) {
  const auto refusal = [](std::string_view text, const char* bucket) {
    const Graph graph = parse(text);
    const auto edit = split_collective(graph, graph.find(bucket));
    return edit ? std::string() : edit.error().message;
  };
  EXPECT_THAT(refusal(R"(
    group dp: 0 1
    a: f32[8] = input
    b: f32[2] = input
    c: f32[10] = aten.cat([a, b])
    ar: f32[10] = _c10d_functional.all_reduce(c, 'sum', 'dp')
    w: f32[10] = _c10d_functional.wait_tensor(ar)
    s: (f32[2], f32[8]) = aten.split_with_sizes(w, [2, 8])
    p: f32[2] = s[0]
    q: f32[8] = s[1]
    vp: f32[2] = aten.view(p, [2])
    vq: f32[8] = aten.view(q, [8])
    return [vp, vq]
  )",
                      "ar"),
              HasSubstr("ar is not a bucket"));
  // One piece for each rank, not for each member.
  EXPECT_THAT(refusal(R"(
    group dp: 0 1
    a: f32[4] = input
    b: f32[4] = input
    c: f32[8] = aten.cat([a, b])
    ag: f32[16] = _c10d_functional.all_gather_into_tensor(c, 2, 'dp')
    w: f32[16] = _c10d_functional.wait_tensor(ag)
    v: f32[16] = aten.view(w, [16])
    s: (f32[8], f32[8]) = aten.split_with_sizes(v, [8, 8])
    p: f32[8] = s[0]
    q: f32[8] = s[1]
    cp: f32[8] = aten.clone(p)
    cq: f32[8] = aten.clone(q)
    vp: f32[8] = aten.view(cp, [8])
    vq: f32[8] = aten.view(cq, [8])
    return [vp, vq]
  )",
                      "ag"),
              HasSubstr("ag is not a bucket"));
}

TEST(Merge, SplittingRestoresTheCollectives) {
  for (const std::string_view text : {kGathers, kScatters}) {
    Graph graph = parse(text);
    const Graph before = graph;
    std::vector<NodeId> starts;
    for (const NodeId id : graph.order())
      if (const Node& n = graph.node(id); graph.is_collective_start(n) && graph.name(id) != "ag_t")
        starts.push_back(id);
    must_apply(graph, merge_collectives(graph, starts));
    NodeId bucket;
    for (const NodeId id : graph.order())
      if (graph.is_collective_start(graph.node(id)) && graph.name(id) != "ag_t") bucket = id;
    must_apply(graph, split_collective(graph, bucket));
    // The same except for the names of starts.
    std::vector<std::string> packets, expected;
    const auto collect = [](const Graph& g, std::vector<std::string>& out) {
      for (const NodeId id : g.order()) out.emplace_back(g.target(g.node(id)));
      std::sort(out.begin(), out.end());
    };
    collect(graph, packets);
    collect(before, expected);
    EXPECT_EQ(packets, expected);
    for (const char* wait : {"wt_a", "wt_b"}) {
      const Node& start = graph.node(graph.inputs(node(graph, wait)).front());
      EXPECT_EQ(graph.name(graph.inputs(start).front()), wait == std::string("wt_a") ? "a" : "b");
    }
  }
}

TEST(Merge, ACoalescedCollectiveIsSplit) {
  Graph graph = parse(R"(
    group dp: 0 1
    a: f32[8] = input
    b: f32[2] = input
    ag: (f32[16], f32[4]) = _c10d_functional.all_gather_into_tensor_coalesced([a, b], 2, 'dp')
    ga: f32[16] = ag[0]
    wa: f32[16] = _c10d_functional.wait_tensor(ga)
    gb: f32[4] = ag[1]
    wb: f32[4] = _c10d_functional.wait_tensor(gb)
    return [wa, wb]
  )");
  must_apply(graph, split_collective(graph, graph.find("ag")));
  EXPECT_THAT(calls_with_operators(graph),
              ElementsAre("all_gather_into_tensor _c10d_functional.all_gather_into_tensor",
                          "all_gather_into_tensor_1 _c10d_functional.all_gather_into_tensor",
                          "wa _c10d_functional.wait_tensor", "wb _c10d_functional.wait_tensor"));
  const Graph keywords = parse(R"(
    group dp: 0 1
    a: f32[2] = input
    b: f32[2] = input
    c: (f32[4], f32[4]) = _c10d_functional.all_gather_into_tensor_coalesced([a, b], group_name='dp')
    ga: f32[4] = c[0]
    wa: f32[4] = _c10d_functional.wait_tensor(ga)
    return [wa]
  )");
  const auto edit = split_collective(keywords, keywords.find("c"));
  ASSERT_FALSE(edit);
  EXPECT_EQ(edit.error().message, "c has keyword arguments, which a split would drop");
}

TEST(Merge, RefusesCollectivesThatDiffer) {
  const Graph graph = parse(kGathers);
  const auto refusal = [&](std::initializer_list<const char*> names) {
    const auto edit = merge_collectives(graph, nodes(graph, names));
    EXPECT_FALSE(edit);
    return edit ? std::string() : edit.error().message;
  };
  EXPECT_EQ(refusal({"ag_a"}), "a bucket needs at least two collectives");
  EXPECT_EQ(refusal({"ag_a", "ag_t"}),
            "ag_a and ag_t belong to different process groups: all members of a bucket must have "
            "the same group");
  EXPECT_THAT(refusal({"ag_a", "r"}),
              HasSubstr("r (aten.relu.default) cannot be merged or split: expected all_gather"));
  Graph unknown = graph;
  unknown.node(unknown.find("a")).value = {};
  EXPECT_EQ(split_collective(unknown, unknown.find("ag_a")).error().message,
            "ag_a cannot be merged or split: its input a is not a single tensor of known shape");
  const Graph chained = parse(R"(
    group dp: 0 1
    a: f32[4] = input
    ag1: f32[8] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')
    w1: f32[8] = _c10d_functional.wait_tensor(ag1)
    r: f32[8] = aten.relu(w1)
    ag2: f32[16] = _c10d_functional.all_gather_into_tensor(r, 2, 'dp')
    w2: f32[16] = _c10d_functional.wait_tensor(ag2)
    return [w2]
  )");
  EXPECT_EQ(merge_collectives(chained, nodes(chained, {"ag1", "ag2"})).error().message,
            "r uses the result of one member before r computes the input of another");
  EXPECT_THAT(split_collective(chained, chained.find("ag1")).error().message,
              HasSubstr("ag1 is not a bucket"));
}

TEST(Carry, TheChainsBeforeAStartAndAfterAWait) {
  const Graph graph = parse(R"(
    group dp: 0 1
    w: f32[8,8] = parameter
    x: bf16[4,8] = input
    c: bf16[8,8] = prims.convert_element_type(w, bf16)
    v: bf16[64] = aten.view(c, [64])
    ag: bf16[128] = _c10d_functional.all_gather_into_tensor(v, 2, 'dp')
    r: bf16[4,8] = aten.relu(x)
    wt: bf16[128] = _c10d_functional.wait_tensor(ag)
    u: bf16[16,8] = aten.view(wt, [16, 8])
    t: bf16[8,16] = aten.t(u)
    mm: bf16[4,16] = aten.mm(r, t)
    return [mm]
  )");
  const Carried feeds = carry(graph, graph.find("ag"), Direction::earlier);
  EXPECT_EQ(feeds.block, nodes(graph, {"c", "v", "ag"}));
  EXPECT_EQ(feeds.sentence, "Also moved c and v, which feed the moved node.");
  const Carried reads = carry(graph, graph.find("wt"), Direction::later);
  EXPECT_EQ(reads.block, nodes(graph, {"wt", "u", "t"}));
  EXPECT_EQ(reads.sentence, "Also moved u and t, which read the moved node.");
  EXPECT_TRUE(carry(graph, graph.find("r"), Direction::earlier).sentence.empty());
  const auto edit = move_edit(graph, reads.block, graph.find("mm"));
  ASSERT_TRUE(edit);
  EXPECT_EQ(edit->title, "Move wt and 2 nodes 0 positions later");
}

TEST(Moves, ReorderingWithinAGroupIsFlagged) {
  Graph graph = parse(kGathers);
  const auto edit = move_edit(graph, nodes(graph, {"ag_b"}), graph.find("ag_a"));
  ASSERT_TRUE(edit);
  EXPECT_EQ(edit->title, "Move ag_b 2 positions earlier");
  EXPECT_THAT(edit->notes, ElementsAre("Every rank must do the same: the collectives of group dp "
                                       "then start in a different order."));
  const auto starts = collective_starts(graph);
  must_apply(graph, edit);
  EXPECT_EQ(rank_notes(graph, starts), edit->notes);
  // Moving over a collective of another group needs no agreement between ranks.
  EXPECT_TRUE(move_edit(graph, nodes(graph, {"ag_t"}), graph.find("ag_a"))->notes.size() == 0);
}

TEST(Replace, AnotherOperatorThatReturnsTheSame) {
  Graph graph = parse(kGathers);
  must_apply(graph, replace_call(graph, graph.find("r"), "aten.silu.default"));
  must_apply(graph, replace_call(graph, graph.find("v"), "aten.reshape.default"));
  EXPECT_EQ(graph.target(node(graph, "v")), "aten.reshape.default");
  const auto refusal = [&](const char* name, const char* target) {
    const auto edit = replace_call(graph, graph.find(name), target);
    EXPECT_FALSE(edit) << name << " " << target;
    return edit ? std::string() : edit.error().message;
  };
  EXPECT_EQ(refusal("r", "aten.mm.default"),
            "aten.mm.default needs the argument `mat2`, which r "
            "does not pass");
  EXPECT_THAT(refusal("y", "aten.eq.Tensor"), HasSubstr("is not known to return the shape"));
  EXPECT_EQ(refusal("v", "aten.view.dtype"),
            "aten.view.dtype accepts ScalarType as `dtype`, but v passes another type");
  EXPECT_THAT(refusal("r", "aten.rellu.default"), HasSubstr("is not an operator of torch"));
  EXPECT_THAT(refusal("x", "aten.relu.default"), HasSubstr("x is not a call"));
  EXPECT_THAT(refusal("r", "aten.relu_.default"), HasSubstr("writes to its arguments"));
}

TEST(Replace, NoneOnlyWhereTheOperatorAcceptsIt) {
  Graph graph = parse(R"(
    x: f32[64,64] = input
    s: f32[] = aten.std.correction(x, None)
    return [s]
  )");
  const auto edit = replace_call(graph, graph.find("s"), "aten.std.default");
  ASSERT_FALSE(edit);
  EXPECT_EQ(edit.error().message,
            "aten.std.default accepts bool as `unbiased`, but s passes another type");
  must_apply(graph, replace_call(graph, graph.find("s"), "aten.std.dim"));
}

TEST(Replace, AListOfViewsWithAListOfCopies) {
  Graph graph = parse(R"(
    x: f32[64,64] = input
    r: f32[64,64] = aten.relu(x)
    s: (f32[32,64], f32[32,64]) = aten.split.Tensor(r, 32)
    a: f32[32,64] = _operator.getitem(s, 0)
    y: f32[32,64] = aten.neg(a)
    return [y]
  )");
  must_apply(graph, replace_call(graph, graph.find("s"), "aten.split_copy.Tensor"));
  EXPECT_EQ(graph.target(node(graph, "s")), "aten.split_copy.Tensor");
  EXPECT_FALSE(replace_call(graph, graph.find("a"), "aten.split_copy.Tensor"));
}

// A copy has its own memory and a view that of its argument, both in the graph and in the written
// file.
TEST(Replace, AViewThatBecomesACopyTakesMemory) {
  Graph graph = parse(R"(
    x: f32[64,64] = input
    r: f32[64,64] = aten.relu(x)
    v: f32[4096] = aten.view(r, [4096])
    w: f32[64,64] = aten.view(v, [64, 64])
    y: f32[64,64] = aten.neg(w)
    return [y]
  )");
  const auto storage = [&](const char* name) {
    return graph.real_storage(graph.tensors(graph.find(name)).front().storage);
  };
  const auto peak_as_read = [&] {
    const auto again = read_native("edited", PaddedBytes(write_native(graph)));
    EXPECT_TRUE(again);
    return MemoryTimeline(*again).peak_bytes();
  };
  must_apply(graph, replace_call(graph, graph.find("v"), "aten.view_copy.default"));
  EXPECT_NE(storage("v"), storage("r"));
  EXPECT_EQ(storage("w"), storage("v"));
  EXPECT_EQ(MemoryTimeline(graph).peak_bytes(), peak_as_read());
  must_apply(graph, replace_call(graph, graph.find("v"), "aten.view.default"));
  EXPECT_EQ(storage("v"), storage("r"));
  EXPECT_EQ(storage("w"), storage("r"));
  EXPECT_EQ(MemoryTimeline(graph).peak_bytes(), peak_as_read());
}

}  // namespace
}  // namespace jointer::test

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cost/node_flops.h"
#include "core/graph/validate.h"
#include "passes/symm_mem/strides.h"
#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Property;
using ::testing::Throws;

constexpr std::string_view kPass = "async_tensor_parallel";

std::vector<std::string> targets(const Graph& graph) {
  std::vector<std::string> found;
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call) {
      std::string_view target = graph.target(graph.node(id));
      target.remove_prefix(target.find('.') + 1);
      found.emplace_back(target.substr(0, target.find('.')));
    }
  return found;
}

NodeId call_of(const Graph& graph, std::string_view part) {
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call &&
        graph.target(graph.node(id)).find(part) != std::string_view::npos)
      return id;
  return {};
}

std::int64_t number(const Graph& graph, NodeId id, std::string_view name) {
  return graph.argument(graph.node(id), name)->integer;
}

std::vector<std::int64_t> strides_of(const Graph& graph, const Tensor& t) {
  std::vector<std::int64_t> strides;
  for (const Dim& stride : graph.stride(t)) strides.push_back(stride.value);
  return strides;
}

// Rows of x are gathered, and two products read them.
constexpr std::string_view kGather = R"(
  group tp: 0 1
  x: bf16[8,16] = input
  w: bf16[16,4] = parameter
  v: bf16[16,6] = parameter
  ag: bf16[16,16] = _c10d_functional.all_gather_into_tensor(x, 2, 'tp')
  full: bf16[16,16] = _c10d_functional.wait_tensor(ag)
  late: bf16[16,6] = aten.mul.Tensor(v, v)
  a: bf16[16,4] = aten.mm(full, w)
  b: bf16[16,6] = aten.mm(full, late)
)";

TEST(AsyncTensorParallel, FusesGatherAndProducts) {
  const StepResult step = run_pass(parse(std::string(kGather) + "  return [a, b]\n"), kPass);
  const Graph& graph = *step.graph;
  ASSERT_TRUE(validate(graph));
  // The inputs of the products precede them; the gathered rows are not returned.
  EXPECT_THAT(targets(graph),
              ElementsAre("inductor_force_stride_order", "mul", "fused_all_gather_matmul",
                          "getitem", "getitem", "getitem"));
  const NodeId fused = call_of(graph, "fused");
  EXPECT_EQ(graph.name(fused), "fused_all_gather_matmul_default");
  EXPECT_EQ(number(graph, fused, "gather_dim"), 0);
  EXPECT_EQ(number(graph, fused, "return_A"), 0);
  EXPECT_EQ(graph.children(*graph.argument(graph.node(fused), "Bs")).size(), 2U);
  EXPECT_EQ(graph.tensors(fused).size(), 2U);
  EXPECT_EQ(graph.group_label(graph.node(fused).group), "tp");
  EXPECT_THAT(reason_of(step, graph.name(fused), "fused"), HasSubstr("ag and the 2 matmuls"));
}

TEST(AsyncTensorParallel, ReturnsOtherResultsThatAreRead) {
  const StepResult step = run_pass(parse(std::string(kGather) + R"(
  more: bf16[16,16] = aten.relu(full)
  return [a, b, more]
)"),
                                   kPass);
  const Graph& graph = *step.graph;
  const NodeId fused = call_of(graph, "fused"), relu = call_of(graph, "relu");
  EXPECT_EQ(number(graph, fused, "return_A"), 1);
  EXPECT_EQ(graph.tensors(fused).size(), 3U);
  EXPECT_EQ(graph.tensors(graph.inputs(relu)[0])[0].storage, graph.tensors(fused)[0].storage);
}

// [2, 4, 8] per rank, gathered along the second dimension.
constexpr std::string_view kSequence = R"(
  group tp: 0 1
  x: bf16[2,4,8] = input
  w: bf16[8,6] = parameter
  ag: bf16[4,4,8] = _c10d_functional.all_gather_into_tensor(x, 2, 'tp')
  got: bf16[4,4,8] = _c10d_functional.wait_tensor(ag)
  s: (bf16[2,4,8], bf16[2,4,8]) = aten.split.Tensor(got, 2)
  s0: bf16[2,4,8] = s[0]
  s1: bf16[2,4,8] = s[1]
  full: bf16[2,8,8] = aten.cat([s0, s1], 1)
  flat: bf16[16,8] = aten.reshape(full, [16, 8])
  mm: bf16[16,6] = aten.mm(flat, w)
  y: bf16[2,8,6] = aten.reshape(mm, [2, 8, 6])
)";

TEST(AsyncTensorParallel, GathersAlongTheSequence) {
  const StepResult step = run_pass(parse(std::string(kSequence) + R"(
  back: bf16[16,6] = aten.reshape(y, [16, 6])
  out: bf16[16,6] = aten.relu(back)
  return [out]
)"),
                                   kPass);
  const Graph& graph = *step.graph;
  EXPECT_THAT(targets(graph), ElementsAre("inductor_force_stride_order", "fused_all_gather_matmul",
                                          "getitem", "getitem", "reshape", "relu"));
  const NodeId fused = call_of(graph, "fused"), force = call_of(graph, "force"),
               reshape = call_of(graph, "reshape");
  EXPECT_EQ(number(graph, fused, "gather_dim"), 1);
  // Rows of the sequence are adjacent, so that a rank's part is dense.
  EXPECT_THAT(strides_of(graph, graph.tensors(force)[0]), ElementsAre(8, 16, 1));
  EXPECT_NE(graph.tensors(force)[0].storage, graph.tensors(graph.find("x"))[0].storage);
  const Tensor& y = graph.tensors(fused)[0];
  EXPECT_THAT(strides_of(graph, y), ElementsAre(6, 12, 1));
  // It has no view as [16, 6].
  EXPECT_NE(graph.tensors(reshape)[0].storage, y.storage);
}

TEST(AsyncTensorParallel, ReturnsTheProductItselfIfItIsRead) {
  const StepResult step = run_pass(parse(std::string(kSequence) + R"(
  other: bf16[16,6] = aten.relu(mm)
  return [y, other]
)"),
                                   kPass);
  EXPECT_THAT(targets(*step.graph),
              ElementsAre("inductor_force_stride_order", "fused_all_gather_matmul", "getitem",
                          "getitem", "reshape", "relu"));
}

TEST(AsyncTensorParallel, KeepsNarrowProducts) {
  const auto gather = [](std::int64_t columns) {
    return fmt::format(R"(
  group tp: 0 1
  x: bf16[4,{0}] = input
  w: bf16[{1},6] = parameter
  ag: bf16[8,{0}] = _c10d_functional.all_gather_into_tensor(x, 2, 'tp')
  got: bf16[8,{0}] = _c10d_functional.wait_tensor(ag)
  s: (bf16[4,{0}], bf16[4,{0}]) = aten.split.Tensor(got, 4)
  s0: bf16[4,{0}] = s[0]
  s1: bf16[4,{0}] = s[1]
  full: bf16[4,{1}] = aten.cat([s0, s1], 1)
  y: bf16[4,6] = aten.mm(full, w)
  return [y]
)",
                       columns, 2 * columns);
  };
  const StepResult few = run_pass(parse(gather(1023)), kPass);
  EXPECT_THAT(reason_of(few, "ag", "kept"), HasSubstr("fewer than 1024 columns"));
  const StepResult many = run_pass(parse(gather(1024)), kPass);
  EXPECT_THAT(targets(*many.graph), ElementsAre("fused_all_gather_matmul", "getitem", "getitem"));
}

constexpr std::string_view kScatter = R"(
  group tp: 0 1
  x: bf16[2,8,16] = input
  w: bf16[16,6] = parameter
  flat: bf16[16,16] = aten.reshape(x, [16, 16])
  mm: bf16[16,6] = aten.mm(flat, w)
  y: bf16[2,8,6] = aten.reshape(mm, [2, 8, 6])
  s: (bf16[2,4,6], bf16[2,4,6]) = aten.split.Tensor(y, 4, 1)
  s0: bf16[2,4,6] = s[0]
  s1: bf16[2,4,6] = s[1]
  rows: bf16[4,4,6] = aten.cat([s0, s1])
  rs: bf16[2,4,6] = _c10d_functional.reduce_scatter_tensor(rows, 'sum', 2, 'tp')
  out: bf16[2,4,6] = _c10d_functional.wait_tensor(rs)
)";

TEST(AsyncTensorParallel, FusesProductAndScatter) {
  const StepResult step = run_pass(parse(std::string(kScatter) + R"(
  end: bf16[2,4,6] = aten.relu(out)
  return [end]
)"),
                                   kPass);
  const Graph& graph = *step.graph;
  EXPECT_THAT(targets(graph),
              ElementsAre("inductor_force_stride_order", "fused_matmul_reduce_scatter", "relu"));
  const NodeId fused = call_of(graph, "fused");
  EXPECT_EQ(number(graph, fused, "scatter_dim"), 1);
  EXPECT_EQ(graph.text(graph.argument(graph.node(fused), "reduce_op")->text()), "sum");
  EXPECT_THAT(strides_of(graph, graph.tensors(fused)[0]), ElementsAre(24, 6, 1));
  EXPECT_THAT(strides_of(graph, graph.tensors(call_of(graph, "force"))[0]), ElementsAre(16, 32, 1));
}

TEST(AsyncTensorParallel, KeepsWhatIsSavedBeforeItsWait) {
  const StepResult step = run_pass(parse(std::string(kScatter) + R"(
  end: bf16[2,4,6] = aten.relu(out)
  return [end, rs]
)"),
                                   kPass);
  EXPECT_THAT(targets(*step.graph), Not(::testing::Contains("reduce_scatter_tensor")));
}

TEST(AsyncTensorParallel, KeepsAProductWithOtherReaders) {
  const StepResult step = run_pass(parse(std::string(kScatter) + R"(
  end: bf16[2,8,6] = aten.relu(y)
  return [out, end]
)"),
                                   kPass);
  EXPECT_THAT(reason_of(step, "rs", "kept"), HasSubstr("other calls also read"));
}

// A product whose rows are not those that its reshape folds has no fused form.
TEST(AsyncTensorParallel, KeepsOtherReshapes) {
  const StepResult step = run_pass(parse(R"(
  group tp: 0 1
  x: bf16[16,4,4] = input
  w: bf16[16,6] = parameter
  flat: bf16[16,16] = aten.reshape(x, [16, 16])
  mm: bf16[16,6] = aten.mm(flat, w)
  y: bf16[2,8,6] = aten.reshape(mm, [2, 8, 6])
  rs: bf16[1,8,6] = _c10d_functional.reduce_scatter_tensor(y, 'sum', 2, 'tp')
  out: bf16[1,8,6] = _c10d_functional.wait_tensor(rs)
  return [out]
)"),
                                   kPass);
  EXPECT_THAT(reason_of(step, "rs", "kept"), HasSubstr("not the result of a matmul"));
}

constexpr std::string_view kScaled = R"(
  group tp: 0 1
  x: f8e4m3fn[8,16] = input
  w: f8e4m3fn[16,4] = parameter
  p: f32[] = input
  q: f32[] = input
  ag: f8e4m3fn[16,16] = _c10d_functional.all_gather_into_tensor(x, 2, 'tp')
  full: f8e4m3fn[16,16] = _c10d_functional.wait_tensor(ag)
  mm: bf16[16,4] = aten._scaled_mm(full, w, p, q, None, None, bf16, True)
  rs: bf16[8,4] = _c10d_functional.reduce_scatter_tensor(mm, 'avg', 2, 'tp')
  out: bf16[8,4] = _c10d_functional.wait_tensor(rs)
  return [out]
)";

TEST(AsyncTensorParallel, FusesProductsWithScales) {
  const StepResult step = run_pass(parse(kScaled), kPass);
  const Graph& graph = *step.graph;
  // The product runs with the gather, which comes first.
  EXPECT_THAT(targets(graph),
              ElementsAre("inductor_force_stride_order", "fused_all_gather_scaled_matmul",
                          "getitem", "getitem", "reduce_scatter_tensor", "wait_tensor"));
  const NodeId fused = call_of(graph, "fused");
  EXPECT_EQ(graph.args(graph.node(fused)).size(), 10U);
  EXPECT_EQ(graph.children(*graph.argument(graph.node(fused), "use_fast_accum"))[0].integer, 1);
  EXPECT_EQ(graph.children(*graph.argument(graph.node(fused), "biases"))[0].kind,
            Argument::Kind::none);
  EXPECT_THAT(reason_of(step, "rs", "kept"), HasSubstr("not the result of a matmul"));
}

TEST(AsyncTensorParallel, ScattersProductsWithScales) {
  const StepResult step = run_pass(parse(R"(
  group tp: 0 1
  x: f8e4m3fn[2,8,16] = input
  w: f8e4m3fn[16,4] = parameter
  p: f32[] = input
  q: f32[] = input
  flat: f8e4m3fn[16,16] = aten.reshape(x, [16, 16])
  mm: bf16[16,4] = aten._scaled_mm(flat, w, p, q, None, None, bf16)
  y: bf16[2,8,4] = aten.reshape(mm, [2, 8, 4])
  a: bf16[2,4,4] = aten.slice.Tensor(y, 1, 0, 4)
  b: bf16[2,4,4] = aten.slice.Tensor(y, 1, 4, 8)
  rows: bf16[4,4,4] = aten.cat([a, b])
  rs: bf16[2,4,4] = _c10d_functional.reduce_scatter_tensor(rows, 'sum', 2, 'tp')
  out: bf16[2,4,4] = _c10d_functional.wait_tensor(rs)
  return [out]
)"),
                                   kPass);
  const Graph& graph = *step.graph;
  EXPECT_THAT(targets(graph), ElementsAre("reshape", "inductor_force_stride_order",
                                          "fused_scaled_matmul_reduce_scatter"));
  const NodeId fused = call_of(graph, "fused");
  EXPECT_EQ(number(graph, fused, "orig_scatter_dim"), 1);
  EXPECT_EQ(number(graph, fused, "scatter_dim_after_maybe_reshape"), 0);
  EXPECT_EQ(graph.children(*graph.argument(graph.node(fused), "output_shape")).size(), 3U);
  // The reshape has the requested strides: nothing is copied.
  EXPECT_EQ(graph.tensors(call_of(graph, "force"))[0].storage,
            graph.tensors(call_of(graph, "reshape"))[0].storage);
}

// Slices of a gathered tensor, whose padding is removed.
TEST(AsyncTensorParallel, SupportsSlices) {
  const StepResult step = run_pass(parse(R"(
  group tp: 0 1
  x: bf16[2,4,8] = input
  w: bf16[8,6] = parameter
  ag: bf16[4,4,8] = _c10d_functional.all_gather_into_tensor(x, 2, 'tp')
  got: bf16[4,4,8] = _c10d_functional.wait_tensor(ag)
  a: bf16[2,4,8] = aten.slice.Tensor(got, 0, 0, 2)
  b: bf16[2,4,8] = aten.slice.Tensor(got, 0, 2, 4)
  full: bf16[2,8,8] = aten.cat([a, b], 1)
  flat: bf16[16,8] = aten.reshape(full, [16, 8])
  mm: bf16[16,6] = aten.mm(flat, w)
  y: bf16[2,8,6] = aten.reshape(mm, [2, 8, 6])
  return [y]
)"),
                                   kPass);
  EXPECT_THAT(targets(*step.graph), ElementsAre("inductor_force_stride_order",
                                                "fused_all_gather_matmul", "getitem", "getitem"));
}

// Weights in a bucket's buffer: the call that fills it moves along, unlike upstream, which leaves
// it behind.
TEST(AsyncTensorParallel, MovesTheWriterOfTheWeights) {
  const StepResult step = run_pass(parse(R"(
  group tp: 0 1
  x: bf16[8,16] = input
  given: bf16[16,4] = parameter
  ag: bf16[16,16] = _c10d_functional.all_gather_into_tensor(x, 2, 'tp')
  full: bf16[16,16] = _c10d_functional.wait_tensor(ag)
  room: bf16[16,4] = aten.empty.memory_format([16, 4])
  w: bf16[16,4] = aten.view(room, [16, 4])
  filled: bf16[16,4] = aten.copy_(room, given)
  a: bf16[16,4] = aten.mm(full, w)
  return [a]
)"),
                                   kPass);
  EXPECT_THAT(targets(*step.graph),
              ElementsAre("inductor_force_stride_order", "empty", "view", "copy_",
                          "fused_all_gather_matmul", "getitem", "getitem"));
}

TEST(AsyncTensorParallel, FusesTheGivenGroups) {
  const Graph graph = parse("  group dp: 0 2\n" + std::string(kGather) + "  return [a, b]\n");
  const StepResult other = run_pass(graph, "async_tensor_parallel{groups=[dp]}");
  EXPECT_THAT(reason_of(other, "ag", "kept"), HasSubstr("not in `groups`"));
  const StepResult own = run_pass(graph, "async_tensor_parallel{groups=[tp]}");
  EXPECT_TRUE(call_of(*own.graph, "fused"));
}

TEST(AsyncTensorParallel, RefusesUnknownGroups) {
  EXPECT_THAT(
      [] {
        run_pass(parse(std::string(kGather) + "  return [a, b]\n"),
                 "async_tensor_parallel{groups=[pt]}");
      },
      Throws<std::runtime_error>(Property(
          &std::runtime_error::what,
          HasSubstr("groups: expected a process group in the graph, got `pt`; the graph has tp"))));
}

TEST(AsyncTensorParallel, NamesThePassThatMakesViewsReshapes) {
  const std::string text = R"(
  group tp: 0 1
  x: bf16[4,2,16] = input
  w: bf16[16,4] = parameter
  ag: bf16[8,2,16] = _c10d_functional.all_gather_into_tensor(x, 2, 'tp')
  full: bf16[8,2,16] = _c10d_functional.wait_tensor(ag)
  rows: bf16[16,16] = aten.view(full, [16, 16])
  a: bf16[16,4] = aten.mm(rows, w)
  y: bf16[8,2,4] = aten.view(a, [8, 2, 4])
  return [y]
)";
  const StepResult traced = run_pass(parse(text), kPass);
  EXPECT_THAT(reason_of(traced, "", "kept"), HasSubstr("Run canonicalize_graph first"));
  const StepResult after = run_pass(parse(text), "canonicalize_graph,async_tensor_parallel");
  EXPECT_TRUE(call_of(*after.graph, "fused_all_gather_matmul"));
  EXPECT_EQ(reason_of(after, "", "kept"), "");
}

TEST(AsyncTensorParallel, KeepsCollectivesThatAProductHides) {
  const Graph graph = parse(R"(
  group tp: 0 1
  x: bf16[8,16] = input
  w: bf16[16,4] = parameter
  ag: bf16[16,16] = _c10d_functional.all_gather_into_tensor(x, 2, 'tp')
  full: bf16[16,16] = _c10d_functional.wait_tensor(ag)
  a: bf16[16,4] = aten.mm(full, w)
  free: bf16[8,4] = aten.mm(x, w)
  return [a, free]
)");
  EXPECT_TRUE(call_of(*run_pass(graph, kPass).graph, "fused"));
  const StepResult hidden = run_pass(graph, "async_tensor_parallel{prefer_overlap=true}");
  EXPECT_FALSE(call_of(*hidden.graph, "fused"));
  EXPECT_THAT(reason_of(hidden, "ag", "kept"), HasSubstr("can hide it"));
}

// The fused call takes the time of the products or of the collective, whichever is longer, in one
// lane.
TEST(AsyncTensorParallel, TakesTheTimeOfItsParts) {
  const Graph graph = parse(std::string(kScatter) + "  return [out]\n");
  PassContext::Options options = simple_costs();
  options.analysis.estimator.name = "simple{coll_us=0,coll_gbs=1,tflops=0.001,mem_gbs=1000}";
  const StepResult step = run_pass(graph, kPass, options);
  const auto estimator = make_estimator(options.analysis.estimator);
  ASSERT_TRUE(estimator);
  const NodeCost cost = (*estimator)->estimate(*step.graph, call_of(*step.graph, "fused"));
  EXPECT_EQ(cost.lane, NodeCost::Lane::compute);
  // 2 * 16 * 16 * 6 FLOPs are 3,072 ns, half of them alone and half in parallel with 192 ns for 192
  // B.
  EXPECT_EQ(cost.ns, 3072);
  EXPECT_EQ(graph_flops(*step.graph).total, graph_flops(graph).total);
  // The transfer takes longer: half a product, then 19,200 ns for 192 B.
  options.analysis.estimator.name = "simple{coll_us=0,coll_gbs=0.01,tflops=0.001,mem_gbs=1000}";
  const auto slow = make_estimator(options.analysis.estimator);
  ASSERT_TRUE(slow);
  EXPECT_EQ((*slow)->estimate(*step.graph, call_of(*step.graph, "fused")).ns, 1536 + 19200);
}

// --- Strides ---

std::vector<Dim> dims(std::initializer_list<std::int64_t> values) {
  std::vector<Dim> all;
  for (const std::int64_t value : values) all.push_back({.value = value, .expression = {}});
  return all;
}

TEST(DenseAlong, KeepsDenseStrides) {
  // A leading dimension of one: its stride makes no difference.
  EXPECT_EQ(dense_along(dims({1, 8, 4}), dims({32, 4, 1}), 1), dims({32, 4, 1}));
  EXPECT_EQ(dense_along(dims({2, 8, 4}), dims({32, 4, 1}), 1), dims({4, 8, 1}));
  EXPECT_EQ(dense_along(dims({2, 8, 4}), dims({32, 4, 1}), -1), dims({8, 1, 16}));
  EXPECT_EQ(dense_along(dims({2, 8}), dims({8, 1}), 2), std::nullopt);
}

TEST(DenseAlong, RefusesProductsOfSymbols) {
  std::vector<Dim> shape = dims({2, 8, 4});
  shape[2].expression = ExpressionId(std::size_t{0});
  EXPECT_EQ(dense_along(shape, {}, 0), std::nullopt);
  shape[2].expression = {};
  shape[0].expression = ExpressionId(std::size_t{0});
  EXPECT_TRUE(dense_along(shape, {}, 0));
}

TEST(CanView, EqualsTorch) {
  EXPECT_TRUE(can_view(dims({2, 8, 4}), dims({32, 4, 1}), dims({16, 4})));
  EXPECT_FALSE(can_view(dims({2, 8, 4}), dims({4, 8, 1}), dims({16, 4})));
  EXPECT_TRUE(can_view(dims({1, 8, 4}), dims({4, 4, 1}), dims({8, 4})));
  EXPECT_TRUE(can_view(dims({2, 8, 4}), dims({4, 8, 1}), dims({2, 8, 2, 2})));
  EXPECT_TRUE(can_view(dims({2, 0}), dims({1, 1}), dims({0})));
}

}  // namespace
}  // namespace jointer::test

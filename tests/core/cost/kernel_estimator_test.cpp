// The estimator `kernels`: which rule a call follows, and its times compared with those of an H100.

#include "core/cost/kernel_estimator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "core/cost/kernel_rules.h"
#include "core/open/open.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

std::unique_ptr<Estimator> kernels_on(std::string device) {
  return must(make_estimator({.name = "kernels", .device = std::move(device)}));
}

double ns_on_h100(const Graph& graph, const char* name) {
  return static_cast<double>(kernels_on("h100")->estimate(graph, graph.find(name)).ns);
}

double loop_on_h100(std::initializer_list<std::pair<AccessPattern, double>> moved,
                    LoopWork::Kind kind = LoopWork::Kind::element_wise) {
  LoopWork work{.kind = kind};
  for (const auto& [pattern, bytes] : moved) work.add(pattern, bytes);
  return loop_time(must(load_device("h100")), work).ns;
}

constexpr double kMega = 1 << 20;

TEST(KernelEstimator, TransposedInputsAreStrided) {
  const Graph graph = parse(R"(
    x: f32[4096,4096] = input
    y: f32[4096,4096] = input
    t: f32[4096,4096][1,4096] = aten.t(y)
    b: f32[4096] = input
    wide: f32[4096,8192] = input
    every: f32[4096,4096][8192,2] = aten.slice.Tensor(wide, 1, 0, 9223372036854775807, 2)
    plain: f32[4096,4096] = aten.add.Tensor(x, y)
    crossed: f32[4096,4096] = aten.add.Tensor(x, t)
    row: f32[4096,4096] = aten.add.Tensor(x, b)
    second: f32[4096,4096] = aten.add.Tensor(x, every)
    return [plain, crossed, row, second]
  )");
  using enum AccessPattern;
  EXPECT_NEAR(ns_on_h100(graph, "plain"), loop_on_h100({{coalesced, 192 * kMega}}), 1);
  EXPECT_NEAR(ns_on_h100(graph, "crossed"),
              loop_on_h100({{coalesced, 128 * kMega}, {strided, 64 * kMega}}), 1);
  EXPECT_NEAR(ns_on_h100(graph, "row"), loop_on_h100({{coalesced, 128 * kMega + 16384}}), 1);
  EXPECT_NEAR(ns_on_h100(graph, "second"),
              loop_on_h100({{coalesced, 128 * kMega}, {strided, 128 * kMega}}), 1)
      << "each sector is moved for half of its elements";
}

TEST(KernelEstimator, ReductionsAndConversions) {
  const Graph graph = parse(R"(
    x: f32[4096,4096] = input
    h: bf16[4096,4096] = input
    rows: f32[4096] = aten.sum.dim_IntList(x, [1])
    last: f32[4096] = aten.sum.dim_IntList(x, [-1])
    columns: f32[4096] = aten.sum.dim_IntList(x, [0])
    wider: f32[4096,4096] = aten._to_copy(h, dtype=f32)
    narrower: bf16[4096,4096] = aten._to_copy(x, dtype=bf16)
    return [rows, last, columns, wider, narrower]
  )");
  using enum AccessPattern;
  using Kind = LoopWork::Kind;
  const double bytes = 64 * kMega + 16384;
  EXPECT_NEAR(ns_on_h100(graph, "rows"), loop_on_h100({{coalesced, bytes}}, Kind::row_reduction),
              1);
  EXPECT_EQ(ns_on_h100(graph, "last"), ns_on_h100(graph, "rows"));
  EXPECT_NEAR(ns_on_h100(graph, "columns"),
              loop_on_h100({{coalesced, bytes}}, Kind::column_reduction), 1);
  EXPECT_NEAR(ns_on_h100(graph, "wider"), loop_on_h100({{coalesced, 96 * kMega}}, Kind::widening),
              1);
  EXPECT_NEAR(ns_on_h100(graph, "narrower"), loop_on_h100({{coalesced, 96 * kMega}}), 1);
}

TEST(KernelEstimator, ProductsHaveTiles) {
  const Graph graph = parse(R"(
    a: bf16[8192,4096] = input
    b: bf16[4096,2048] = input
    c: bf16[3,512,64] = input
    d: bf16[3,64,512] = input
    mm: bf16[8192,2048] = aten.mm(a, b)
    bmm: bf16[3,512,512] = aten.bmm(c, d)
    return [mm, bmm]
  )");
  const DeviceDescription h100 = must(load_device("h100"));
  const auto product = [&](ProductWork work) {
    work.dtype = DType::bfloat16;
    return product_time(h100, work).ns;
  };
  EXPECT_NEAR(ns_on_h100(graph, "mm"),
              product({.rows = 8192, .columns = 2048, .k = 4096, .bytes = 112 * kMega}), 1);
  EXPECT_NEAR(ns_on_h100(graph, "bmm"),
              product({.batch = 3, .rows = 512, .columns = 512, .k = 64, .bytes = 1.875 * kMega}),
              1);
}

TEST(KernelEstimator, CausalAttentionComputesHalf) {
  const auto ns = [](const char* causal) {
    const Graph graph = parse(
        fmt::format("q: bf16[1,32,8192,128] = input\ny: (bf16[1,32,8192,128], f32[1,32,8192]) = "
                    "aten._scaled_dot_product_flash_attention(q, q, q, 0.0, {})\nreturn [q]",
                    causal));
    return ns_on_h100(graph, "y");
  };
  AttentionWork work{.flops = 2.0 * 32 * 8192 * 8192 * 128,
                     .head_size = 128,
                     .tokens = 8192,
                     .is_causal = true,
                     .dtype = DType::bfloat16};
  EXPECT_NEAR(ns("True"), attention_time(must(load_device("h100")), work).ns, 1);
  EXPECT_GT(ns("False"), 1.8 * ns("True"));
  EXPECT_LT(ns("False"), 2 * ns("True")) << "blocks on the diagonal are computed in vain";
}

TEST(KernelEstimator, FlexAttentionHasTokensAfterHeads) {
  const Graph graph = parse(R"(
    q: bf16[1,8,4096,128] = input
    o: bf16[1,8,4096,128] = input
    l: f32[1,8,4096] = input
    y: (bf16[1,8,4096,128], f32[1,8,4096]) = flex_attention(q, q, q)
    z: bf16[1,8,4096,128] = flex_attention_backward(q, q, q, o, l, o)
    return [q]
  )");
  const DeviceDescription h100 = must(load_device("h100"));
  constexpr double kProduct = 2.0 * 8 * 4096 * 4096 * 128;
  AttentionWork work{
      .flops = 2 * kProduct, .head_size = 128, .tokens = 4096, .dtype = DType::bfloat16};
  EXPECT_NEAR(ns_on_h100(graph, "y"), attention_time(h100, work).ns, 1);
  work.flops = 5 * kProduct;
  work.is_backward = true;
  EXPECT_NEAR(ns_on_h100(graph, "z"), attention_time(h100, work).ns, 1);
}

TEST(KernelEstimator, EverythingElseIsTheRooflines) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[1024] = input
    cpu: f32[1024]cpu = input
    view: f32[32,32] = aten.view(x, [32, 32])
    up: f32[1024] = aten._to_copy(cpu)
    ar: f32[1024] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    wt: f32[1024] = _c10d_functional.wait_tensor(ar)
    return [wt]
  )");
  const auto kernels = kernels_on("h100");
  const auto roofline = must(make_estimator({.name = "roofline", .device = "h100"}));
  for (const char* name : {"x", "view", "up", "ar", "wt"}) {
    const NodeCost a = kernels->estimate(graph, graph.find(name));
    const NodeCost b = roofline->estimate(graph, graph.find(name));
    EXPECT_EQ(std::tuple(a.lane, a.limit, a.ns, a.host_ns),
              std::tuple(b.lane, b.limit, b.ns, b.host_ns))
        << name;
  }
  EXPECT_EQ(kernels->description(), "kernels, NVIDIA H100 SXM 80 GB, 8 GPUs per node");
  EXPECT_EQ(kernels->latency_ns(graph, graph.find("ar")),
            roofline->latency_ns(graph, graph.find("ar")));
}

TEST(KernelEstimator, NeedsRates) {
  const auto made = make_estimator({.name = "kernels", .device = "cpu{cores=2}"});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().kind, Error::Kind::usage);
  EXPECT_THAT(made.error().message, testing::HasSubstr("calibrate --probe"));
}

// Sums over all calls of an operator in the sample of Llama3-8B, in milliseconds.
std::map<std::string, double> measured_on_h100() {
  std::map<std::string, double> sums;
  std::ifstream file(source_path("tests/benchmarks/operators_on_h100.csv"));
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells.size() != 7 || cells.front() == "target") continue;
    sums[cells.front()] += std::stod(cells.back()) / 1e6;
  }
  return sums;
}

// The largest operators, whose times on an H100 are in docs/performance.md. The rates were fitted
// to these measurements, so this test protects the rules rather than proves them.
TEST(KernelEstimator, IsCloseToAnH100) {
  const Graph graph = must(
      open_graph({.path = source_path("resources/samples/llama_8b_tp2_fsdp2.joint.json.zst")}));
  const std::map<std::string, double> measured = measured_on_h100();
  ASSERT_GT(measured.size(), 10U);
  std::map<std::string, double> estimated;
  double total = 0, measured_total = 0;
  const auto kernels = kernels_on("h100");
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::string target(graph.target(node));
    if (node.kind != NodeKind::call || !measured.contains(target)) continue;
    estimated[target] += static_cast<double>(kernels->estimate(graph, id).ns) / 1e6;
  }
  for (const auto& [target, ms] : measured) {
    total += estimated[target];
    measured_total += ms;
    if (ms < 10) continue;
    EXPECT_NEAR(estimated[target] / ms, 1, 0.2) << target << ": " << ms << " ms";
  }
  EXPECT_NEAR(total / measured_total, 1, 0.05);
}

}  // namespace
}  // namespace jointer::test

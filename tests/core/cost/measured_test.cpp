// The measured estimator: lookup, interpolation and fallback.

#include "core/cost/measured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <thread>

#include "core/bench/calibrate.h"
#include "core/bench/measurement.h"
#include "core/cost/gpu_properties.h"
#include "core/schedule/analysis.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/random_graph.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;
using Limit = NodeCost::Limit;
using Lane = NodeCost::Lane;

std::string work(const Graph& graph, const char* name) {
  std::string text;
  append_work(graph, node(graph, name), text);
  return text;
}

// --- Keys ---

TEST(WorkKey, IdentifiesTheWork) {
  const Graph graph = parse(R"(
    a: bf16[8,64] = input
    b: bf16[64,64] = input
    p: bf16[64,64] = parameter
    c: f32[4]cpu = input
    t: bf16[64,64] = aten.t(b)
    e: bf16[8,64] = aten.expand(a, [8, 64])
    mm: bf16[8,64] = aten.mm(a, b)
    mp: bf16[8,64] = aten.mm(a, p)
    mt: bf16[8,64] = aten.mm(a, t)
    sum: bf16[8,1] = aten.sum.dim_IntList(a, [1], True)
    mean: bf16[8,1] = aten.sum.dim_IntList(a, [0], True)
    half: bf16[8,64] = aten.mul.Tensor(a, 0.5)
    third: bf16[8,64] = aten.mul.Tensor(a, 0.3333)
    square: bf16[8,64] = aten.pow.Tensor_Scalar(a, 2.0)
    root: bf16[8,64] = aten.pow.Tensor_Scalar(a, 0.5)
    up: f32[4] = aten._to_copy(c, dtype=f32)
    cat: bf16[16,64] = aten.cat([a, a])
    s: (bf16[4,64], bf16[4,64]) = aten.split.Tensor(a, 4)
    return [mm]
  )");
  EXPECT_EQ(work(graph, "mm"), "aten.mm.default(bf16[8,64], bf16[64,64])");
  EXPECT_EQ(work(graph, "mm"), work(graph, "mp")) << "the producer of a tensor does not matter";
  EXPECT_NE(work(graph, "sum"), work(graph, "mean")) << "the dimension matters";
  EXPECT_EQ(work(graph, "half"), work(graph, "third")) << "a scale does not matter";
  EXPECT_NE(work(graph, "square"), work(graph, "root")) << "an exponent matters";
  EXPECT_EQ(work(graph, "up"), "aten._to_copy.default(f32[4]@cpu, dtype=float32)");
  EXPECT_EQ(work(graph, "cat"), "aten.cat.default([bf16[8,64], bf16[8,64]])");
}

// A graph with one `aten.relu` of a [4,6] tensor with these strides.
std::string relu_of(std::int64_t row, std::int64_t column) {
  Graph graph;
  const PartId part = graph.add_part({});
  Tensor tensor{.storage = graph.add_storage(part, {1024})};
  tensor.device = graph.intern_device("cuda:0");
  tensor.set(Tensor::has_stride);
  const auto add = [&](const char* name, NodeKind kind, const char* target) {
    const std::array<Dim, 2> shape{Dim{4}, Dim{6}}, stride{Dim{row}, Dim{column}};
    Node n{.name = graph.intern(name), .target = graph.intern_operator(target), .kind = kind};
    n.part = part;
    n.value = Value::of_tensor(graph.add_tensor(tensor, shape, stride, {}));
    return n;
  };
  const NodeId x = graph.add_node(add("x", NodeKind::placeholder, "x"));
  Node relu = add("y", NodeKind::call, "aten.relu.default");
  const Argument argument = Argument::of_node(x);
  relu.args = graph.make_children(Argument::Kind::list, {&argument, 1});
  graph.add_node(relu);
  if (!graph.finish()) throw std::runtime_error("not a graph");
  return work(graph, "y");
}

TEST(WorkKey, StridesAreReducedToLayoutClasses) {
  EXPECT_EQ(relu_of(6, 1), "aten.relu.default(f32[4,6])");
  EXPECT_EQ(relu_of(1, 4), "aten.relu.default(f32[4,6]^1.0)") << "a transposed matrix";
  EXPECT_EQ(relu_of(8, 1), "aten.relu.default(f32[4,6]~0.1)");
  EXPECT_EQ(relu_of(64, 1), relu_of(8, 1)) << "the width of the gaps does not matter";
  EXPECT_EQ(relu_of(0, 1), "aten.relu.default(f32[4,6]~1.0*)") << "expanded";
  EXPECT_NE(relu_of(0, 1), relu_of(1, 0));
}

TEST(WorkKey, IgnoresTheDeviceOfTheGraph) {
  const auto text = [](const char* device) {
    const Graph graph = parse(fmt::format(
        "device {0}\nx: f32[4] = input\ny: f32[4] = aten.full([4], 1)\nz: f32[4] = aten.relu(x)\n"
        "return [y, z]",
        device));
    return work(graph, "y") + work(graph, "z");
  };
  EXPECT_EQ(text("cpu"), text("cuda:0")) << "a graph of a GPU may be run on a CPU";
}

// --- Estimates ---

constexpr std::string_view kStep = R"(
  group tp: 0 1
  group far: 0 8
  x: f32[64,64] = input
  w: f32[64,64] = parameter
  t: f32[64,64] = aten.t(w)
  mm: f32[64,64] = aten.mm(x, t)
  again: f32[64,64] = aten.mm(mm, t)
  ar: f32[64,64] = _c10d_functional.all_reduce(again, 'sum', 'tp')
  r: f32[64,64] = aten.relu(mm)
  wt: f32[64,64] = _c10d_functional.wait_tensor(ar)
  out: f32[64,64] = aten.add.Tensor(wt, r)
  ag: f32[128,64] = _c10d_functional.all_gather_into_tensor(out, 2, 'far')
  wg: f32[128,64] = _c10d_functional.wait_tensor(ag)
  return [wg]
)";

Measurement measurement(const Graph& graph, std::string device_type,
                        const std::vector<std::pair<const char*, std::int64_t>>& times) {
  Measurement m{.label = "test", .device = "NVIDIA H200", .device_type = std::move(device_type)};
  for (const auto& [name, ns] : times)
    m.nodes.push_back({.node = graph.find(name), .start_ns = 0, .end_ns = ns, .own_ns = ns});
  return m;
}

DeviceCosts costs_of(const CostSamples& samples) {
  DeviceCosts costs{.device = {.name = samples.device, .type = samples.device_type}};
  for (const auto& [key, ns] : samples.nodes) costs.nodes.emplace(key, ns);
  for (const auto& [key, ns] : samples.collectives) costs.collectives.emplace(key, ns);
  return costs;
}

std::unique_ptr<Estimator> roofline(std::string device = "h200") {
  return *make_estimator({.device = std::move(device)});
}

std::unique_ptr<Estimator> measured(DeviceCosts costs) {
  const bool cpu = costs.device.type == "cpu";
  return std::make_unique<MeasuredEstimator>(std::move(costs), roofline(cpu ? "cpu" : "h200"), 8);
}

TEST(Measured, UsesMeasurementsAndTheRooflineForTheRest) {
  const Graph graph = parse(kStep);
  const auto rest = roofline();
  const auto estimator = measured(costs_of(cost_samples(
      graph, measurement(graph, "cuda", {{"mm", 111'000}, {"again", 113'000}, {"ar", 20'000}}))));
  const auto cost = [&](const char* name) { return estimator->estimate(graph, graph.find(name)); };
  EXPECT_EQ(cost("mm").ns, 112'000) << "the median of the nodes with the same work";
  EXPECT_EQ(cost("mm").limit, Limit::given);
  EXPECT_EQ(cost("mm").host_ns, rest->estimate(graph, graph.find("mm")).host_ns)
      << "launch times are unchanged";
  EXPECT_EQ(cost("ar").ns, 20'000);
  EXPECT_EQ(cost("ar").lane, Lane::collective);
  for (const char* name : {"r", "ag", "t", "wt", "x"}) {
    EXPECT_EQ(cost(name).ns, rest->estimate(graph, graph.find(name)).ns) << name;
    EXPECT_EQ(cost(name).lane, rest->estimate(graph, graph.find(name)).lane) << name;
    EXPECT_NE(cost(name).limit, Limit::given) << name;
  }
  const std::string text = estimator->description_of(estimate_all(graph, *estimator));
  EXPECT_THAT(text, HasSubstr("measured on NVIDIA H200, 3 of 6 nodes, "));
  EXPECT_THAT(text, HasSubstr(" of the time; the rest by roofline, NVIDIA H200"));
}

TEST(Measured, NeedsNoFallbackIfEverythingWasMeasured) {
  const Graph graph = parse("x: f32[8] = input\ny: f32[8] = aten.relu(x)\nreturn [y]");
  const auto estimator =
      measured(costs_of(cost_samples(graph, measurement(graph, "cuda", {{"y", 5000}}))));
  EXPECT_EQ(estimator->description_of(estimate_all(graph, *estimator)),
            "measured on NVIDIA H200, 1 of 1 node");
}

TEST(Measured, ACpuCallHasNoLaunch) {
  const Graph graph = parse(kStep);
  const auto estimator = measured(
      costs_of(cost_samples(graph, measurement(graph, "cpu", {{"mm", 7000}, {"t", 900}}))));
  const NodeCost view = estimator->estimate(graph, graph.find("t"));
  EXPECT_EQ(view.ns, 900) << "a view takes the CPU's time";
  EXPECT_EQ(view.lane, Lane::compute);
  EXPECT_EQ(estimator->estimate(graph, graph.find("mm")).host_ns, 0);
}

TEST(Measured, CollectivesAreInterpolatedBetweenMeasuredSizes) {
  const auto costs_with = [](std::vector<std::pair<std::int64_t, std::int64_t>> points) {
    DeviceCosts costs{.device = {.name = "NVIDIA H200", .type = "cuda"}};
    for (const auto& [bytes, ns] : points)
      costs.collectives[{.kind = CollectiveKind::all_reduce,
                         .backend = "nccl",
                         .ranks = 2,
                         .bytes = bytes,
                         .dtype = DType::bfloat16}] = ns;
    return costs;
  };
  const Graph graph = parse(kStep);  // an all-reduce of 16,384 bytes, f32
  const NodeId ar = graph.find("ar");
  const auto ns = [&](std::vector<std::pair<std::int64_t, std::int64_t>> points) {
    const NodeCost cost = measured(costs_with(std::move(points)))->estimate(graph, ar);
    return cost.limit == Limit::given ? cost.ns : -1;
  };
  EXPECT_EQ(ns({{0, 10'000}, {32'768, 30'000}}), 20'000);
  EXPECT_EQ(ns({{8'192, 10'000}, {16'384 + 8'192, 30'000}, {1 << 30, 1}}), 20'000);
  EXPECT_EQ(ns({{16'384, 12'345}}), 12'345) << "the same size in a different dtype";
  EXPECT_EQ(ns({{8'192, 10'000}}), -1) << "one size does not make a line";
  EXPECT_EQ(ns({{8'192, 10'000}, {9'000, 11'000}}), -1) << "outside the measured range";
  EXPECT_EQ(ns({{20'000, 10'000}, {30'000, 11'000}}), -1);

  DeviceCosts other = costs_with({{0, 10'000}, {32'768, 30'000}});
  const auto far = measured(std::move(other))->estimate(graph, graph.find("ag"));
  EXPECT_NE(far.limit, Limit::given) << "another collective, and ranks on two machines";
}

// A measurement of `a` does not apply to `b`.
void expect_only_a_is_measured(const Graph& graph) {
  const auto estimator =
      measured(costs_of(cost_samples(graph, measurement(graph, "cuda", {{"a", 4000}}))));
  EXPECT_EQ(estimator->estimate(graph, graph.find("a")).ns, 4000);
  EXPECT_NE(estimator->estimate(graph, graph.find("b")).limit, Limit::given);
}

TEST(Measured, TheMachinesOfAGroupMatter) {
  const Graph graph = parse(R"(
    group near: 0 1
    group far: 0 8
    x: f32[64] = input
    a: f32[64] = _c10d_functional.all_reduce(x, 'sum', 'near')
    b: f32[64] = _c10d_functional.all_reduce(x, 'sum', 'far')
    return [a, b]
  )");
  expect_only_a_is_measured(graph);
}

TEST(Measured, AGroupOfUnknownSizeIsNotOneOfTwoRanks) {
  const Graph graph = parse(R"(
    group two: 0 1
    x: f32[64] = input
    a: f32[64] = _c10d_functional.all_reduce(x, 'sum', 'two')
    b: f32[64] = _c10d_functional.all_reduce(x, 'sum', 'unknown')
    return [a, b]
  )");
  expect_only_a_is_measured(graph);
}

RC_GTEST_PROP(MeasuredProperty, MoreBytesBetweenGrowingTimesNeverTakeLessTime, ()) {
  DeviceCosts costs{.device = {.name = "gpu", .type = "cuda"}};
  CollectiveWork key{.kind = CollectiveKind::all_reduce, .backend = "nccl", .ranks = 2};
  std::int64_t ns = 0;
  const auto points = *rc::gen::inRange(2, 8);
  for (int i = 0; i < points; ++i) {
    key.bytes += *rc::gen::inRange<std::int64_t>(1, 1 << 20);
    ns += *rc::gen::inRange<std::int64_t>(0, 1 << 20);
    costs.collectives[key] = ns;
  }
  const std::int64_t first = costs.collectives.begin()->first.bytes, last = key.bytes;
  const auto estimator = measured(std::move(costs));
  const auto at = [&](std::int64_t bytes) {
    const Graph graph = parse(fmt::format(
        "group tp: 0 1\nx: u8[{}] = input\na: u8[{}] = _c10d_functional.all_reduce(x, 'sum', "
        "'tp')\nreturn [a]",
        bytes, bytes));
    const NodeCost cost = estimator->estimate(graph, graph.find("a"));
    RC_ASSERT(cost.limit == Limit::given);
    return cost.ns;
  };
  const auto a = *rc::gen::inRange(first, last + 1), b = *rc::gen::inRange(first, last + 1);
  RC_ASSERT(at(std::min(a, b)) <= at(std::max(a, b)));
  RC_ASSERT(at(last) == ns);
}

// The times of a device on which every key always takes the same time.
Measurement known_times(const Graph& graph, std::string device_type) {
  Measurement m{.label = "known", .device = "known", .device_type = std::move(device_type)};
  std::int64_t clock = 0;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call) continue;
    std::string text;
    append_work(graph, n, text);
    if (graph.is_collective_start(n))
      text = fmt::format("{} {}", static_cast<int>(graph.op(n).collective),
                         collective_work(graph, n, DeviceType::cuda, 8).bytes);
    const auto ns = static_cast<std::int64_t>(std::hash<std::string>{}(text) % 1'000'000);
    m.nodes.push_back({.node = id, .start_ns = clock, .end_ns = clock + ns, .own_ns = ns});
    clock += ns;
  }
  m.step_ns = clock;
  return m;
}

RC_GTEST_PROP(MeasuredProperty, TheTimelineAfterCalibratingIsTheMeasuredOne, ()) {
  const Graph graph = random_graph(*rc::gen::inRange<std::uint64_t>(0, 1 << 20));
  const bool cpu = *rc::gen::arbitrary<bool>();
  const Measurement known = known_times(graph, cpu ? "cpu" : "cuda");
  const auto estimator = measured(costs_of(cost_samples(graph, known)));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  const Simulation simulation(graph, costs);
  for (const MeasuredNode& node : known.nodes) {
    const Node& n = graph.node(node.node);
    const NodeCost& cost = costs[node.node.index()];
    if (graph.is_wait(n)) continue;
    if (!cpu && (graph.op(n).is_view || graph.op(n).is_getitem)) {
      RC_ASSERT(cost.limit != Limit::given);
      continue;
    }
    RC_ASSERT(cost.limit == Limit::given);
    const NodeTiming& timing = simulation.timing(node.node);
    RC_ASSERT(timing.end - timing.start == node.own_ns);
  }
}

TEST(Measured, CollectivesMeasuredAloneAreNotUsed) {
  const Graph graph = parse(kStep);
  Measurement m = measurement(graph, "cuda", {{"mm", 1000}, {"ar", 2000}, {"ag", 3000}});
  m.alone = true;
  EXPECT_TRUE(cost_samples(graph, m).collectives.empty());
  EXPECT_EQ(cost_samples(graph, m).nodes.size(), 1U);
  m.alone = false;
  EXPECT_EQ(cost_samples(graph, m).collectives.size(), 2U);
}

TEST(Measured, InvalidCostsAreLeftOut) {
  const Graph graph = parse(kStep);
  Measurement m =
      measurement(graph, "cuda", {{"wt", 1000}, {"t", 1000}, {"x", 1000}, {"mm", -5}, {"r", 800}});
  m.nodes.push_back({.node = NodeId(99'999), .own_ns = 5});
  m.nodes.push_back({.node = NodeId(), .own_ns = 5});
  const CostSamples samples = cost_samples(graph, m);
  ASSERT_EQ(samples.nodes.size(), 1U);
  EXPECT_EQ(samples.nodes[0].first, work(graph, "r"));
}

TEST(Measured, IsThreadSafe) {
  const Graph graph = random_graph(3, {.calls = 200});
  const auto estimator = measured(costs_of(cost_samples(graph, known_times(graph, "cuda"))));
  const std::vector<NodeCost> expected = estimate_all(graph, *estimator);
  std::vector<std::thread> threads;
  std::array<std::int64_t, 4> different{};
  for (std::int64_t& count : different)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round)
        for (const NodeId id : graph.order())
          count += estimator->estimate(graph, id).ns != expected[id.index()].ns ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(different, testing::Each(0));
}

// --- By name ---

class MeasuredByName : public testing::Test {
 protected:
  void SetUp() override { ::setenv("JOINTER_COSTS", (folder_ / "costs.sqlite").c_str(), 1); }
  void TearDown() override { ::unsetenv("JOINTER_COSTS"); }

  void keep(const std::string& device, const std::string& type, std::int64_t ns,
            const std::optional<GpuProperties>& gpu = std::nullopt) {
    Measurement m = measurement(graph_, type, {{"mm", ns}});
    m.device = device;
    m.gpu = gpu;
    if (type != "cpu")
      m.kernels.push_back({.node = graph_.find("mm"), .name = "gemm", .end_ns = ns});
    const auto stored = must(jointer::store(graph_, m));
    EXPECT_EQ(stored.nodes.size(), 1U);
  }
  Result<std::unique_ptr<Estimator>> make(std::string name, const Graph& graph) {
    return make_estimator({.name = std::move(name), .device = ""}, graph.main_device());
  }
  std::int64_t mm_ns(const std::string& name) {
    const auto made = must(make(name, graph_));
    return made->estimate(graph_, graph_.find("mm")).ns;
  }

  const TemporaryFolder folder_;
  const Graph graph_ = parse(kStep);
};

TEST_F(MeasuredByName, UsesTheLastMeasuredDeviceOfTheGraphsType) {
  const auto nothing = make("measured", graph_);
  ASSERT_FALSE(nothing.has_value());
  EXPECT_EQ(nothing.error().kind, Error::Kind::usage);
  EXPECT_THAT(nothing.error().message, HasSubstr("jointer calibrate"));

  keep("NVIDIA H200", "cuda", 1000);
  keep("NVIDIA A100-SXM4-80GB", "cuda", 2000);
  keep("AMD EPYC 7763, 2 threads", "cpu", 3000);
  EXPECT_EQ(mm_ns("measured"), 2000);
  EXPECT_EQ(mm_ns("measured{}"), 2000);
  EXPECT_EQ(mm_ns(R"(measured{device="NVIDIA H200"})"), 1000);
  EXPECT_EQ(mm_ns(R"(measured{device="AMD EPYC 7763, 2 threads"})"), 3000);
  // The rest comes from the same device's roofline.
  EXPECT_EQ((*make("measured", graph_))->device().id, "a100");
  EXPECT_EQ((*make(R"(measured{device="NVIDIA H200"})", graph_))->device().id, "h200");
  EXPECT_EQ(
      (*make_estimator({.name = "measured", .device = "b200"}, graph_.main_device()))->device().id,
      "b200");

  const Graph on_cpu = parse("device cpu\nx: f32[8] = input\ny: f32[8] = aten.relu(x)\nreturn [y]");
  EXPECT_EQ((*make("measured", on_cpu))->device().id, "cpu");
  EXPECT_THAT((*make("measured", on_cpu))->description(), HasSubstr("EPYC"));

  const auto analysis = must(analyze(graph_, {.estimator = {.name = "measured", .device = ""}}));
  EXPECT_THAT(analysis.estimator, HasSubstr("measured on NVIDIA A100-SXM4-80GB, 2 of 6 nodes"));
  EXPECT_EQ(analysis.options.estimator.device, "a100");
}

TEST_F(MeasuredByName, TimesOfAGpuWhoseKernelsWereNotTracedAreRefused) {
  Measurement untraced = measurement(graph_, "cuda", {{"mm", 1000}});
  untraced.label = "rank 0, interpret";
  untraced.device = "NVIDIA H200";
  const auto stored = jointer::store(graph_, untraced);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().kind, Error::Kind::run);
  EXPECT_THAT(stored.error().message,
              testing::StartsWith("rank 0, interpret: cannot store the times, because the kernels "
                                  "of NVIDIA H200 were not traced"));
  EXPECT_FALSE(make("measured", graph_)) << "nothing was stored";
  keep("AMD EPYC 7763, 2 threads", "cpu", 3000);  // a CPU has no kernels
}

TEST_F(MeasuredByName, AGpuWithoutADescriptionHasItsStoredProperties) {
  const GpuProperties l40s{"NVIDIA L40S", 8, 9, 142, 2520, 9001, 384, 47'810'936'832};
  keep("NVIDIA L40S", "cuda", 1000, l40s);
  EXPECT_EQ((*make("measured", graph_))->device().name, "NVIDIA L40S, by its properties");
  EXPECT_EQ((*make("measured", graph_))->device().memory_bytes, l40s.memory_bytes);
  EXPECT_EQ(mm_ns("measured"), 1000);

  // The options of an analysis work for the next one.
  const auto first = analyze(graph_, {.estimator = {.name = "measured", .device = ""}});
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto second = analyze(graph_, first->options);
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(second->device.name, first->device.name);

  // A device that the user names, and a built-in description, come first.
  const auto named = make_estimator({.name = "measured", .device = "b200"}, graph_.main_device());
  EXPECT_EQ((*named)->device().id, "b200");
  keep("NVIDIA H200", "cuda", 2000, GpuProperties{"NVIDIA H200", 9, 0, 132, 1980, 3201, 6144, 1});
  EXPECT_EQ((*make("measured", graph_))->device().id, "h200");

  // Without a clock, properties describe nothing.
  keep("NVIDIA L4", "cuda", 3000, GpuProperties{"NVIDIA L4", 8, 9, 58, 0, 0, 0, 0});
  EXPECT_EQ((*make("measured", graph_))->device().id, "h100");
}

TEST_F(MeasuredByName, RefusesUnknownDevices) {
  keep("NVIDIA H200", "cuda", 1000);
  for (const char* name :
       {"measured{", "measured{H200}", R"(measured{device=""})", "measured{device=}", "measuredx",
        R"(measured{device="NVIDIA H200)", R"(measured{device=NVIDIA H200})",
        R"(measured{device="NVIDIA B200"})", R"(measured{device=["a"]})"}) {
    const auto made = make(name, graph_);
    ASSERT_FALSE(made.has_value()) << name;
    EXPECT_EQ(made.error().kind, Error::Kind::usage) << made.error().message;
  }
  const Graph on_cpu = parse("device cpu\nx: f32[8] = input\ny: f32[8] = aten.relu(x)\nreturn [y]");
  const auto made = make("measured", on_cpu);
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("on a CPU yet (measured devices: NVIDIA H200)"));
}

}  // namespace
}  // namespace jointer::test

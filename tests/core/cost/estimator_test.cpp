// Device descriptions, and estimates compared with values computed by hand.

#include "core/cost/estimator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/bytes.h"
#include "core/base/environment.h"
#include "core/cost/collective_model.h"
#include "core/cost/throughput.h"
#include "core/cost/traffic.h"
#include "core/graph/group_argument.h"
#include "core/process/temporary_folder.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

DeviceDescription device(std::string_view id) {
  return must(load_device(id));
}

TEST(Device, IsFoundInTheDriversName) {
  EXPECT_EQ(device_id_in("NVIDIA H200"), "h200");
  EXPECT_EQ(device_id_in("NVIDIA H100 80GB HBM3"), "h100");
  EXPECT_EQ(device_id_in("NVIDIA A100-SXM4-80GB"), "a100");
  EXPECT_EQ(device_id_in("AMD Instinct MI300X"), "mi300x");
  EXPECT_EQ(device_id_in("NVIDIA H2000"), "");
  EXPECT_EQ(device_id_in("NVIDIA GH2000"), "");
  EXPECT_EQ(device_id_in("AMD EPYC 7763, 2 threads"), "");
  EXPECT_EQ(device_id_in("A CPU"), "");
}

TEST(Devices, AllLoadAndNameTheirSources) {
  EXPECT_THAT(device_ids(),
              testing::UnorderedElementsAre("a100", "h100", "h200", "b200", "mi300x", "cpu"));
  for (const std::string_view id : device_ids()) {
    const DeviceDescription d = device(id);
    EXPECT_EQ(d.id, id);
    EXPECT_FALSE(d.sources.empty()) << id;
    EXPECT_GT(d.memory_gbps, 0) << id;
    EXPECT_GE(d.links.intra_gbps, d.links.inter_gbps) << id;
  }
  EXPECT_FALSE(load_device("gtx480").has_value());
  EXPECT_EQ(load_device("gtx480").error().kind, Error::Kind::usage);
  EXPECT_EQ(load_device("/nonexistent.json").error().kind, Error::Kind::input);
}

TEST(Devices, CoresHaveTheirShareOfTheCpu) {
  const DeviceDescription all = device("cpu{cores=16}"), some = device("cpu{cores=4}");
  EXPECT_EQ(some.name, "Generic CPU, 4 cores");
  EXPECT_EQ(device("CPU{cores=1}").name, "Generic CPU, 1 core");
  EXPECT_DOUBLE_EQ(some.peak_flops(DType::float32), all.peak_flops(DType::float32) / 4);
  EXPECT_DOUBLE_EQ(some.memory_gbps, all.memory_gbps / 4);
  EXPECT_EQ(some.host.operator_us, all.host.operator_us);
  for (const char* wrong : {"cpu{", "cpu{}", "cpu{cores=0}", "cpu{cores=two}", "cpu{cores=-1}"})
    EXPECT_FALSE(load_device(wrong)) << wrong;
  for (const char* wrong : {"CPU{Cores=Many}", "Cpu{Threads=1,Ranks=X}"})
    EXPECT_THAT(load_device(wrong).error().message, testing::HasSubstr(wrong)) << "as typed";
}

TEST(Devices, TheCpuHasTheCoresOfThisMachine) {
  const int cores = usable_cores();
  const DeviceDescription here = device("cpu"),
                          same = device(fmt::format("cpu{{cores={}}}", cores));
  EXPECT_DOUBLE_EQ(here.peak_flops(DType::float32), same.peak_flops(DType::float32));
  EXPECT_DOUBLE_EQ(here.memory_gbps, same.memory_gbps);
  EXPECT_EQ(here.name, same.name + " (this machine)");
  EXPECT_EQ(device("CPU").name, here.name);
  // A description in a file keeps the cores that it states.
  const jointer::TemporaryFolder folder = *jointer::TemporaryFolder::make("jointer-device-");
  const auto text = read_bytes(source_path("resources/devices/cpu.json"));
  ASSERT_TRUE(text && write_bytes(folder.path("mine.json"), text->view()));
  const DeviceDescription stated = device(folder.path("mine.json"));
  EXPECT_EQ(stated.name, "Generic CPU, 16 cores");
  EXPECT_DOUBLE_EQ(stated.peak_flops(DType::float32),
                   device("cpu{cores=16}").peak_flops(DType::float32));
}

TEST(Devices, MemoryOutsideTheAllocatorIsOptional) {
  const jointer::TemporaryFolder folder = *jointer::TemporaryFolder::make("jointer-device-");
  const auto text = read_bytes(source_path("resources/devices/b200.json"));
  ASSERT_TRUE(text);
  const auto load_with = [&](const std::string& member) {
    std::string json(text->view());
    json.insert(json.find('{') + 1, member);
    EXPECT_TRUE(write_bytes(folder.path("mine.json"), json));
    return load_device(folder.path("mine.json"));
  };
  EXPECT_EQ(load_with("")->outside_bytes, 0);
  EXPECT_EQ(load_with("\"outside_bytes\": 2000000000,")->outside_bytes, 2'000'000'000);
  const auto refused = load_with("\"outside_bytes\": 180000000000,");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              testing::HasSubstr("`outside_bytes` must be less than `memory_bytes`"));
}

TEST(Devices, PeaksAreWithoutSparsity) {
  // From the data sheets of NVIDIA and AMD, without sparsity.
  EXPECT_NEAR(device("a100").peak_flops(DType::bfloat16), 312e12, 1e12);
  EXPECT_NEAR(device("h100").peak_flops(DType::bfloat16), 989e12, 1e12);
  EXPECT_NEAR(device("h200").peak_flops(DType::bfloat16), 989e12, 1e12);
  EXPECT_NEAR(device("b200").peak_flops(DType::bfloat16), 2250e12, 50e12);
  EXPECT_NEAR(device("mi300x").peak_flops(DType::bfloat16), 1307e12, 2e12);
  EXPECT_NEAR(device("h100").peak_flops(DType::float8_e4m3fn), 2 * 989e12, 2e12);
  EXPECT_NEAR(device("h100").peak_flops(DType::float32), 66.9e12, 1e12) << "not tf32";
  EXPECT_EQ(device("a100").peak_flops(DType::float8_e5m2),
            device("a100").peak_flops(DType::bfloat16))
      << "the next wider type that the device supports";
}

TEST(Devices, AnH200IsAHopperWithMoreMemory) {
  const DeviceDescription h100 = device("h100"), h200 = device("h200");
  EXPECT_EQ(h200.torch_nccl, NcclGpu::hopper);
  EXPECT_EQ(h200.architecture, "hopper");
  EXPECT_EQ(h200.matmul_units, h100.matmul_units);
  EXPECT_GT(h200.memory_bytes, h100.memory_bytes);
  EXPECT_NEAR(h200.memory_gbps, 4800, 100);
  EXPECT_NEAR(h100.memory_gbps, 3350, 50);
}

// --- Collectives ---

// 100 GB/s within a node and 10 GB/s between nodes at full efficiency; a latency of 10 us, plus 1
// us per step.
DeviceDescription round_numbers() {
  DeviceDescription d = device("h100");
  d.links = {
      .intra_gbps = 100, .inter_gbps = 10, .base_us = 10, .intra_step_us = 1, .inter_step_us = 5};
  return d;
}

TEST(CollectiveModel, WithinANode) {
  const GroupPlacement four{.ranks = 4, .nodes = 1, .ranks_per_node = 4};
  const DeviceDescription d = round_numbers();
  // 100 MB x 3/4 at 100 GB/s take 0.75 ms, plus 10 us and three steps of 1 us.
  EXPECT_NEAR(collective_ms(CollectiveKind::all_gather, 100'000'000, four, d), 0.75 + 0.013, 1e-9);
  EXPECT_NEAR(collective_ms(CollectiveKind::reduce_scatter, 100'000'000, four, d), 0.763, 1e-9);
  // Twice the distance and twice the steps.
  EXPECT_NEAR(collective_ms(CollectiveKind::all_reduce, 100'000'000, four, d), 1.5 + 0.016, 1e-9);
  EXPECT_NEAR(collective_ms(CollectiveKind::all_to_all, 100'000'000, four, d), 0.75 + 0.013, 1e-9);
  EXPECT_EQ(collective_ms(CollectiveKind::all_reduce, 100'000'000, {.ranks = 1}, d), 0);
}

TEST(CollectiveModel, BetweenNodes) {
  // Two nodes with four ranks each: the node's half of 100 MB goes through four NICs of 10 GB/s,
  // which takes 1.25 ms, more than 100 MB x 7/8 at 100 GB/s. Six steps within a node and one
  // between nodes.
  const GroupPlacement eight{.ranks = 8, .nodes = 2, .ranks_per_node = 4};
  const DeviceDescription d = round_numbers();
  EXPECT_NEAR(collective_ms(CollectiveKind::all_gather, 100'000'000, eight, d),
              1.25 + (10 + 6 * 1 + 1 * 5) / 1e3, 1e-9);
  // An all-to-all has no shortcut: 100 MB x 4/8 through the rank's own NIC of 10 GB/s.
  EXPECT_NEAR(collective_ms(CollectiveKind::all_to_all, 100'000'000, eight, d), 5 + 0.021, 1e-9);
  // One rank per node: nothing stays within a node.
  const GroupPlacement apart{.ranks = 2, .nodes = 2, .ranks_per_node = 1};
  EXPECT_NEAR(collective_ms(CollectiveKind::all_gather, 100'000'000, apart, d), 5 + 0.015, 1e-9);
}

TEST(CollectiveModel, ANodeWithOneRankDoesNotHideTheTrafficInsideOtherNodes) {
  const GroupPlacement uneven{.ranks = 4, .nodes = 2, .ranks_per_node = 1};
  DeviceDescription d = round_numbers();
  d.links.inter_gbps = 1000;
  // 100 MB x 3/4 at 100 GB/s, more than 100 MB x 1/2 at 1000 GB/s.
  EXPECT_NEAR(collective_ms(CollectiveKind::all_gather, 100'000'000, uneven, d), 0.75 + 0.017,
              1e-9);
}

TEST(CollectiveModel, ABroadcastMovesTheWholeTensor) {
  const GroupPlacement two{.ranks = 2, .nodes = 1, .ranks_per_node = 2};
  const GroupPlacement apart{.ranks = 2, .nodes = 2, .ranks_per_node = 1};
  const DeviceDescription d = round_numbers();
  EXPECT_NEAR(collective_ms(CollectiveKind::broadcast, 100'000'000, two, d), 1 + 0.011, 1e-9);
  EXPECT_NEAR(collective_ms(CollectiveKind::broadcast, 100'000'000, apart, d), 10 + 0.015, 1e-9);
}

TEST(CollectiveModel, RanksFillNodesInOrder) {
  const Graph graph = parse(R"(
    group near: 0 1 2 3
    group far: 0 8 16 24
    group uneven: 0 1 2 8
    x: f32[8] = input
    a: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'near')
    b: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'far')
    c: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'uneven')
    return [a, b, c]
  )");
  const auto place = [&](const char* name, std::int64_t gpus) {
    const GroupPlacement p = place_group(graph, node(graph, name), gpus);
    return std::tuple(p.ranks, p.nodes, p.ranks_per_node);
  };
  EXPECT_EQ(place("a", 8), std::tuple(4, 1, 4));
  EXPECT_EQ(place("a", 2), std::tuple(4, 2, 2));
  EXPECT_EQ(place("b", 8), std::tuple(4, 4, 1));
  EXPECT_EQ(place("c", 8), std::tuple(4, 2, 1));
}

TEST(CollectiveModel, ABufferForTheResultIsNoPartOfTheMessage) {
  const Graph graph = parse(R"(
    group dp: 0 1
    x: f32[1000000] = input
    buffer: f32[2000000] = aten.empty.memory_format([2000000])
    part: f32[1000000] = aten.slice.Tensor(buffer, 0, 0, 1000000)
    ag: f32[2000000] = _c10d_functional.all_gather_into_tensor(x, 2, 'dp')
    into: f32[2000000] = _c10d_functional.all_gather_into_tensor_out(part, 2, 'dp', out=buffer)
    cast: f32[2000000] = symm_mem._low_contention_all_gather_ce_multicast_out(x, 'dp', buffer)
    return [ag, into, cast]
  )");
  for (const char* name : {"ag", "into", "cast"}) {
    const Node& call = node(graph, name);
    EXPECT_EQ(collective_input_bytes(graph, call), 4'000'000) << name;
    EXPECT_EQ(collective_bytes(graph, call), 8'000'000) << name;
  }
  for (const char* name : {"roofline", "simple"}) {
    const auto e = must(make_estimator({.name = name, .device = "h100"}));
    EXPECT_EQ(e->estimate(graph, graph.find("into")).ns, e->estimate(graph, graph.find("ag")).ns)
        << name;
  }
}

RC_GTEST_PROP(CollectiveModelProperty, MoreBytesNeverTakeLessTime, ()) {
  const auto ranks = *rc::gen::inRange<std::int64_t>(2, 1024);
  const auto per_node = *rc::gen::inRange<std::int64_t>(1, 9);
  const GroupPlacement placement{.ranks = ranks,
                                 .nodes = (ranks + per_node - 1) / per_node,
                                 .ranks_per_node = std::min(ranks, per_node)};
  const auto kind = *rc::gen::element(CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_reduce, CollectiveKind::all_to_all,
                                      CollectiveKind::broadcast);
  const DeviceDescription d = device(*rc::gen::elementOf(device_ids()));
  const auto bytes = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
  const auto more = bytes + *rc::gen::inRange<std::int64_t>(1, 1 << 30);
  const double less_ms = collective_ms(kind, bytes, placement, d);
  RC_ASSERT(less_ms > 0);
  RC_ASSERT(less_ms <= collective_ms(kind, more, placement, d));
  RC_ASSERT(collective_ms(CollectiveKind::all_reduce, bytes, placement, d) >=
            collective_ms(CollectiveKind::all_gather, bytes, placement, d));
}

// --- Roofline ---

std::unique_ptr<Estimator> estimator(std::string name, std::string id = "h100") {
  return must(make_estimator({.name = std::move(name), .device = std::move(id)}));
}

TEST(Roofline, IsTheLargestOfItsLimits) {
  const Graph graph = parse(R"(
    group tp: 0 1
    a: bf16[8192,8192] = input
    small: bf16[8] = input
    cpu: f32[1024]cpu = input
    mm: bf16[8192,8192] = aten.mm(a, a)
    add: bf16[8192,8192] = aten.add.Tensor(a, a)
    tiny: bf16[8] = aten.relu(small)
    view: bf16[67108864] = aten.view(a, [67108864])
    up: f32[1024] = aten._to_copy(cpu)
    big: bf16[8192,8192] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    little: bf16[8] = _c10d_functional.all_reduce(small, 'sum', 'tp')
    wait: bf16[8] = _c10d_functional.wait_tensor(little)
    return [mm]
  )");
  const auto roofline = estimator("roofline");
  const DeviceDescription& d = roofline->device();
  const auto cost = [&](const char* name) { return roofline->estimate(graph, graph.find(name)); };
  using Lane = NodeCost::Lane;
  using Limit = NodeCost::Limit;

  // 64 x 64 tiles on 132 multiprocessors: 32 waves, the last one not full.
  const double fill = 4096.0 / (32 * 132);
  const double mm_ns = 2.0 * 8192 * 8192 * 8192 / (989.4e12 * d.efficiency.matmul * fill) * 1e9;
  EXPECT_EQ(cost("mm").limit, Limit::compute);
  EXPECT_NEAR(static_cast<double>(cost("mm").ns), mm_ns, 2e-4 * mm_ns);

  // a is one input, and read once.
  const double add_ns = 2.0 * 8192 * 8192 * 2 / (d.memory_gbps * d.efficiency.memory);
  EXPECT_EQ(cost("add").limit, Limit::memory);
  EXPECT_NEAR(static_cast<double>(cost("add").ns), add_ns, 1);

  EXPECT_EQ(cost("tiny").limit, Limit::launch);
  EXPECT_EQ(cost("tiny").ns, static_cast<std::int64_t>(d.kernel_us * 1e3));
  EXPECT_EQ(cost("tiny").host_ns,
            static_cast<std::int64_t>((d.host.operator_us + d.host.launch_us) * 1e3));
  EXPECT_EQ(cost("view").lane, Lane::none);
  EXPECT_EQ(cost("view").host_ns, static_cast<std::int64_t>(d.host.operator_us * 1e3));
  EXPECT_EQ(cost("wait").lane, Lane::none);
  EXPECT_EQ(cost("up").limit, Limit::transfer);
  EXPECT_FALSE(cost("up").blocks_host) << "the CPU does not wait for a copy to the device";
  EXPECT_EQ(cost("big").lane, Lane::collective);
  EXPECT_EQ(cost("big").limit, Limit::network);
  EXPECT_EQ(cost("little").limit, Limit::latency);
  EXPECT_EQ(cost("a").ns, 0);
}

TEST(Roofline, BlocksOnCopiesToTheHost) {
  const Graph graph = parse(R"(
    x: f32[1048576] = input
    more: f32[1048576] = input
    down: f32[1048576]cpu = aten._to_copy(x)
    return [down]
  )");
  const NodeCost cost = estimator("roofline")->estimate(graph, graph.find("down"));
  EXPECT_TRUE(cost.blocks_host);
  EXPECT_NEAR(static_cast<double>(cost.ns), 4194304 / 55.0, 1);
}

TEST(Roofline, CountsHalfOfACausalSquare) {
  const auto ns = [](const char* causal) {
    const Graph graph = parse(
        fmt::format("q: bf16[1,32,8192,128] = input\ny: (bf16[1,32,8192,128], f32[1,32,8192]) = "
                    "aten._scaled_dot_product_flash_attention(q, q, q, 0.0, {})\nreturn [q]",
                    causal));
    return static_cast<double>(estimator("roofline")->estimate(graph, graph.find("y")).ns);
  };
  EXPECT_NEAR(ns("True") * 2, ns("False"), 2);
}

// The call returns nothing, but reads both lists and writes the first.
TEST(Roofline, CountsListsThatAreChangedInPlace) {
  const Graph graph = parse(R"(
    a: f32[4096,4096] = input
    b: f32[4096,4096] = input
    c: f32[4096,4096] = input
    d: f32[4096,4096] = input
    step: f32[] = input
    scale: f32[] = input
    make: (f32[4096,4096], f32[4096,4096]) = aten._foreach_add.List([a, b], [c, d])
    change: none = aten._foreach_add_.List([a, b], [c, d])
    adamw: none = aten._fused_adamw_([a], [b], [c], [d], [], [step], lr=0.1, beta1=0.9, beta2=0.9, weight_decay=0.1, eps=0.1, amsgrad=False, maximize=False)
    scaled: none = aten._fused_adamw_([a], [b], [c], [d], [], [step], lr=0.1, beta1=0.9, beta2=0.9, weight_decay=0.1, eps=0.1, amsgrad=False, maximize=False, grad_scale=scale)
    copy: none = fsdp.split_with_sizes_copy(a, [2048, 2048], out=[b])
    check: none = aten._assert_async(step)
    return [a]
  )");
  constexpr std::int64_t kTensor = std::int64_t{4096} * 4096 * 4;
  const auto bytes = [&](const char* name) { return node_traffic(graph, node(graph, name)).bytes; };
  EXPECT_EQ(bytes("make"), 6 * kTensor);
  EXPECT_EQ(bytes("change"), 6 * kTensor);
  EXPECT_EQ(bytes("adamw"), 7 * kTensor + 4) << "reads four, writes all but the gradient";
  EXPECT_EQ(bytes("scaled"), 8 * kTensor + 8) << "divides the gradient";
  EXPECT_EQ(bytes("copy"), 2 * kTensor) << "does not read what it writes";
  EXPECT_EQ(bytes("check"), 0);

  const auto roofline = estimator("roofline");
  const NodeCost made = roofline->estimate(graph, graph.find("make"));
  const NodeCost changed = roofline->estimate(graph, graph.find("change"));
  EXPECT_EQ(changed.lane, NodeCost::Lane::compute);
  EXPECT_EQ(changed.ns, made.ns);
}

// However a fused call splits a product, it computes it once and moves the rows once. On a CPU the
// cores share each part; on a GPU the parts must be large enough to fill the multiprocessors.
TEST(Roofline, AFusedCallComputesAndMovesOnce) {
  const auto check = [](const char* device, std::int64_t rows, std::int64_t size, int ranks) {
    std::string group = "0";
    for (int i = 1; i < ranks; ++i) group += fmt::format(" {}", i);
    const Graph graph = parse(fmt::format(
        R"(
    group tp: {4}
    a: f32[{0},{2}] = input
    whole: f32[{1},{2}] = input
    b: f32[{2},{2}] = input
    gather: f32[{1},{2}] = _c10d_functional.all_gather_into_tensor(a, {3}, 'tp')
    mm: f32[{1},{2}] = aten.mm(whole, b)
    scatter: f32[{0},{2}] = _c10d_functional.reduce_scatter_tensor(whole, 'sum', {3}, 'tp')
    gathered: (f32[{1},{2}], f32[{1},{2}]) = symm_mem.fused_all_gather_matmul(a, [b], 0, 'tp')
    scattered: f32[{0},{2}] = symm_mem.fused_matmul_reduce_scatter(whole, b, 'sum', 0, 'tp')
    return [mm]
  )",
        rows / ranks, rows, size, ranks, group));
    const auto roofline = estimator("roofline", device);
    const auto ns = [&](const char* name) {
      return static_cast<double>(roofline->estimate(graph, graph.find(name)).ns);
    };
    const DeviceDescription& d = roofline->device();
    const double summed = static_cast<double>(rows * size * 4) * (1 + 1.0 / ranks) /
                          (d.memory_gbps * d.efficiency.memory);
    for (const auto& [fused, collective, more] :
         {std::tuple("gathered", "gather", 0.0), std::tuple("scattered", "scatter", summed)}) {
      SCOPED_TRACE(
          fmt::format("{} on {}: {} rows of {}, {} ranks", fused, device, rows, size, ranks));
      EXPECT_LE(ns(fused), 1.001 * (ns("mm") + ns(collective) + more));
      EXPECT_GE(ns(fused), 0.999 * std::max(ns("mm"), ns(collective)));
    }
  };
  for (const int ranks : {2, 4, 8})
    for (const std::int64_t size : {128, 256, 1024})
      for (const std::int64_t rows : {512, 1536, 4096}) check("cpu", rows, size, ranks);
  check("h100", 16384, 11264, 2);
}

// --- Simple ---

TEST(Simple, FollowsFromItsConstants) {
  const Graph graph = parse(R"(
    group tp: 0 1
    group one: 0
    a: f32[100,100] = input
    mm: f32[100,100] = aten.mm(a, a)
    add: f32[100,100] = aten.add.Tensor(a, a)
    view: f32[10000] = aten.view(a, [10000])
    ag: f32[200,100] = _c10d_functional.all_gather_into_tensor(a, 2, 'tp')
    w: f32[200,100] = _c10d_functional.wait_tensor(ag)
    alone: f32[100,100] = _c10d_functional.all_reduce(a, 'sum', 'one')
    return [mm]
  )");
  const auto ns = [&](const char* name, const char* constants = "simple") {
    return estimator(constants)->estimate(graph, graph.find(name)).ns;
  };
  EXPECT_EQ(ns("mm"), 4);    // 2e6 FLOPs / 500 TFLOP/s
  EXPECT_EQ(ns("add"), 32);  // 40,000 bytes in and out / 2,500 GB/s
  EXPECT_EQ(ns("view"), 0);
  EXPECT_EQ(ns("ag"), 20'400);  // 20 us + 80,000 bytes / 200 GB/s
  EXPECT_EQ(ns("w"), 0);
  EXPECT_EQ(ns("alone"), 0) << "a group with one rank";
  EXPECT_EQ(ns("mm", "simple{tflops=1}"), 2000);
  EXPECT_EQ(ns("add", "simple{mem_gbs=1}"), 80'000);
  EXPECT_EQ(ns("ag", "simple{coll_us=0,coll_gbs=1}"), 80'000);
  EXPECT_EQ(ns("mm", "simple{}"), 4);
}

// --- Groups of unknown size ---

TEST(UnknownGroups, HaveTheRanksOfTheWorldOrTwo) {
  constexpr std::string_view kText = R"(
    group two: 0 1
    group one: 0
    x: f32[1024] = input
    known: f32[1024] = _c10d_functional.all_reduce(x, 'sum', 'two')
    other: f32[1024] = _c10d_functional.all_reduce(x, 'sum', 'other')
    none: f32[1024] = _c10d_functional.all_reduce(x, 'sum', None)
    alone: f32[1024] = _c10d_functional.all_reduce(x, 'sum', 'one')
    g: f32[4096] = _c10d_functional.all_gather_into_tensor(x, 4, 'four')
    return [known, other, none, alone, g]
  )";
  Graph graph = parse(kText);
  EXPECT_EQ(known_group_size(graph, node(graph, "known")), 2);
  EXPECT_EQ(known_group_size(graph, node(graph, "alone")), 1);
  EXPECT_EQ(known_group_size(graph, node(graph, "g")), 4);
  EXPECT_EQ(known_group_size(graph, node(graph, "other")), std::nullopt);
  EXPECT_EQ(known_group_size(graph, node(graph, "none")), std::nullopt);
  for (const char* name : {"roofline", "simple", "torch-2.11", "torch-2.15"}) {
    const auto ns = [&](const char* call) {
      return estimator(name)->estimate(graph, graph.find(call)).ns;
    };
    const auto latency = [&](const char* call) {
      return estimator(name)->latency_ns(graph, graph.find(call));
    };
    EXPECT_GT(ns("known"), 0) << name;
    EXPECT_EQ(ns("other"), ns("known")) << name;
    EXPECT_EQ(ns("none"), ns("known")) << name;
    EXPECT_EQ(latency("other"), latency("known")) << name;
    EXPECT_EQ(ns("alone"), 0) << name;
  }
  graph.part(PartId(0)).world_size = 8;
  EXPECT_EQ(estimated_group_size(graph, node(graph, "other")), 8);
  EXPECT_EQ(estimated_group_size(graph, node(graph, "known")), 2);
  graph.part(PartId(0)).world_size = 1;
  EXPECT_EQ(estimator("simple")->estimate(graph, graph.find("other")).ns, 0);
}

TEST(UnknownGroups, HaveTheRanksThatAreAssumed) {
  Graph graph = parse(R"(
    group two: 0 1
    x: f32[1048576] = input
    known: f32[1048576] = _c10d_functional.all_reduce(x, 'sum', 'two')
    other: f32[1048576] = _c10d_functional.all_reduce(x, 'sum', 'other')
    twin: f32[1048576] = _c10d_functional.all_reduce(x, 'sum', 'other_extra')
    none: f32[1048576] = _c10d_functional.all_reduce(x, 'sum', None)
    return [known, other, twin, none]
  )");
  const auto ranks = [&](const char* call) {
    return estimated_group_size(graph, node(graph, call));
  };
  const auto groups = unsized_groups(graph);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name, "other");
  EXPECT_EQ(groups[1].name, "other_extra");
  EXPECT_FALSE(static_cast<bool>(groups[2].group));
  EXPECT_EQ(groups[2].collective, graph.find("none"));
  const std::int64_t before = estimator("roofline")->estimate(graph, graph.find("other")).ns;
  ASSERT_TRUE(graph.assume(Assumptions::parse("ranks:other=16,ranks:=4").value()));
  EXPECT_EQ(ranks("known"), 2);
  EXPECT_EQ(ranks("other"), 16);
  EXPECT_EQ(ranks("twin"), 16) << "a twin has the size of its original";
  EXPECT_EQ(ranks("none"), 4);
  EXPECT_EQ(known_group_size(graph, node(graph, "other")), std::nullopt);
  EXPECT_GT(estimator("roofline")->estimate(graph, graph.find("other")).ns, before);
  ASSERT_TRUE(graph.assume(Assumptions::parse("ranks:other=16,ranks:other_extra=4").value()));
  EXPECT_EQ(ranks("twin"), 4);
  EXPECT_EQ(ranks("none"), 2);
}

TEST(UnknownGroups, HaveConsecutiveRanks) {
  Graph graph = parse(R"(
    x: f32[8] = input
    a: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    return [a]
  )");
  const auto place = [&](const char* assumed) {
    EXPECT_TRUE(graph.assume(Assumptions::parse(assumed).value())) << assumed;
    const GroupPlacement p = place_group(graph, node(graph, "a"), 8);
    return std::tuple(p.ranks, p.nodes, p.ranks_per_node);
  };
  EXPECT_EQ(place(""), std::tuple(2, 1, 2));
  EXPECT_EQ(place("ranks:dp=8"), std::tuple(8, 1, 8));
  EXPECT_EQ(place("ranks:dp=16"), std::tuple(16, 2, 8));
  EXPECT_EQ(place("ranks:dp=17"), std::tuple(17, 3, 1));
  EXPECT_EQ(place("ranks:dp=16,stride:dp=2"), std::tuple(16, 4, 4));
  // Ranks 0 3 6, 9 12 15, 18 21 and so on.
  EXPECT_EQ(place("ranks:dp=9,stride:dp=3"), std::tuple(9, 4, 1));
  EXPECT_EQ(place("ranks:dp=8,stride:dp=3"), std::tuple(8, 3, 2));
  EXPECT_EQ(place("ranks:dp=16,stride:dp=8"), std::tuple(16, 16, 1));
  EXPECT_EQ(place("ranks:dp=1"), std::tuple(1, 1, 1));
}

TEST(UnknownGroups, RefuseSizesThatDoNotFit) {
  Graph graph = parse(R"(
    group two: 0 1
    x: f32[8] = input
    a: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'two')
    b: f32[8] = _c10d_functional.all_reduce(a, 'sum', 'dp')
    return [b]
  )");
  const auto error = [&](const char* assumed) {
    const auto done = graph.assume(Assumptions::parse(assumed).value());
    EXPECT_FALSE(done) << assumed;
    if (done) return std::string();
    EXPECT_EQ(done.error().kind, Error::Kind::usage) << assumed;
    return done.error().message;
  };
  EXPECT_EQ(error("ranks:two=4"),
            "cannot assume ranks:two: the graph has no process group two with an unknown number of "
            "ranks");
  EXPECT_EQ(error("ranks:=4"),
            "cannot assume ranks:: the graph has no collective without a process group with an "
            "unknown number of ranks");
  EXPECT_EQ(error("ranks:dp=0"), "ranks:dp: a group must have 1 to 1048576 ranks, not 0");
  EXPECT_TRUE(graph.assumptions().empty());
}

TEST(UnknownGroups, AreFacts) {
  Graph graph = parse(R"(
    x: f32[8] = input
    a: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    b: f32[8] = _c10d_functional.all_reduce(a, 'max', 'tp')
    c: f32[8] = _c10d_functional.all_reduce(b, 'sum', None)
    d: f32[32] = _c10d_functional.all_gather_into_tensor(c, 4, 'fsdp')
    return [d]
  )");
  const auto facts = [&] {
    std::vector<std::string> texts;
    for (const Fact& fact : graph.facts())
      if (fact.text.find("number of ranks") != std::string::npos) texts.push_back(fact.text);
    return texts;
  };
  const auto expected = testing::ElementsAre(
      "the file lacks the number of ranks of process group tp: estimates assume 2 ranks, unless "
      "--assume ranks:tp=N says otherwise",
      "the file lacks the number of ranks of the collectives without a process group: estimates "
      "assume 2 ranks, unless --assume ranks:=N says otherwise");
  EXPECT_THAT(facts(), expected);
  ASSERT_TRUE(graph.finish());
  EXPECT_THAT(facts(), expected) << "once for each group, however often a graph is finished";
  ASSERT_TRUE(graph.assume(Assumptions::parse("ranks:tp=16").value()));
  ASSERT_TRUE(graph.finish());
  EXPECT_THAT(facts(), expected) << "the capture still lacks the number";
}

TEST(Estimators, RefuseUnknownNamesAndOptions) {
  for (const char* name :
       {"", "roof", "simple{", "simple{tflops}", "simple{tflops=}", "simplex", "simple{tflops=-1}",
        "simple{coll_gbs=0}", "simple{tflops=1;mem_gbs=1}", "simple{tflops=nan}", "simple}"}) {
    const auto made = make_estimator({.name = name});
    ASSERT_FALSE(made.has_value()) << name;
    EXPECT_EQ(made.error().kind, Error::Kind::usage);
  }
  EXPECT_FALSE(make_estimator({.gpus_per_node = 0}).has_value());
}

TEST(Estimators, ErrorsShowWhatToWrite) {
  const auto error = [](const char* name) {
    return make_estimator({.name = name}).error().message;
  };
  EXPECT_EQ(error("simple{tflops=3"),
            "estimator `simple{tflops=3`: expected `}` at the end, as in simple{coll_us=20}");
  EXPECT_EQ(error("simple{tflops=0}"),
            "estimator `simple`: `tflops=0` is not a constant; expected NAME=NUMBER, where NAME is "
            "coll_us, coll_gbs, tflops or mem_gbs, and NUMBER is positive (coll_us may be 0)");
  EXPECT_EQ(error("measured{gpu=1}"),
            "estimator `measured{gpu=1}`: expected measured or measured{device=\"NAME\"}, such as "
            "measured{device=\"NVIDIA H200\"}");
  EXPECT_EQ(
      error("profile"),
      "estimator `profile`: expected profile{trace=\"FILE\"}, where FILE is a profiler trace");
  EXPECT_THAT(error("roof"), testing::EndsWith("profile{trace=\"FILE\"} or measured"));
}

TEST(Estimators, NeverOverflow) {
  const Graph graph = parse(R"(
    a: f32[1000000,1000000] = input
    b: f32[1000000,1000000] = aten.mm(a, a)
    c: f32[1000000,1000000] = aten.mm(a, b)
    d: f32[1000000,1000000] = aten.mm(a, c)
    return [d]
  )");
  std::int64_t sum = 0;
  for (const NodeCost& cost : estimate_all(graph, *estimator("simple{tflops=1e-300}")))
    ASSERT_FALSE(__builtin_add_overflow(sum, cost.ns, &sum));
  EXPECT_GT(sum, 0);
}

// --- Throughput ---

TEST(Throughput, FollowsFromTheCapture) {
  Graph graph = parse("x: i64[2,100] = input\ny: i64[2,100] = aten.add.Tensor(x, x)\nreturn [y]");
  graph.part(PartId(0)).info =
      R"({"parameters":1000,"embedding_parameters":200,"layers":2,"heads":4,"head_size":8,
          "seq_len":100,"local_batch_size":2,"parallel":"TP=2 x FSDP=8 x cp = 3, ep=5, HTTP=7"})";
  const ModelFacts facts = find_model_facts(graph);
  EXPECT_EQ(facts.non_data_parallel_degree, 6) << "tensor and context parallel";
  EXPECT_EQ(facts.local_tokens, 200);
  EXPECT_EQ(facts.flops_per_token(), 6 * 800 + 12 * 2 * 32 * 100);
  const Throughput t = throughput(facts, 5'000'000, 1'000'000, device("h100"));
  EXPECT_DOUBLE_EQ(*t.tokens_per_second, 200 / 1e-3 / 6);
  EXPECT_DOUBLE_EQ(*t.tflops, 200 / 1e-3 / 6 * 81600 / 1e12);
  EXPECT_DOUBLE_EQ(*t.mfu, *t.tflops / 989.4);
  EXPECT_DOUBLE_EQ(t.hardware_tflops, 5'000'000 / 1e-3 / 1e12);
  EXPECT_FALSE(throughput({}, 1, 0, device("h100")).tokens_per_second.has_value());
}

TEST(Throughput, FactsThatAreNotPositiveNumbersCountAsMissing) {
  Graph graph = parse("x: f32[4] = input\nreturn [x]");
  for (const char* info : {R"({"layers":"inf","seq_len":0,"parallel":8,"parameters":[1]})", "[]",
                           "no JSON", R"({"layers":null,"seq_len":-1,"parameters":"7"})"}) {
    graph.part(PartId(0)).info = info;
    const ModelFacts facts = find_model_facts(graph);
    EXPECT_FALSE(facts.layers || facts.sequence || facts.parameters) << info;
  }
}

// A recipe that moves collectives to a twin of their group does not bring the group along.
TEST(Throughput, StaysWithATwinOfAGroup) {
  const auto parse_with = [](std::string_view name) {
    return parse(fmt::format(R"(
      group dp: 0 1
      x: i64[2,100] = input
      y: i64[4,100] = _c10d_functional.all_gather_into_tensor(x, 2, '{}')
      z: i64[4,100] = _c10d_functional.wait_tensor(y)
      return [z]
    )",
                             name));
  };
  EXPECT_EQ(find_model_facts(parse_with("dp")).non_data_parallel_degree, 1);
  EXPECT_EQ(find_model_facts(parse_with("dp_extra")).non_data_parallel_degree, 1);
  EXPECT_FALSE(find_model_facts(parse_with("other")).non_data_parallel_degree.has_value())
      << "its purpose is not known";
}

TEST(Throughput, IsUnknownWithoutTheFacts) {
  const Graph graph = parse("x: f32[4] = input\nreturn [x]");
  const ModelFacts facts = find_model_facts(graph);
  EXPECT_FALSE(facts.local_tokens.has_value());
  EXPECT_FALSE(facts.flops_per_token().has_value());
}

}  // namespace
}  // namespace jointer::test

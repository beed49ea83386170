// Times of kernels compared with values computed by hand.

#include "core/cost/kernel_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/json_text.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

// 1,000 bytes and 1,000,000 FLOPs a nanosecond, 100 multiprocessors.
DeviceDescription round_device() {
  DeviceDescription device = must(load_device("h100"));
  device.memory_gbps = 1000;
  device.peak_tflops = {{"float32", 1000}};
  device.matmul_units = 100;
  device.kernels = KernelRates{.launch_us = 1,
                               .product_us = 2,
                               .latency_us = 1,
                               .block_bytes = 10'000,
                               .sector_bytes = 32,
                               .coalesced = 0.8,
                               .strided = 0.5,
                               .gathered = 0.4,
                               .scattered = 0.2,
                               .row_reduction = 0.5,
                               .column_reduction = 0.25,
                               .widening = 0.5,
                               .levels = {},
                               .special_gops = 100,
                               .tiles = {{100, 100, 0.5}, {50, 100, 0.4}},
                               .wave_us = 1,
                               .attention = {{64, 0.5, 0.25}, {128, 0.25, 0.2}},
                               .cudnn_attention = {{128, 0.8, 0.4}},
                               .extra_tokens = 0,
                               .extra_causal_tokens = 100};
  return device;
}

double loop_ns(const LoopWork& work) {
  return loop_time(round_device(), work).ns;
}

LoopWork moving(double bytes, AccessPattern pattern = AccessPattern::coalesced,
                LoopWork::Kind kind = LoopWork::Kind::element_wise) {
  LoopWork work{.kind = kind};
  work.add(pattern, bytes);
  return work;
}

TEST(KernelRules, BytesTakeTimeByTheirPattern) {
  EXPECT_DOUBLE_EQ(loop_ns(moving(8e6)), 1000 + 10'000);
  EXPECT_DOUBLE_EQ(loop_ns(moving(8e6, AccessPattern::strided)), 1000 + 16'000);
  EXPECT_DOUBLE_EQ(loop_ns(moving(8e6, AccessPattern::gathered)), 1000 + 20'000);
  EXPECT_DOUBLE_EQ(loop_ns(moving(8e6, AccessPattern::scattered)), 1000 + 40'000);
  LoopWork both = moving(8e6);
  both.add(AccessPattern::strided, 8e6);
  EXPECT_DOUBLE_EQ(loop_ns(both), 1000 + 26'000);
}

TEST(KernelRules, ReductionsAndConversionsHaveTheirOwnShares) {
  EXPECT_DOUBLE_EQ(loop_ns(moving(8e6, AccessPattern::coalesced, LoopWork::Kind::row_reduction)),
                   17'000);
  EXPECT_DOUBLE_EQ(loop_ns(moving(8e6, AccessPattern::coalesced, LoopWork::Kind::column_reduction)),
                   33'000);
  EXPECT_DOUBLE_EQ(loop_ns(moving(8e6, AccessPattern::coalesced, LoopWork::Kind::widening)),
                   17'000);
  EXPECT_DOUBLE_EQ(loop_ns(moving(8e6, AccessPattern::scattered, LoopWork::Kind::row_reduction)),
                   41'000)
      << "the smaller share";
}

// A million bytes must be in flight to draw the bandwidth.
TEST(KernelRules, SmallKernelsDoNotFillTheDevice) {
  EXPECT_NEAR(loop_ns(moving(1000)), 1000 + 1250, 1e-6) << "takes a latency";
  EXPECT_NEAR(loop_ns(moving(500'000)), 1000 + 1250, 1e-6);
  LoopWork few = moving(8e6);
  few.blocks = 10;  // of 10,000 bytes each: a tenth of the bandwidth
  EXPECT_NEAR(loop_ns(few), 1000 + 100'000, 1e-6);
  few.blocks = 100;
  EXPECT_DOUBLE_EQ(loop_ns(few), 1000 + 10'000);
  EXPECT_DOUBLE_EQ(loop_ns(LoopWork{}), 1000);
  EXPECT_EQ(loop_time(round_device(), LoopWork{}).limit, NodeCost::Limit::launch);
  EXPECT_EQ(loop_time(round_device(), moving(8e6)).limit, NodeCost::Limit::memory);
}

TEST(KernelRules, SpecialFunctionsMayTakeLongerThanBytes) {
  LoopWork work = moving(8e6);
  work.special_functions = 1e5;
  EXPECT_DOUBLE_EQ(loop_ns(work), 11'000);
  work.special_functions = 2e6;
  EXPECT_DOUBLE_EQ(loop_ns(work), 1000 + 20'000);
  EXPECT_EQ(loop_time(round_device(), work).limit, NodeCost::Limit::compute);
}

TEST(KernelRules, CachesHaveMoreBandwidth) {
  DeviceDescription device = round_device();
  device.kernels->latency_us = 0;
  device.kernels->levels = {{10'000, 4000}, {1'000'000, 2000}};
  const auto ns = [&](double bytes) { return loop_time(device, moving(bytes)).ns - 1000; };
  EXPECT_DOUBLE_EQ(ns(8000), 8000 / 4000.0 / 0.8);
  EXPECT_NEAR(ns(100'000), 100'000 / 3000.0 / 0.8, 1e-6) << "halfway on a logarithmic scale";
  EXPECT_DOUBLE_EQ(ns(8e6), 8e6 / 2000 / 0.8);
}

TEST(KernelRules, AloneElementsMoveSectors) {
  const DeviceDescription device = round_device();
  EXPECT_DOUBLE_EQ(sector_traffic(device, 1000, 4, 1), 1000);
  EXPECT_DOUBLE_EQ(sector_traffic(device, 1000, 4, 2), 2000);
  EXPECT_DOUBLE_EQ(sector_traffic(device, 1000, 4, 1024), 8000);
  EXPECT_DOUBLE_EQ(sector_traffic(device, 1000, 2, 1024), 16'000);
  EXPECT_DOUBLE_EQ(sector_traffic(device, 1000, 32, 1024), 1000);
}

double product_ns(std::int64_t rows, std::int64_t columns, std::int64_t batch = 1) {
  return product_time(round_device(), {.batch = batch, .rows = rows, .columns = columns, .k = 500})
      .ns;
}

// A tile of 100 x 100 with k = 500 takes 2 us on one multiprocessor, and 1 us to start and end; one
// of 50 x 100 takes 1.25 us and 0.5 us.
TEST(KernelRules, TheLastWaveTakesAsLongAsAFullOne) {
  EXPECT_DOUBLE_EQ(product_ns(1000, 1000), 2000 + 3000) << "100 tiles";
  EXPECT_DOUBLE_EQ(product_ns(1050, 1000), 2000 + 3 * 1750) << "210 small tiles";
  EXPECT_DOUBLE_EQ(product_ns(1100, 1000), 2000 + 3 * 1750);
  EXPECT_DOUBLE_EQ(product_ns(2000, 1000), 2000 + 2 * 3000);
  EXPECT_DOUBLE_EQ(product_ns(1000, 1000, 2), 2000 + 2 * 3000);
  EXPECT_DOUBLE_EQ(product_ns(50, 1000), 2000 + 1750) << "the smaller tile is faster";
  EXPECT_EQ(product_time(round_device(), {.rows = 1000, .columns = 1000, .k = 500}).limit,
            NodeCost::Limit::compute);
}

TEST(KernelRules, ProductsMayBeBoundByMemory) {
  const KernelDuration time =
      product_time(round_device(), {.rows = 100, .columns = 100, .k = 1, .bytes = 8e6});
  EXPECT_DOUBLE_EQ(time.ns, 2000 + 10'000);
  EXPECT_EQ(time.limit, NodeCost::Limit::memory);
}

TEST(KernelRules, WithoutTilesAProductHasTheRooflinesEfficiency) {
  DeviceDescription device = round_device();
  device.kernels->tiles.clear();
  device.efficiency.matmul = 0.5;
  EXPECT_DOUBLE_EQ(product_time(device, {.rows = 1000, .columns = 1000, .k = 500}).ns,
                   2000 + 1e9 / (1e15 * 0.5) * 1e9);
}

TEST(KernelRules, AttentionDependsOnTheSizeOfAHead) {
  const auto ns = [](AttentionWork work) {
    work.flops = 1e12;
    work.tokens = 1000;
    return attention_time(round_device(), work).ns - 2000;
  };
  EXPECT_DOUBLE_EQ(ns({.head_size = 64}), 2e6);
  EXPECT_DOUBLE_EQ(ns({.head_size = 64, .is_backward = true}), 4e6);
  EXPECT_DOUBLE_EQ(ns({.head_size = 128}), 4e6);
  EXPECT_DOUBLE_EQ(ns({.head_size = 96}), 4e6 * 128 / 96) << "padded";
  EXPECT_DOUBLE_EQ(ns({.head_size = 256}), 4e6) << "as the largest one that is known";
  EXPECT_DOUBLE_EQ(ns({.head_size = 64, .is_causal = true}), 2e6 * 1.1);
  EXPECT_DOUBLE_EQ(ns({.head_size = 128, .is_cudnn = true}), 1.25e6);
}

RC_GTEST_PROP(KernelRulesProperty, MoreWorkNeverTakesLessTime, ()) {
  DeviceDescription device =
      must(load_device(*rc::gen::element("a100", "h100", "h200", "b200", "mi300x")));
  const auto bytes = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 34);
  const auto more = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 34);
  const auto pattern = *rc::gen::element(AccessPattern::coalesced, AccessPattern::strided,
                                         AccessPattern::gathered, AccessPattern::scattered);
  LoopWork work = moving(static_cast<double>(bytes));
  work.blocks = *rc::gen::inRange<std::int64_t>(0, 1000);
  const KernelDuration before = loop_time(device, work);
  work.add(pattern, static_cast<double>(more));
  RC_ASSERT(loop_time(device, work).ns >= before.ns * (1 - 1e-9));

  ProductWork product{.rows = *rc::gen::inRange<std::int64_t>(1, 20'000),
                      .columns = *rc::gen::inRange<std::int64_t>(1, 20'000),
                      .k = *rc::gen::inRange<std::int64_t>(1, 20'000),
                      .dtype = DType::bfloat16};
  const KernelDuration time = product_time(device, product);
  product.rows += *rc::gen::inRange<std::int64_t>(0, 20'000);
  RC_ASSERT(product_time(device, product).ns >= time.ns);
}

// Every GPU has rates, and the CPU has none unless it is probed.
TEST(KernelRates, AreInTheDescriptionsOfGpus) {
  for (const std::string_view id : device_ids()) {
    const auto device = load_device(id == "cpu" ? "cpu{cores=2}" : id);
    EXPECT_EQ(must(device).kernels.has_value(), id != "cpu") << id;
  }
}

// The description of an H100 after a change of its rates.
Result<DeviceDescription> changed(const std::function<void(OrderedJson&)>& change) {
  OrderedJson json = must(
      parse_json(must(read_bytes(source_path("resources/devices/h100.json"))).view(), "h100.json"));
  change(json["kernels"]);
  const TemporaryFolder folder;
  if (const auto written = write_bytes(folder / "mine.json", json.dump()); !written)
    return tl::unexpected(written.error());
  return load_device(folder / "mine.json");
}

TEST(KernelRates, AreChecked) {
  const std::pair<std::function<void(OrderedJson&)>, std::string_view> cases[] = {
      {[](OrderedJson& rates) { rates["coalesced"] = 0; }, "a share must be positive"},
      {[](OrderedJson& rates) { rates["strided"] = 1.5; }, "a share must be positive"},
      {[](OrderedJson& rates) { rates["launch_us"] = -1; }, "from 0 to 1e9"},
      {[](OrderedJson& rates) { rates["special_gops"] = 1e10; }, "from 0 to 1e9"},
      {[](OrderedJson& rates) { rates["block_bytes"] = 10'000'000'000; }, "from 0 to 1e9"},
      {[](OrderedJson& rates) { rates["sector_bytes"] = 10'000'000'000; }, "from 0 to 1e9"},
      {[](OrderedJson& rates) {
         rates["cudnn_attention"] =
             OrderedJson::parse(R"([{"head_size":64,"forward":2,"backward":1}])");
       },
       "ascending head sizes"},
      {[](OrderedJson& rates) { rates["tiles"][0]["rows"] = 0; }, "a tile needs"},
      {[](OrderedJson& rates) { rates["attention"][1]["head_size"] = 64; }, "ascending head sizes"},
      {[](OrderedJson& rates) {
         rates["levels"] = OrderedJson::parse(R"([{"bytes":1,"gbps":0}])");
       },
       "a positive bandwidth"},
      {[](OrderedJson& rates) { rates.erase("launch_us"); }, "launch_us"},
      {[](OrderedJson& rates) { rates = 3; }, "kernels"}};
  for (const auto& [change, message] : cases) {
    const auto device = changed(change);
    ASSERT_FALSE(device.has_value()) << message;
    EXPECT_EQ(device.error().kind, Error::Kind::input);
    EXPECT_THAT(device.error().message, testing::HasSubstr(message));
  }
  EXPECT_TRUE(changed([](OrderedJson&) {}).has_value());
}

}  // namespace
}  // namespace jointer::test

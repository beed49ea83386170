#include "core/cost/profile_data.h"

#include <fmt/format.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/cost/profile_estimator.h"
#include "core/cost/simple.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

std::string kernel(int id, double us, std::string_view more = {}) {
  return fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":{},"args":{{"External id":{}{}}}}})", us,
      id, more);
}

std::string gather(std::int64_t elements, double us, std::string_view ranks = "[0, 1]") {
  return kernel(0, us,
                fmt::format(R"(,"Collective name":"_allgather_base","dtype":"BFloat16",)"
                            R"("Group size":2,"Out msg nelems":{},"Process Group Ranks":"{}")",
                            elements, ranks));
}

std::string call(int id, std::string_view name, std::string_view dims, std::string_view strides) {
  return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"{}","ts":1,"dur":2,"args":{{)"
                     R"("External id":{},"Input Dims":{},"Input Strides":{},)"
                     R"("Input type":["float","float"]}}}})",
                     name, id, dims, strides);
}

Result<ProfileData> profile(const std::vector<std::string>& events) {
  const std::string text = fmt::format(R"({{"traceEvents":[{}]}})", fmt::join(events, ","));
  const test::TemporaryFolder folder;
  const std::string path = folder / "profile.json";
  EXPECT_TRUE(write_bytes(path, text).has_value());
  return ProfileData::read("profile.json", *read_bytes(path));
}

TEST(ProfileData, FindsOperatorsByTheirTensors) {
  const auto data = must(profile({call(1, "aten::mm", "[[4,8],[8,2],[]]", "[[8,1],[2,1],[]]"),
                                  call(2, "aten::mm", "[[4,8],[8,2],[]]", "[[8,1],[2,1],[]]"),
                                  call(3, "aten::cat", "[[[4,8],[8,2]],[]]", "[[[8,1],[2,1]],[]]"),
                                  kernel(1, 10), kernel(1, 2), kernel(2, 20), kernel(3, 5)}));
  ProfileData::Operator mm{.name = "aten::mm",
                           .shapes = {{4, 8}, {8, 2}},
                           .strides = {{8, 1}, {2, 1}},
                           .type = DType::float32};
  EXPECT_DOUBLE_EQ(*data.operator_ms(mm), 0.016) << "the mean of 12 and 20 us";
  mm.strides.front() = {1, 4};
  EXPECT_FALSE(data.operator_ms(mm));
  EXPECT_EQ(data.operator_count(), 1U) << "lists of tensors match no node";
}

TEST(ProfileData, InterpolatesCollectivesBySize) {
  const auto data = must(profile({gather(1000, 10), gather(4000, 40)}));
  const auto ms = [&](std::int64_t elements, ProfileData::Ranks ranks = {0, 1}) {
    return data.collective_ms("all_gather_into_tensor", ranks, elements, "BFloat16");
  };
  EXPECT_DOUBLE_EQ(*ms(1000), 0.010);
  EXPECT_NEAR(*ms(2000), 0.020, 1e-12) << "linear in log-log space";
  EXPECT_DOUBLE_EQ(*ms(500), 0.005) << "proportional";
  EXPECT_DOUBLE_EQ(*ms(8000), 0.080);
  // 8 kB in 40 us are 0.2 GB/s.
  EXPECT_NEAR(*ms(80'000), 160'000 / (0.2 * 1e6), 1e-9);
  EXPECT_NEAR(*ms(1000, {2, 3}), 0.010, 1e-12) << "the same dimension of the mesh";
  EXPECT_FALSE(ms(1000, {0, 2}));
  EXPECT_FALSE(data.collective_ms("all_reduce", {0, 1}, 1000, "BFloat16"));
}

TEST(ProfileData, AGroupOfAnAmbiguousDimensionIsNotUsedForOthers) {
  const auto data = must(profile({gather(1000, 10), gather(1000, 30, "[2, 3]")}));
  EXPECT_DOUBLE_EQ(*data.collective_ms("all_gather", {2, 3}, 1000, "BFloat16"), 0.030);
  EXPECT_FALSE(data.collective_ms("all_gather", {4, 5}, 1000, "BFloat16"));
}

TEST(ProfileData, ATraceWithoutKernelsIsRefused) {
  const auto none = profile({call(1, "aten::mm", "[[4,8],[8,2]]", "[[8,1],[2,1]]")});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Error::Kind::input);
  EXPECT_THAT(none.error().message, testing::HasSubstr("record_shapes=True"));
}

TEST(ProfileData, TextIsNotATrace) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(write_bytes(folder / "a.json", R"({"traceEvents":["open)").has_value());
  const auto none = ProfileData::read("a.json", *read_bytes(folder / "a.json"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "a.json: not a profiler trace: a string is opened, but never closed");
}

TEST(ProfileEstimator, UsesAnotherEstimatorForTheRest) {
  auto data = must(profile({call(1, "aten::mm", "[[4,8],[8,2]]", "[[8,1],[2,1]]"), kernel(1, 12)}));
  const Graph graph = parse(R"(
    x: f32[4,8] = input
    y: f32[8,2] = input
    mm: f32[4,2] = aten.mm.default(x, y)
    exp: f32[4,2] = aten.exp.default(mm)
    return [exp]
  )");
  auto rest = std::make_unique<SimpleEstimator>(SimpleCosts{}, *load_device("h100"));
  const std::int64_t of_exp = rest->estimate(graph, graph.find("exp")).ns;
  const ProfileEstimator estimator(std::move(data), "profile.json", std::move(rest));
  EXPECT_EQ(estimator.estimate(graph, graph.find("mm")).ns, 12'000);
  EXPECT_EQ(estimator.estimate(graph, graph.find("exp")).ns, of_exp);
  EXPECT_FALSE(estimator.profiled_ms(graph, graph.find("exp")));
}

TEST(ProfileEstimator, AWaitTakesNoTime) {
  auto data =
      must(profile({call(1, "_c10d_functional::wait_tensor", "[[4,8]]", "[[8,1]]"),
                    call(2, "aten::exp", "[[4,8]]", "[[8,1]]"), kernel(1, 12), kernel(2, 3)}));
  const Graph graph = parse(R"(
    group dp: 0 1
    x: f32[4,8] = input
    ar: f32[4,8] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    w: f32[4,8] = _c10d_functional.wait_tensor(ar)
    exp: f32[4,8] = aten.exp.default(w)
    return [exp]
  )");
  const ProfileEstimator estimator(
      std::move(data), "profile.json",
      std::make_unique<SimpleEstimator>(SimpleCosts{}, *load_device("h100")));
  EXPECT_EQ(estimator.estimate(graph, graph.find("exp")).ns, 3'000);
  EXPECT_TRUE(estimator.profiled_ms(graph, graph.find("w"))) << "the trace has such a call";
  EXPECT_EQ(estimator.estimate(graph, graph.find("w")).ns, 0);
}

}  // namespace
}  // namespace jointer::test

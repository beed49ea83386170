#include "app/launch/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/literal.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Graph of_world(int world) {
  std::string ranks;
  for (int i = 0; i < world; ++i) ranks += fmt::format(" {}", i);
  auto graph = parse_literal("group dp:" + ranks + R"(
    x: f32[8] = input
    a: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    w: f32[8] = _c10d_functional.wait_tensor(a)
    return [w]
  )");
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

Graph of_one() {
  return *parse_literal("x: f32[8] = input\na: f32[8] = aten.relu(x)\nreturn [a]");
}

std::string refused(const Graph& graph, const BenchmarkRequest& request, Machine machine = {}) {
  const auto fitted = fit_to_machine(graph, request, machine);
  EXPECT_FALSE(fitted);
  if (fitted) return {};
  EXPECT_EQ(fitted.error().kind, Error::Kind::usage);
  return fitted.error().message;
}

TEST(Fit, RanksMatchTheCollectives) {
  EXPECT_EQ(world_size(of_world(4)), 4);
  EXPECT_EQ(fit_to_machine(of_world(4), {}, {})->request.ranks, 4);
  EXPECT_EQ(fit_to_machine(of_world(4), {.ranks = 4}, {})->request.ranks, 4);
  EXPECT_THAT(refused(of_world(4), {.ranks = 2}), HasSubstr("4 ranks, not 2"));
  EXPECT_THAT(refused(of_world(4), {.ranks = 8}), HasSubstr("--solo"));
}

TEST(Fit, WithoutCollectivesAnyNumberOfRanksFits) {
  EXPECT_EQ(fit_to_machine(of_one(), {}, {})->request.ranks, 1);
  EXPECT_EQ(fit_to_machine(of_one(), {.ranks = 3}, {})->request.ranks, 3);
  EXPECT_TRUE(fit_to_machine(of_one(), {.solo = 7}, {}));
}

TEST(Fit, RanksShareTheCores) {
  const Machine machine{.cores = 8};
  EXPECT_EQ(threads_per_rank({.ranks = 2}, machine), 4);
  EXPECT_EQ(threads_per_rank({.ranks = 16}, machine), 1);
  EXPECT_EQ(threads_per_rank({.ranks = 0, .solo = 3}, machine), 8);
  EXPECT_EQ(threads_per_rank({.ranks = 2, .threads = 3}, machine), 3);
}

TEST(Fit, AWorldThatIsTooLargeRunsAsOneRank) {
  EXPECT_EQ(fit_to_machine(of_world(64), {}, {})->request.ranks, 64);
  EXPECT_THAT(refused(of_world(65), {}), HasSubstr("65 ranks are too many"));
  const auto alone = fit_to_machine(of_world(512), {.solo = 511}, {});
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->request.ranks, 0);
  EXPECT_THAT(refused(of_world(512), {.solo = 512}), HasSubstr("has 512 ranks, numbered 0 to 511"));
  EXPECT_THAT(refused(of_world(4), {.ranks = 4, .solo = 1}), HasSubstr("--solo"));
}

TEST(Fit, ThereMustBeEnoughGpus) {
  const Machine one_gpu{.cores = 8, .gpus = 1};
  for (const RunOn on : {RunOn::cuda, RunOn::automatic})
    EXPECT_EQ(refused(of_world(2), {.on = on}, one_gpu),
              "2 ranks need 2 GPUs, but this machine has 1; --solo RANK runs one rank alone, with "
              "local copies for collectives; use --on cpu to run without GPUs");
  EXPECT_TRUE(fit_to_machine(of_world(2), {.on = RunOn::cuda}, {.cores = 8, .gpus = 2}));
  EXPECT_TRUE(fit_to_machine(of_world(2), {.solo = 0, .on = RunOn::cuda}, one_gpu));
  EXPECT_TRUE(fit_to_machine(of_world(2), {.on = RunOn::cpu}, one_gpu));
  EXPECT_TRUE(fit_to_machine(of_world(2), {}, {.cores = 8}));  // without GPUs, the CPU runs it
  const auto on_gpu = fit_to_machine(of_one(), {}, one_gpu);
  EXPECT_EQ(on_gpu->request.on, RunOn::automatic);
  EXPECT_THAT(on_gpu->notes, IsEmpty());
}

TEST(Fit, MessagesHaveTheHintsOfTheCaller) {
  const RunHints hints{
      .alone = "press Alone", .all_or_one = "press All or Alone", .on_cpu = "press CPU"};
  const Machine one_gpu{.cores = 8, .gpus = 1};
  for (const BenchmarkRequest& request :
       {BenchmarkRequest{.ranks = 3}, BenchmarkRequest{.on = RunOn::cuda},
        BenchmarkRequest{.solo = 2}, BenchmarkRequest{.ranks = 2, .solo = 0}}) {
    const auto fitted = fit_to_machine(of_world(2), request, one_gpu, hints);
    ASSERT_FALSE(fitted);
    EXPECT_THAT(fitted.error().message, Not(HasSubstr("--")));
    EXPECT_EQ(fitted.error().message.find("press Alone") != std::string::npos, !request.solo);
    EXPECT_EQ(fitted.error().message.ends_with("press All or Alone"),
              request.solo && request.ranks > 1);
  }
  const auto on_gpu = fit_to_machine(of_world(2), {}, one_gpu, hints);
  ASSERT_FALSE(on_gpu);
  EXPECT_TRUE(on_gpu.error().message.ends_with("press Alone; press CPU"));
}

}  // namespace
}  // namespace jointer::test

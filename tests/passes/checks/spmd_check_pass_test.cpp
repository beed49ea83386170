#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kCheckedText = R"(
  group tp: 0 1
  x: f32[4,4] = input
  a: f32[4,4] = aten.relu(x)
  ar: f32[4,4] = _c10d_functional.all_reduce(a, 'sum', 'tp')
  w: f32[4,4] = _c10d_functional.wait_tensor(ar)
  return [w]
)";

Graph rank_graph(std::string text, std::int64_t rank) {
  Graph graph = parse(text);
  graph.part(PartId(std::size_t{0})).rank = rank;
  return graph;
}

class SpmdCheckPass : public testing::Test {
 protected:
  void write(std::int64_t rank, std::string text) const {
    ASSERT_TRUE(write_bytes(folder_ / fmt::format("{}.json", rank),
                            write_native(rank_graph(std::move(text), rank))));
  }
  [[nodiscard]] std::string pass_text(std::string_view more = {}) const {
    return fmt::format(R"(spmd_check{{captures=["{}/{{rank}}.json"]{}}})", folder_.path().string(),
                       more);
  }

  TemporaryFolder folder_;
};

std::string text_with(std::string_view from, std::string_view to) {
  std::string text(kCheckedText);
  return text.replace(text.find(from), from.size(), to);
}

std::string any_reason(const StepResult& step, std::string_view action) {
  std::string all;
  for (const Decision& d : step.decisions)
    if (d.action == action) all += d.reason + "\n";
  return all;
}

TEST_F(SpmdCheckPass, FindsTheSameCalls) {
  for (const std::int64_t rank : {0, 1, 2}) write(rank, std::string(kCheckedText));
  const StepResult step = run_pass(rank_graph(std::string(kCheckedText), 0), pass_text());
  EXPECT_THAT(any_reason(step, "checked"), HasSubstr("3 calls are the same on 2 other ranks"));
}

TEST_F(SpmdCheckPass, NamesTheFirstCallsThatDiffer) {
  write(1, text_with("aten.relu", "aten.sin"));
  const StepResult step = run_pass(rank_graph(std::string(kCheckedText), 0), pass_text());
  EXPECT_THAT(reason_of(step, "a", "differs"),
              AllOf(HasSubstr("Call 0: rank 0 runs aten.relu.default"),
                    HasSubstr("rank 1 runs aten.sin.default")));
  EXPECT_THAT(any_reason(step, "differs"), HasSubstr("has additional calls: aten.sin.default (1)"));
}

TEST_F(SpmdCheckPass, ComparesSizesAndCounts) {
  std::string other = text_with("  return", "  more: f32[4,4] = aten.relu(w)\n  return");
  write(1, std::move(other));
  EXPECT_THAT(
      any_reason(run_pass(rank_graph(std::string(kCheckedText), 0), pass_text()), "differs"),
      HasSubstr("rank 0 runs 3 calls and rank 1 runs 4."));
  std::string wide(kCheckedText);
  for (std::size_t at = 0; (at = wide.find("[4,4]", at)) != std::string::npos;)
    wide.replace(at, 5, "[4,8]");
  write(1, std::move(wide));
  EXPECT_THAT(
      reason_of(run_pass(rank_graph(std::string(kCheckedText), 0), pass_text()), "a", "differs"),
      AllOf(HasSubstr("float32[4,4]"), HasSubstr("float32[4,8]")));
}

TEST_F(SpmdCheckPass, RefusesIfConfigured) {
  write(1, text_with("aten.relu", "aten.sin"));
  EXPECT_THROW(run_pass(rank_graph(std::string(kCheckedText), 0), pass_text(",mismatch=error")),
               std::runtime_error);
  write(1, std::string(kCheckedText));
  EXPECT_NO_THROW(run_pass(rank_graph(std::string(kCheckedText), 0), pass_text(",mismatch=error")));
}

TEST_F(SpmdCheckPass, ReportsThatThereIsNothingToCompareWith) {
  EXPECT_THAT(any_reason(run_pass(rank_graph(std::string(kCheckedText), 0), "spmd_check"), "kept"),
              HasSubstr("`captures` is empty"));
  EXPECT_THROW(run_pass(rank_graph(std::string(kCheckedText), 0), pass_text()), std::runtime_error);
}

}  // namespace
}  // namespace jointer::test

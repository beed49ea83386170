// A half of a pair is lowered like the same graph on its own, and whoever asked may cancel.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/capture/half_graph.h"
#include "core/kernels/kernels.h"
#include "core/kernels/lowering.h"
#include "core/open/open.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::kernels {
namespace {

Graph sample() {
  return test::must(open_graph(
      {.path = test::source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")}));
}

std::vector<std::string> names(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::string> result;
  for (const NodeId node : nodes) result.emplace_back(graph.name(node));
  return result;
}

TEST(HalfLowering, IsThatOfTheHalfAlone) {
  const Graph pair = sample();
  for (const PartId half : {kForwardPart, kBackwardPart}) {
    const Graph alone = test::must(half_graph(pair, half));
    const Ir expected = lower(alone, kNewestTorch);
    const Ir found = test::must(lower(pair, half, kNewestTorch, {}));
    ASSERT_EQ(found.ops.size(), expected.ops.size());
    ASSERT_EQ(found.buffers.size(), expected.buffers.size());
    ASSERT_GT(found.ops.size(), 50U);
    for (std::size_t i = 0; i < found.ops.size(); ++i) {
      const Op &a = found.ops[i], &b = expected.ops[i];
      EXPECT_EQ(a.ir, b.ir);
      EXPECT_EQ(a.reads, b.reads);
      EXPECT_EQ(a.writes, b.writes);
      EXPECT_EQ(names(pair, a.nodes), names(alone, b.nodes));
    }
    for (std::size_t i = 0; i < found.buffers.size(); ++i) {
      const Buffer &a = found.buffers[i], &b = expected.buffers[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.bytes, b.bytes);
      EXPECT_EQ(a.users, b.users);
      EXPECT_EQ(a.may_be_freed, b.may_be_freed);
    }
  }
}

// Asks to cancel at the given question.
auto cancelled_at(int question) {
  return [question, asked = 0]() mutable { return ++asked >= question; };
}

TEST(HalfLowering, EndsEarlyIfItIsCancelled) {
  const Graph pair = sample();
  for (int question = 1; question <= 3; ++question) {
    const auto found = lower(pair, kBackwardPart, kNewestTorch, cancelled_at(question));
    ASSERT_FALSE(found) << question;
    EXPECT_EQ(found.error().kind, Error::Kind::cancelled);
  }
}

TEST(HalfLowering, SchedulingEndsEarlyIfItIsCancelled) {
  const Graph pair = sample();
  const Ir ir = test::must(lower(pair, kBackwardPart, kNewestTorch, {}));
  for (int question = 1; question <= 3; ++question) {
    const auto found = schedule(ir, kNewestTorch, {}, cancelled_at(question));
    ASSERT_FALSE(found) << question;
    EXPECT_EQ(found.error().kind, Error::Kind::cancelled);
  }
}

}  // namespace
}  // namespace jointer::kernels

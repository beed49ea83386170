#include "core/inductor/inductor_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/graphs.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/must.h"

namespace jointer {
namespace {

using kernels::Kernel;
using testing::ElementsAre;

const char kAnswer[] = R"json({
  "device": "h100", "source": "inductor", "torch": "2.15.0", "peak_bytes": 500,
  "kernels": [
    {"name": "op0_op1", "kind": "pointwise", "nodes": ["a", "b", "made_by_inductor"],
     "reads_bytes": 10, "writes_bytes": 20, "bytes": 30, "flops": 0, "ms": 0.1, "device": "cuda"},
    {"name": "op2", "kind": "extern", "nodes": ["c"],
     "reads_bytes": 1, "writes_bytes": 2, "bytes": 3, "flops": 9, "ms": null, "device": "cpu"},
    {"name": "op3", "kind": "foreach", "nodes": [], "reads_bytes": 1, "writes_bytes": 2, "bytes": 3}],
  "not_fused": [{"a": "op2", "b": "op0_op1", "reason": "device mismatch (cpu vs cuda:0)"
},
                {"a": "op2", "b": "op9", "reason": "no shared data"}]
})json";

class InductorAnswerTest : public testing::Test {
 protected:
  [[nodiscard]] Result<InductorAnswer> read(const std::string& text) const {
    return read_inductor_answer(test::must(parse_json(text, "answer")), graph, PartId(0));
  }

  Graph graph = test::parse(test::kFusedAndProduct);
};

TEST_F(InductorAnswerTest, HasTheNodesOfTheGraph) {
  const InductorAnswer answer = test::must(read(kAnswer));
  EXPECT_EQ(answer.torch, "2.15.0");
  EXPECT_EQ(answer.device, "h100");
  EXPECT_EQ(answer.peak, 500);
  ASSERT_EQ(answer.scheduled.size(), 3U);
  EXPECT_THAT(answer.names, ElementsAre("op0_op1", "op2", "op3"));
  EXPECT_THAT(answer.scheduled[0].nodes, ElementsAre(graph.find("a"), graph.find("b")));
  EXPECT_EQ(answer.scheduled[0].bytes_read, 10);
  EXPECT_EQ(answer.scheduled[0].bytes_written, 20);
  EXPECT_EQ(answer.scheduled[0].bytes, 30);
  EXPECT_EQ(answer.scheduled[1].kind, Kernel::Kind::external);
  EXPECT_FALSE(answer.scheduled[1].is_on_gpu);
  EXPECT_EQ(answer.scheduled[2].kind, Kernel::Kind::foreach_);
  ASSERT_EQ(answer.not_fused.size(), 1U) << "a pair of an unknown kernel is left out";
  EXPECT_EQ(answer.not_fused[0].first, 1);
  EXPECT_EQ(answer.not_fused[0].second, 0);
}

TEST_F(InductorAnswerTest, AsAListItsReasonsAreThoseOfOurRules) {
  const InductorAnswer answer = test::must(read(kAnswer));
  const kernels::KernelList list = list_of(graph, answer);
  ASSERT_EQ(list.refused.size(), 1U);
  EXPECT_EQ(list.refused[0].reason, to_sentence(kernels::Refusal::other_device));
  EXPECT_EQ(list.kernels.size(), 3U);
  EXPECT_EQ(list.peak, 500);
}

TEST_F(InductorAnswerTest, SaysWhatItCannotRead) {
  const auto kind = read(R"({"kernels": [{"name": "op0", "kind": "gemm"}]})");
  ASSERT_FALSE(kind.has_value());
  EXPECT_THAT(kind.error().message, testing::HasSubstr("kernel 0: its kind `gemm` is unknown"));
  const auto bytes = read(R"({"kernels": [{"name": "op0", "kind": "nop", "bytes": "many"}]})");
  ASSERT_FALSE(bytes.has_value());
  EXPECT_THAT(bytes.error().message, testing::HasSubstr("`bytes`"));
  const auto torch = read(R"({"torch": 2.15})");
  ASSERT_FALSE(torch.has_value());
  EXPECT_THAT(torch.error().message,
              testing::HasSubstr("the answer from Inductor's scheduler: `torch`: expected"));
}

}  // namespace
}  // namespace jointer

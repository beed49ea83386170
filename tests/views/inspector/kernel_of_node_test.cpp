#include "views/inspector/kernel_of_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/hand_made_kernels.h"
#include "tests/support/snapshots.h"
#include "views/session/text/node_text.h"

namespace jointer::views {
namespace {

using kernels::Refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KernelOfNodeTest : public ::testing::Test {
 protected:
  KernelOfNodeTest() : part_(test::small_step_part(snapshot_->graph)) {}

  [[nodiscard]] NodeId node(const char* name) const { return snapshot_->graph.find(name); }
  [[nodiscard]] InspectorSection section(const char* name) const {
    return describe_kernel_of(*test::hand_made_kernels(snapshot_, part_), node(name), source_);
  }
  // The rows with this label.
  [[nodiscard]] std::vector<InspectorRow> rows(const char* name, const QString& label) const {
    std::vector<InspectorRow> found;
    for (const InspectorRow& row : section(name).rows)
      if (row.label == label) found.push_back(row);
    return found;
  }
  [[nodiscard]] std::string value(const char* name, const QString& label) const {
    const std::vector<InspectorRow> found = rows(name, label);
    return found.empty() ? std::string() : found.front().value.toStdString();
  }

  SnapshotPtr snapshot_ = test::snapshot_of(test::kSmallStep);
  CompiledPart part_;
  ShownKernels::Source source_ = ShownKernels::Source::predicted;
};

TEST_F(KernelOfNodeTest, NamesTheKernelAndItsOtherNodes) {
  EXPECT_EQ(value("g1", "runs in"), "kernel 4 of 8: fused relu, mul (pointwise)");
  ASSERT_EQ(rows("g1", "with (1)").size(), 1U);
  EXPECT_EQ(rows("g1", "with (1)").front().links, (std::vector{node("relu_1")}));
  EXPECT_EQ(value("relu_1", "also in"), "kernel 7");
  EXPECT_THAT(rows("g1", "also in"), IsEmpty());
  EXPECT_THAT(value("g1", "kernel time"), HasSubstr(", bound by memory"));
  EXPECT_THAT(value("g1", "kernel bytes"), HasSubstr("GB/s"));
}

TEST_F(KernelOfNodeTest, ANodeWithoutAKernelHasNoRows) {
  EXPECT_THAT(section("x").rows, IsEmpty());
}

TEST_F(KernelOfNodeTest, SaysWhatKeepsTheResult) {
  part_.ir.buffers[0].users = {{.op = 1, .may_overwrite = true}};
  const std::vector<InspectorRow> found = rows("mm", "buf0");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found.front().value,
      "2.00 KiB · live until its last reader, kernel 2 · the reader may overwrite it with its "
      "result");
  EXPECT_EQ(found.front().links, (std::vector{node("relu")}));
  part_.scheduled.lives[0].last = -1;
  EXPECT_EQ(value("mm", "buf0"), "2.00 KiB · live to the end");
  part_.ir.buffers[0].is_output = true;
  EXPECT_EQ(value("mm", "buf0"), "2.00 KiB · live to the end, as an output of the graph");
}

TEST_F(KernelOfNodeTest, SaysWhichResultsTakeNoMemory) {
  // The op of the kernel computes relu_1 and then g1.
  EXPECT_EQ(value("relu_1", "result"), "not stored; it is computed where it is read");
  part_.scheduled.lives.clear();
  EXPECT_EQ(value("mm", "buf0"), "2.00 KiB · shares memory");
  part_.scheduled.kernels[0].writes.clear();
  EXPECT_EQ(value("mm", "buf0"), "2.00 KiB · stays in the kernel and takes no memory");
  part_.ir.buffers[0].aliases = {1};
  EXPECT_EQ(value("mm", "buf0"), "2.00 KiB · shares the memory of buf1");
}

TEST_F(KernelOfNodeTest, SaysWhyItWasNotFusedWithItsNeighbors) {
  part_.scheduled.refused = {{0, 1, Refusal::is_external},
                             {1, 3, Refusal::no_shared_data}};  // not a neighbor
  std::vector<std::string> texts;
  for (const InspectorRow& row : rows("relu", "not fused with"))
    texts.push_back(row.value.toStdString());
  const std::string reason(kernels::to_sentence(Refusal::is_external));
  EXPECT_THAT(texts, ElementsAre("kernel 1: " + reason, "kernel 3: " + reason))
      << "a library is not even tried";
  EXPECT_EQ(rows("relu", "not fused with").front().links, (std::vector{node("mm")}));
}

TEST_F(KernelOfNodeTest, NamesTheSourceOfTheKernels) {
  EXPECT_EQ(section("mm").title, "Predicted kernel");
  source_ = ShownKernels::Source::asked;
  EXPECT_EQ(section("mm").title, "Inductor's kernel");
  EXPECT_THAT(rows("mm", "runs in").front().note.toStdString(), HasSubstr("Inductor's scheduler"));
  source_ = ShownKernels::Source::compiled;
  EXPECT_EQ(section("mm").title, "Compiled kernel");
  source_ = ShownKernels::Source::measured;
  EXPECT_EQ(section("mm").title, "Measured kernel");
}

// The reasons of the predicted kernels that the trace is tied to are known; their results are not.
TEST_F(KernelOfNodeTest, MeasuredKernelsHaveBothTimes) {
  const auto trace = std::make_shared<CompiledTrace>();
  trace->graphs.emplace_back().runs = 3;
  PartMeasurement measurement{trace, {}};
  measurement.ties.kernels.resize(part_.scheduled.kernels.size());
  measurement.ties.kernels[1] = {.by = TiedBy::name, .calls = {}, .ns = 4'000};
  std::vector<CompiledPart> parts{part_};
  std::vector<PartMeasurement> measurements{measurement};
  const SnapshotKernels measured(snapshot_, std::move(parts), {}, std::move(measurements));
  const auto texts = [&](const char* name) {
    std::vector<std::string> found;
    for (const InspectorRow& row :
         describe_kernel_of(measured, node(name), ShownKernels::Source::measured).rows)
      if (row.label == u"measured" || row.label == u"not fused with" || row.label == u"buf1")
        found.push_back(row.value.toStdString());
    return found;
  };
  EXPECT_THAT(texts("relu"), ElementsAre("4.00 us, the median of 3 runs", HasSubstr("kernel 1"),
                                         HasSubstr("kernel 3")));
  EXPECT_EQ(texts("mm").front(), "not found in the trace");
}

// Inductor's answer has no buffers, but reasons in its own words.
TEST_F(KernelOfNodeTest, InductorsKernelsHaveItsReasonsAndNoResults) {
  source_ = ShownKernels::Source::asked;
  // The kernel of relu_1 is not a neighbor of that of relu.
  part_.stated = {{1, 0, "no shared data"}, {1, 3, "too far"}};
  EXPECT_THAT(rows("relu", "buf1"), IsEmpty());
  EXPECT_THAT(rows("relu_1", "result"), IsEmpty());
  std::vector<std::string> texts;
  for (const InspectorRow& row : rows("relu", "not fused with"))
    texts.push_back(row.value.toStdString());
  EXPECT_THAT(texts,
              ElementsAre("kernel 1: Inductor: no shared data",
                          "kernel 3: " + std::string(kernels::to_sentence(Refusal::is_external))));
}

TEST_F(KernelOfNodeTest, OfCompiledKernelsReasonsAndResultsAreUnknown) {
  source_ = ShownKernels::Source::compiled;
  EXPECT_EQ(value("relu", "runs in"), "kernel 2 of 8: relu (pointwise)");
  EXPECT_THAT(rows("relu", "not fused with"), IsEmpty());
  EXPECT_THAT(rows("relu_1", "result"), IsEmpty());
}

}  // namespace
}  // namespace jointer::views

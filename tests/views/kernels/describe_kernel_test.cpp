#include "views/kernels/describe_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/hand_made_kernels.h"
#include "tests/support/snapshots.h"
#include "views/session/text/node_text.h"

namespace jointer::views {
namespace {

using kernels::Refusal;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

class DescribeKernelTest : public ::testing::Test {
 protected:
  DescribeKernelTest() { part_ = test::small_step_part(snapshot_->graph); }

  // The rows of a section as "label: value"; none if there is no such section.
  std::vector<std::string> rows(std::size_t kernel, const QString& title) {
    std::vector<std::string> texts;
    for (const InspectorSection& section : describe(kernel).sections)
      if (section.title == title)
        for (const InspectorRow& row : section.rows)
          texts.push_back((row.label + ": " + row.value).toStdString());
    return texts;
  }
  InspectorContent describe(std::size_t kernel) {
    return describe_kernel(*test::hand_made_kernels(snapshot_, part_), kernel);
  }
  static std::string sentence(Refusal refusal) {
    return std::string(kernels::to_sentence(refusal));
  }

  SnapshotPtr snapshot_ = test::snapshot_of(test::kSmallStep);
  CompiledPart part_;
};

TEST_F(DescribeKernelTest, NamesTheKernelAndLinksItsNodes) {
  const InspectorContent content = describe(3);
  EXPECT_EQ(content.title, "fused relu, mul");
  EXPECT_EQ(content.subtitle, "kernel 4 of 8 · pointwise");
  EXPECT_EQ(content.sections.front().rows.front().links,
            (std::vector{snapshot_->graph.find("relu_1"), snapshot_->graph.find("g1")}));
}

TEST_F(DescribeKernelTest, LinksSomeOfManyNodes) {
  part_.scheduled.kernels[0].nodes.assign(30, snapshot_->graph.find("mm"));
  const InspectorContent content = describe(0);
  EXPECT_EQ(content.sections.front().rows.front().links.size(), 20U);
  EXPECT_EQ(content.sections.front().rows.front().all_links.size(), 30U);
}

TEST_F(DescribeKernelTest, ListsItsBuffersWithTheirLives) {
  EXPECT_THAT(rows(1, "Buffers"),
              ElementsAre("buf0: read 2.00 KiB · size 2.00 KiB · live from kernel 1 to 2",
                          "buf1: written 2.00 KiB · size 2.00 KiB · live from kernel 2 to 3"));
}

TEST_F(DescribeKernelTest, SaysWhichBuffersAreKept) {
  kernels::Buffer& input = part_.ir.buffers[0];
  input.is_input = true;
  EXPECT_THAT(rows(1, "Buffers"),
              ElementsAre("buf0: read 2.00 KiB · size 2.00 KiB · an input, freed after kernel 2",
                          testing::_));
  part_.scheduled.lives[0].last = -1;
  part_.scheduled.lives[1].last = -1;
  EXPECT_THAT(
      rows(1, "Buffers"),
      ElementsAre("buf0: read 2.00 KiB · size 2.00 KiB · an input, never freed",
                  "buf1: written 2.00 KiB · size 2.00 KiB · live from kernel 2 to the end"));
  part_.scheduled.lives.clear();
  EXPECT_THAT(rows(1, "Buffers"),
              ElementsAre("buf0: read 2.00 KiB · size 2.00 KiB · an input, never freed",
                          "buf1: written 2.00 KiB · size 2.00 KiB · shares memory"));
  input.is_input = false;
  EXPECT_THAT(rows(1, "Buffers"),
              ElementsAre("buf0: read 2.00 KiB · size 2.00 KiB · shares memory", testing::_));
}

TEST_F(DescribeKernelTest, SaysWhyItWasNotFusedNearestFirst) {
  part_.scheduled.refused = {{0, 3, Refusal::no_shared_data},
                             {3, 6, Refusal::reduced_size},
                             {2, 3, Refusal::is_external},
                             {2, 3, Refusal::is_external},   // of other ops of the same kernels
                             {0, 1, Refusal::is_external}};  // another kernel
  EXPECT_THAT(rows(3, "Not fused with"),
              ElementsAre("kernel 3: " + sentence(Refusal::is_external),
                          "kernel 1: " + sentence(Refusal::no_shared_data),
                          "kernel 7: " + sentence(Refusal::reduced_size)));
  EXPECT_TRUE(rows(5, "Not fused with").empty());
}

TEST_F(DescribeKernelTest, PairsThatWereFusedInTheEndAreNotListed) {
  part_.scheduled.kernel_of[1] = 0;
  part_.scheduled.kernel_of[2] = -1;  // a dead op
  part_.scheduled.refused = {{0, 1, Refusal::would_cycle}, {0, 2, Refusal::would_cycle}};
  EXPECT_TRUE(rows(0, "Not fused with").empty());
}

TEST_F(DescribeKernelTest, CountsTheReasonsThatAreNotListed) {
  const test::HandMadeKernel relu{.nodes = {"relu"}, .read = 8, .written = 8};
  const std::vector many(kMaxRefusals + 4, relu);
  part_ = test::hand_made_part(snapshot_->graph, many);
  for (std::int32_t other = 1; other < static_cast<std::int32_t>(many.size()); ++other)
    part_.scheduled.refused.push_back({0, other, Refusal::no_shared_data});
  const std::vector<std::string> listed = rows(0, "Not fused with");
  ASSERT_EQ(listed.size(), kMaxRefusals + 1);
  EXPECT_EQ(listed.front(), "kernel 2: " + sentence(Refusal::no_shared_data));
  EXPECT_EQ(listed.back(), "others: 3 more");
}

// The second half's kernels are numbered after the first half's.
TEST_F(DescribeKernelTest, CountsKernelsAcrossParts) {
  std::vector<CompiledPart> parts(2, part_);
  parts[1].scheduled.refused = {{0, 1, Refusal::is_external}};
  const SnapshotKernels both(snapshot_, std::move(parts));
  EXPECT_EQ(both.rows().size(), 16U);
  const InspectorContent content = describe_kernel(both, 9);
  EXPECT_EQ(content.subtitle, "kernel 10 of 16 · pointwise");
  EXPECT_EQ(content.sections.back().rows.front().label, "kernel 9");
  EXPECT_TRUE(content.sections[1].rows.front().value.endsWith("live from kernel 9 to 10"));
}

// The time of a measured kernel is the measured one, as in the table.
TEST_F(DescribeKernelTest, AMeasuredKernelHasAPredictedTime) {
  const auto trace = std::make_shared<CompiledTrace>();
  trace->graphs.emplace_back().runs = 3;
  PartMeasurement measurement{trace, {}};
  measurement.ties.kernels.resize(part_.scheduled.kernels.size());
  measurement.ties.kernels[1] = {.by = TiedBy::name, .calls = {}, .ns = 4'000};
  std::vector<CompiledPart> parts{part_};
  std::vector<PartMeasurement> measurements{measurement};
  const SnapshotKernels measured(snapshot_, std::move(parts), {}, std::move(measurements));
  const InspectorContent content = describe_kernel(measured, 1);
  std::vector<std::string> labels;
  for (const InspectorRow& row : content.sections.front().rows)
    labels.push_back(row.label.toStdString());
  EXPECT_THAT(labels, Contains("measured"));
  EXPECT_THAT(labels, Contains("predicted"));
  EXPECT_THAT(labels, Not(Contains("time")));
}

// Reasons that Inductor states are shown as they are.
TEST_F(DescribeKernelTest, RefusalsThatInductorStates) {
  part_.stated = {{0, 1, "no shared data"}, {3, 1, "device mismatch"}, {4, 5, "will create cycle"}};
  const std::vector<std::string> of_first = rows(0, "Not fused with");
  ASSERT_EQ(of_first.size(), 1U);
  EXPECT_EQ(of_first[0], "kernel 2: Inductor: no shared data");
  EXPECT_THAT(rows(1, "Not fused with"), ElementsAre("kernel 1: Inductor: no shared data",
                                                     "kernel 4: Inductor: device mismatch"));
  EXPECT_TRUE(rows(2, "Not fused with").empty());
}

}  // namespace
}  // namespace jointer::views

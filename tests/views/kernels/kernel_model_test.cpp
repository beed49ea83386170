#include "views/kernels/kernel_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <algorithm>

#include "core/base/index.h"
#include "tests/support/hand_made_kernels.h"
#include "tests/support/snapshots.h"
#include "views/session/kernels/kernel_text.h"

namespace jointer::views {
namespace {

using KernelKind = kernels::Kernel::Kind;

class KernelModelTest : public ::testing::Test {
 protected:
  KernelModelTest() { show(test::small_step_part(graph())); }

  void show(CompiledPart part) {
    model_.set_kernels(test::hand_made_kernels(snapshot_, std::move(part)));
  }
  [[nodiscard]] const Graph& graph() const { return snapshot_->graph; }
  [[nodiscard]] NodeId node(const char* name) const { return graph().find(name); }
  [[nodiscard]] const KernelTotals& totals() const { return model_.kernels()->totals(); }
  [[nodiscard]] std::int64_t total(int column) const {
    return model_.totals().by_column[as_index(column)].value_or(0);
  }

  SnapshotPtr snapshot_ = test::snapshot_of(test::kSmallStep);
  KernelModel model_;
  QAbstractItemModelTester tester_{&model_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(KernelModelTest, ShowsOnlyLaunchesUnlessAsked) {
  EXPECT_EQ(model_.row_count(), 8);
  EXPECT_EQ(model_.rowCount(), 6);
  EXPECT_FALSE(model_.index_of(5).isValid()) << "the wait";
  model_.set_show_all(true);
  EXPECT_EQ(model_.rowCount(), 8);
  EXPECT_FALSE(model_.number(5, KernelModel::time_column)) << "a wait takes no time";
}

TEST_F(KernelModelTest, DescribesAKernel) {
  EXPECT_EQ(model_.text(0, KernelModel::name_column), "mm");
  EXPECT_EQ(model_.text(3, KernelModel::name_column), "fused relu, mul");
  EXPECT_EQ(model_.text(7, KernelModel::name_column), "t") << "only a view";
  EXPECT_EQ(model_.number(3, KernelModel::number_column), 4);
  EXPECT_EQ(model_.text(6, KernelModel::kind_column), "reduction");
  EXPECT_EQ(model_.text(0, KernelModel::kind_column), "library");
  EXPECT_EQ(model_.text(3, KernelModel::phase_column), "forward") << "that of its first node";
  EXPECT_EQ(model_.number(3, KernelModel::nodes_column), 2);
  EXPECT_EQ(model_.text(3, KernelModel::bound_column), "memory");
  EXPECT_TRUE(model_.note(3, KernelModel::name_column).contains("relu_1\ng1"));
}

TEST_F(KernelModelTest, ShortensLongNames) {
  const SnapshotPtr snapshot = test::snapshot_of(R"(
    x: f32[8,8] = input
    a: f32[8,8] = aten.sin(x)
    b: f32[8,8] = aten.cos(a)
    c: f32[8,8] = aten.exp(b)
    d: f32[8,8] = aten.tanh(c)
    v: f32[64] = aten.view(d, [64])
    e: f32[64] = aten.relu(v)
    f: f32[64] = aten.neg(e)
    g: f32[64] = aten.sin(f)
    return [g]
  )");
  const auto shown = test::hand_made_kernels(
      snapshot,
      test::hand_made_part(snapshot->graph,
                           {{KernelKind::pointwise, {"a", "b", "c", "d", "v", "e", "f", "g"}}}));
  EXPECT_EQ(kernel_name(snapshot->graph, shown->kernel(0)), "fused sin, cos, exp, tanh, relu +1");
}

TEST_F(KernelModelTest, LoopsTakeTheTimeOfTheirBytes) {
  const DeviceDescription& device = snapshot_->analysis.device;
  const double ns = 600e6 / (device.memory_gbps * device.efficiency.memory);
  ASSERT_GT(ns, device.kernel_us * 1e3);
  EXPECT_NEAR(static_cast<double>(*model_.number(3, KernelModel::time_column)), ns, 1);
  EXPECT_EQ(model_.number(1, KernelModel::time_column),
            static_cast<std::int64_t>(device.kernel_us * 1e3))
      << "few bytes";
}

TEST_F(KernelModelTest, CallsAndCollectivesTakeTheEstimatesOfTheirNodes) {
  const auto ns = [&](const char* name) {
    return snapshot_->analysis.costs[node(name).index()].ns;
  };
  EXPECT_EQ(model_.number(0, KernelModel::time_column), ns("mm"));
  EXPECT_EQ(model_.number(4, KernelModel::time_column), ns("ar"));
  EXPECT_TRUE(model_.note(0, KernelModel::time_column).startsWith("Estimator: "));
  EXPECT_TRUE(model_.note(1, KernelModel::time_column).contains("bytes", Qt::CaseInsensitive));
}

// These estimators give the times of all calls, so loops of one call take its time.
TEST_F(KernelModelTest, NamesTheEstimatorIfItGivesTheTimesOfLoops) {
  const SnapshotPtr by_roofline = snapshot_;
  for (const char* name : {"simple{}", "torch-2.15"}) {
    AnalysisOptions options;
    options.estimator.name = name;
    snapshot_ = make_snapshot(by_roofline->graph, options).value();
    show(test::small_step_part(graph()));
    EXPECT_EQ(model_.note(1, KernelModel::time_column).toStdString(),
              "Estimator: " + snapshot_->analysis.estimator)
        << name;
    EXPECT_TRUE(model_.note(3, KernelModel::time_column).contains("bytes", Qt::CaseInsensitive))
        << "two calls, " << name;
  }
  // A measured time of one call.
  Analysis analysis = by_roofline->analysis;
  analysis.estimator = "measured on a test";
  analysis.costs[node("relu").index()].limit = NodeCost::Limit::given;
  snapshot_ = snapshot_of(by_roofline->graph, std::move(analysis));
  show(test::small_step_part(graph()));
  EXPECT_EQ(model_.note(1, KernelModel::time_column), "Estimator: measured on a test");
}

// Sorted by the time above the roofline, the kernel with the most to gain is first.
TEST_F(KernelModelTest, SortsByTheTimeAboveTheRoofline) {
  EXPECT_EQ(model_.columns()[KernelModel::above_roofline_column].title, "above roofline");
  std::int64_t max = 0, sum = 0;
  for (int row = 0; row < model_.row_count(); ++row) {
    const auto above = model_.number(row, KernelModel::above_roofline_column);
    ASSERT_EQ(above.has_value(), model_.index_of(row).isValid()) << row;
    if (!above) continue;
    EXPECT_GE(*above, 0) << row;
    EXPECT_EQ(*above, *model_.number(row, KernelModel::time_column) -
                          *model_.number(row, KernelModel::roofline_column));
    max = std::max(max, *above);
    sum += *above;
  }
  EXPECT_GT(max, 0);
  EXPECT_EQ(total(KernelModel::above_roofline_column), sum);
  model_.sort(KernelModel::above_roofline_column, Qt::DescendingOrder);
  EXPECT_EQ(model_.number(model_.shown(-1).front(), KernelModel::above_roofline_column), max);
  model_.sort(-1);
}

TEST_F(KernelModelTest, HasTheRateOfEveryKernelExceptCollectives) {
  const double ns = static_cast<double>(*model_.number(3, KernelModel::time_column));
  EXPECT_NEAR(static_cast<double>(*model_.number(3, KernelModel::rate_column)), 600e6 / ns, 1);
  EXPECT_FALSE(model_.number(4, KernelModel::rate_column)) << "its bytes move over the network";
  EXPECT_FALSE(model_.number(5, KernelModel::rate_column)) << "a wait";
}

TEST_F(KernelModelTest, AShortKernelIsBoundByItsLaunch) {
  EXPECT_EQ(model_.text(1, KernelModel::bound_column), "launch");
}

TEST_F(KernelModelTest, ANodeCountsInOneCallOnly) {
  show(test::hand_made_part(graph(), {{KernelKind::external, {"mm"}, 1, 1},
                                      {KernelKind::external, {"mm", "gw1"}, 1, 1}}));
  const auto ns = [&](const char* name) {
    return snapshot_->analysis.costs[node(name).index()].ns;
  };
  EXPECT_EQ(total(KernelModel::time_column), ns("mm") + ns("gw1"));
}

// The line above the table is the sum of the rows.
TEST_F(KernelModelTest, RowsAddUpToTheTotals) {
  KernelTotals sums{.peak_bytes = totals().peak_bytes};
  for (int row = 0; row < model_.row_count(); ++row) {
    if (!model_.index_of(row).isValid()) continue;
    const bool is_collective = model_.text(row, KernelModel::kind_column) == "collective";
    ++(is_collective ? sums.collectives : sums.kernels);
    if (!model_.kernels()->rows()[as_index(row)].is_memory_bound) continue;
    ++sums.memory_bound;
    sums.memory_bound_bytes += model_.kernels()->kernel(as_index(row)).bytes;
  }
  EXPECT_EQ(sums, totals());
  EXPECT_EQ(totals().kernels, 5);
  EXPECT_EQ(totals().collectives, 1);
  EXPECT_EQ(totals().memory_bound_bytes, 600'000'000 + 4'096 + 4'100);
  EXPECT_EQ(total(KernelModel::time_column), model_.kernels()->total_ns());
  EXPECT_EQ(model_.columns()[KernelModel::share_column].whole, model_.kernels()->total_ns());
}

TEST_F(KernelModelTest, ComparesWithOneKernelPerOperator) {
  const KernelTotals& eager = model_.kernels()->per_operator();
  EXPECT_EQ(eager.kernels, 8) << "four products, two relu, two mul";
  EXPECT_EQ(eager.collectives, 1);
  EXPECT_EQ(eager.memory_bound, 4);
  // relu reads and writes 2 KiB; mul reads two tensors.
  EXPECT_EQ(eager.memory_bound_bytes, 2 * 2 * 2'048 + 2 * 3 * 2'048);
  EXPECT_EQ(eager.peak_bytes, snapshot_->analysis.memory.peak_bytes());
}

// The kernels' peak lacks inputs that are never freed. It includes those that may be freed, which
// are part of the memory that is live throughout the step, too, but count once.
TEST_F(KernelModelTest, ThePeakIncludesMemoryThatTheKernelsDoNotCount) {
  const std::int64_t outside = snapshot_->analysis.memory.static_bytes();
  CompiledPart part = test::small_step_part(graph());
  part.scheduled.peak = 1'000'000;
  kernels::Buffer input;
  input.name = "w0";
  input.is_input = true;
  input.may_be_freed = false;
  part.ir.buffers.push_back(input);
  show(part);
  EXPECT_EQ(totals().peak_bytes, 1'000'000 + outside);
  part.ir.buffers.back().may_be_freed = true;
  show(part);
  EXPECT_EQ(totals().peak_bytes, 1'000'000 + outside - 64 * 64 * 4);
}

TEST_F(KernelModelTest, KernelsOnTheHostOfAGpuDoNotCount) {
  show(test::hand_made_part(graph(), {{KernelKind::pointwise, {"relu"}, 8, 8, false}}));
  EXPECT_EQ(model_.rowCount(), 0);
  EXPECT_EQ(totals().kernels, 0);
}

TEST_F(KernelModelTest, FindsTheKernelOfANode) {
  EXPECT_EQ(model_.row_of(node("g1")), 3);
  EXPECT_EQ(model_.row_of(node("relu_1")), 3) << "the first of two";
  EXPECT_EQ(model_.row_of(node("t1")), 7) << "no kernel that launches";
  EXPECT_EQ(model_.row_of(node("x")), -1);
  EXPECT_EQ(model_.row_of(NodeId()), -1);
  EXPECT_EQ(model_.nodes(3), (std::vector{node("relu_1"), node("g1")}));
}

TEST_F(KernelModelTest, PrefersAKernelThatLaunches) {
  show(test::hand_made_part(
      graph(), {{KernelKind::view, {"t1"}}, {KernelKind::pointwise, {"t1", "relu"}, 1, 1}}));
  EXPECT_EQ(model_.row_of(node("t1")), 1);
}

TEST_F(KernelModelTest, FiltersByOperatorKindAndNode) {
  model_.set_filter("g1");
  EXPECT_EQ(model_.rowCount(), 1);
  EXPECT_TRUE(model_.index_of(3).isValid());
  model_.set_filter("library");
  EXPECT_EQ(model_.rowCount(), 2);
  model_.set_filter("wait");
  EXPECT_EQ(model_.rowCount(), 0);
  model_.set_show_all(true);
  EXPECT_EQ(model_.rowCount(), 1);
}

TEST_F(KernelModelTest, AKernelKeepsItsKeyWhenOthersAppear) {
  const std::uint64_t key = model_.key(3);
  CompiledPart part = test::hand_made_part(
      graph(),
      {{KernelKind::external, {"mm"}, 1, 1}, {KernelKind::pointwise, {"relu_1", "g1"}, 1, 1}});
  show(part);
  EXPECT_EQ(model_.key(1), key);
  EXPECT_NE(model_.key(0), key);
}

TEST_F(KernelModelTest, HasNoRowsWithoutKernels) {
  model_.set_kernels(nullptr);
  EXPECT_EQ(model_.row_count(), 0);
  EXPECT_EQ(model_.row_of(node("mm")), -1);
}

}  // namespace
}  // namespace jointer::views

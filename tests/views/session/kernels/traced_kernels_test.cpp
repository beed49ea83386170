#include "views/session/kernels/traced_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/open/open.h"
#include "tests/support/hand_made_kernels.h"
#include "tests/support/held_pool.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/profiler_trace_text.h"
#include "tests/support/snapshots.h"
#include "tests/support/temporary_folder.h"
#include "views/session/document/document.h"
#include "views/session/kernels/kernel_text.h"
#include "views/session/kernels/opened_kernels.h"
#include "views/session/kernels/predict_kernels.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/session/kernels/tied_trace.h"

namespace jointer::views {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Trace = test::ProfilerTraceText;

std::string artifacts_path() {
  return test::source_path("tests/core/capture/artifacts/cpu_2_15.log");
}

// A step of the compilation in the log, plus a call that the compilation does not make.
Trace step_of_log() {
  return Trace()
      .compiled_graph("f", 0, 200)
      .op("graph_0_cpp_fused_native_layer_norm_0", 1, 40)
      .op("aten::mm", 50, 30)
      .op("graph_0_cpp_fused_gelu_sum_1", 90, 20)
      .op("aten::cumsum", 120, 5);
}

// Calls that only the compilation in the log makes.
Trace compiled_calls() {
  return Trace()
      .compiled_graph("f", 0, 200)
      .op("graph_0_cpp_fused_native_layer_norm_0", 1, 40)
      .op("graph_0_cpp_fused_gelu_sum_1", 90, 20);
}

class TracedKernelsTest : public testing::Test {
 protected:
  void SetUp() override {
    pool_ = std::make_unique<test::HeldPool>();
    document_ = std::make_unique<Document>(
        OpenRequest{.path = artifacts_path()},
        test::must(
            make_snapshot(test::must(open_graph({.path = artifacts_path(), .index = 0})), {})));
    QObject::connect(&traced(), &TracedKernels::changed, [this] { ++changes_; });
    QObject::connect(document_.get(), &Document::failed,
                     [this](const QString& message) { message_ = message; });
  }
  void TearDown() override {
    document_.reset();
    pool_.reset();
  }
  [[nodiscard]] TracedKernels& traced() const { return document_->traced_kernels(); }
  void read(const Trace& trace) {
    const std::string path = folder_ / "trace.json";
    ASSERT_TRUE(write_bytes(path, trace.text()));
    traced().read(QString::fromStdString(path));
    pool_->run_all(4);
  }
  void open_artifacts() {
    document_->opened_kernels().read(QString::fromStdString(artifacts_path()));
    pool_->run_all(8);
  }
  // The measured times in microseconds; -1 if unknown.
  [[nodiscard]] std::vector<double> times() const {
    std::vector<double> result;
    const SnapshotKernels& shown = *traced().shown();
    for (std::size_t row = 0; row < shown.rows().size(); ++row)
      if (shown.rows()[row].launches)
        result.push_back(shown.has_time(row) ? static_cast<double>(shown.rows()[row].ns) / 1e3
                                             : -1);
    return result;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<test::HeldPool> pool_;
  std::unique_ptr<Document> document_;
  int changes_ = 0;
  QString message_;
};

TEST_F(TracedKernelsTest, TiesTheKernelsOfTheCompilationThatIsOpen) {
  open_artifacts();
  read(step_of_log());
  ASSERT_TRUE(traced().shown()) << message_.toStdString();
  const SnapshotKernels& shown = *traced().shown();
  EXPECT_TRUE(shown.is_measured());
  EXPECT_TRUE(shown.is_compiled());
  EXPECT_THAT(times(), ElementsAre(40, 30, 20));
  EXPECT_EQ(shown.total_ns(), 90'000);
  EXPECT_THAT(shown.measurements().front().ties.untied_calls, ElementsAre(3U));
  EXPECT_EQ(document_->shown_kernels().source(), ShownKernels::Source::measured);
  EXPECT_EQ(document_->shown_kernels().shown(), traced().shown());
  EXPECT_GT(shown.rows()[1].estimated_ns, 0);
  EXPECT_THAT(measured_time_text(shown, 0).toStdString(), HasSubstr("in one run"));
  EXPECT_EQ(kernel_gbps(shown, 1), shown.kernel(1).bytes / 30'000);
}

TEST_F(TracedKernelsTest, WithoutACompilationPredictedKernelsAreTied) {
  read(step_of_log());
  ASSERT_TRUE(traced().shown()) << message_.toStdString();
  const SnapshotKernels& shown = *traced().shown();
  EXPECT_FALSE(shown.is_compiled());
  const std::int32_t product = shown.row_of(document_->graph().find("mm"));
  ASSERT_GE(product, 0);
  const auto at = static_cast<std::size_t>(product);
  EXPECT_EQ(shown.rows()[at].ns, 30'000);
  // The text of this graph does not say which operators the model called. Before the product, there
  // is one C++ function; after it, the trace has two calls.
  EXPECT_THAT(measured_time_text(shown, 0).toStdString(), HasSubstr("identified by its neighbors"));
  for (std::size_t row = at + 1; row < shown.rows().size(); ++row)
    if (shown.rows()[row].launches) {
      EXPECT_FALSE(shown.has_time(row));
      EXPECT_EQ(measured_time_text(shown, row).toStdString(), "not found in the trace");
      EXPECT_FALSE(kernel_gbps(shown, row));
    }
  EXPECT_EQ(shown.total_ns(), 70'000);

  // When artifacts are opened, the trace is tied to them.
  open_artifacts();
  EXPECT_TRUE(traced().shown()->is_compiled());
  EXPECT_THAT(times(), ElementsAre(40, 30, 20));
  EXPECT_EQ(document_->shown_kernels().source(), ShownKernels::Source::compiled);
  document_->opened_kernels().close();
  pool_->run_all(4);
  EXPECT_FALSE(traced().shown()->is_compiled());
}

TEST_F(TracedKernelsTest, FollowsTheGraph) {
  open_artifacts();
  read(step_of_log());
  const SnapshotKernelsPtr before = traced().shown();
  ASSERT_TRUE(before);
  AnalysisOptions options = document_->analysis().options;
  options.memory.optimizer = OptimizerState::adamw;
  document_->analyze_with(options);
  EXPECT_EQ(traced().shown(), before) << "until the trace is tied again";
  pool_->run_all(12);
  ASSERT_NE(document_->shared_snapshot(), before->snapshot());
  EXPECT_EQ(traced().shown()->snapshot(), document_->shared_snapshot());
  EXPECT_TRUE(traced().is_current());
  EXPECT_TRUE(traced().shown()->is_compiled());
  traced().close();
  EXPECT_FALSE(traced().shown());
  EXPECT_EQ(document_->shown_kernels().source(), ShownKernels::Source::predicted);
}

// While artifacts are read, the trace waits for them; if they are closed first, it is tied anyway.
TEST_F(TracedKernelsTest, ClosingArtifactsThatAreReadEndsTheWait) {
  read(step_of_log());
  ASSERT_TRUE(traced().shown()) << message_.toStdString();
  AnalysisOptions options = document_->analysis().options;
  options.memory.optimizer = OptimizerState::adamw;
  document_->analyze_with(options);
  pool_->run_started();
  document_->opened_kernels().read(QString::fromStdString(artifacts_path()));
  QCoreApplication::processEvents();  // delivers the new snapshot
  EXPECT_TRUE(document_->opened_kernels().is_reading());
  EXPECT_FALSE(traced().is_current());
  EXPECT_FALSE(traced().is_reading());
  document_->opened_kernels().close();
  pool_->run_all(4);
  EXPECT_TRUE(traced().is_current());
  EXPECT_EQ(traced().shown()->snapshot(), document_->shared_snapshot());
}

// The trace waits for them.
TEST_F(TracedKernelsTest, ATraceIsTiedToArtifactsThatAreBeingRead) {
  document_->opened_kernels().read(QString::fromStdString(artifacts_path()));
  ASSERT_TRUE(document_->opened_kernels().is_reading());
  read(compiled_calls());
  pool_->run_all(4);
  EXPECT_TRUE(message_.isEmpty()) << message_.toStdString();
  ASSERT_TRUE(traced().shown());
  EXPECT_TRUE(traced().shown()->is_compiled());
  EXPECT_FALSE(traced().is_reading());
  EXPECT_EQ(changes_, 1) << "tied only once";
}

TEST_F(TracedKernelsTest, ATraceIsTiedToArtifactsThatAreOpenedAfterIt) {
  const std::string path = folder_ / "trace.json";
  ASSERT_TRUE(write_bytes(path, compiled_calls().text()));
  traced().read(QString::fromStdString(path));
  open_artifacts();
  EXPECT_TRUE(message_.isEmpty()) << message_.toStdString();
  ASSERT_TRUE(traced().shown());
  EXPECT_TRUE(traced().shown()->is_compiled());
  EXPECT_FALSE(traced().is_reading());
}

TEST_F(TracedKernelsTest, AFileThatCannotBeReadChangesNothing) {
  read(step_of_log());
  const SnapshotKernelsPtr before = traced().shown();
  ASSERT_TRUE(before);
  read(Trace().op("aten::mm", 0, 10));
  EXPECT_THAT(message_.toStdString(), HasSubstr("not of a compiled step"));
  EXPECT_EQ(traced().shown(), before);
  traced().read("missing");
  pool_->run_all(4);
  EXPECT_THAT(message_.toStdString(), HasSubstr("missing"));
  EXPECT_EQ(changes_, 1);
}

TEST_F(TracedKernelsTest, ATraceOfAnotherModelIsRefused) {
  read(Trace().compiled_graph("f", 0, 90).op("graph_0_cpp_fused_cumsum_0", 1, 5));
  EXPECT_FALSE(traced().shown());
  EXPECT_THAT(message_.toStdString(), HasSubstr("no compiled graph in the trace"));
}

TEST_F(TracedKernelsTest, IfArtifactsAreOpenTheErrorDoesNotAskForThem) {
  open_artifacts();
  read(Trace().compiled_graph("f", 0, 90).op("graph_0_cpp_fused_cumsum_0", 1, 5));
  EXPECT_FALSE(traced().shown());
  EXPECT_THAT(message_.toStdString(), HasSubstr("any of the compilation's kernels"));
}

// A half that was not recorded has no times; the other half has.
TEST(TiedTrace, HalvesAreTiedSeparately) {
  const SnapshotPtr snapshot = test::must(make_snapshot(
      test::must(open_graph(
          {.path = test::source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")})),
      {}));
  const SnapshotKernelsPtr base = test::must(predict_kernels(snapshot, {}));
  ASSERT_EQ(base->parts().size(), 2U);
  const std::size_t row = static_cast<std::size_t>(
      std::ranges::count_if(base->rows(), [](const KernelRow& each) { return each.part == 0; }));
  // All products of the forward, and nothing else.
  Trace trace;
  trace.gpu().compiled_graph("f", 0, 100'000).call("triton_poi_fused_none_0", 1, {{"x", 5, 1}});
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < row; ++i)
    if (base->kernel(i).kind == kernels::Kernel::Kind::external) {
      const kernels::Op& op =
          base->parts()[0].ir.ops[static_cast<std::size_t>(base->kernel(i).ops.front())];
      if (op.target != "aten.mm.default") continue;
      const double at = 100.0 * ++counts["mm"];
      trace.call("aten::mm", at, {{"nvjet_tst", at + 50, 10}});
    }
  const auto read = std::make_shared<const CompiledTrace>(
      test::must(read_compiled_trace("trace.json", PaddedBytes(trace.text()))));
  const SnapshotKernelsPtr tied = test::must(tie_trace(*base, read));
  EXPECT_EQ(tied->total_ns(), 10'000 * counts["mm"]);
  EXPECT_EQ(tied->measurements()[0].ties.tied_kernels(), static_cast<std::size_t>(counts["mm"]));
  EXPECT_EQ(tied->measurements()[1].ties.tied_kernels(), 0U);
}

// A collective on the CPU is in the trace, but its call only starts it.
TEST(TiedTrace, KernelsWithoutATimeMayBeInTheTrace) {
  const SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
  std::vector<CompiledPart> parts{test::small_step_part(snapshot->graph)};
  constexpr std::size_t kCollective = 4;
  const auto trace = std::make_shared<CompiledTrace>();
  TracedGraph& graph = trace->graphs.emplace_back();
  graph.launches.push_back({.name = "_c10d_functional::all_reduce", .call = 0});
  graph.launches.push_back({.name = "nvjet_tst", .call = 1});
  graph.calls.push_back({.name = "_c10d_functional::all_reduce", .first = 0, .count = 1});
  graph.calls.push_back({.name = "", .first = 1, .count = 1});
  PartMeasurement measurement{trace, {}};
  measurement.ties.kernels.resize(parts.front().scheduled.kernels.size());
  measurement.ties.kernels[0] = {.by = TiedBy::neighbors, .calls = {}, .ns = 5};
  measurement.ties.kernels[kCollective] = {.by = TiedBy::name, .calls = {0}, .ns = {}};
  measurement.ties.untied_calls = {1};
  std::vector<PartMeasurement> measurements{measurement};
  const SnapshotKernels shown(snapshot, std::move(parts), {}, std::move(measurements));
  ASSERT_TRUE(shown.rows()[kCollective].launches);
  EXPECT_FALSE(shown.has_time(kCollective));
  const UntiedNames untied = untied_names(shown);
  EXPECT_THAT(untied.kernels,
              ElementsAre(shown.names()[1], shown.names()[2], shown.names()[3], shown.names()[6]));
  EXPECT_THAT(untied.calls, ElementsAre("nvjet_tst"));
}

}  // namespace
}  // namespace jointer::views

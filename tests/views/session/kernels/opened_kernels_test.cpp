#include "views/session/kernels/opened_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "core/open/open.h"
#include "tests/support/cpp_wrappers.h"
#include "tests/support/held_pool.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/snapshots.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_bytes.h"
#include "views/session/document/document.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/session/kernels/tied_artifacts.h"

namespace jointer::views {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string log_path() {
  return test::source_path("tests/core/capture/artifacts/cpu_2_15.log");
}

// The graph that the compilation of the log was given.
SnapshotPtr compiled_snapshot() {
  return test::must(make_snapshot(test::must(open_graph({.path = log_path(), .index = 0})), {}));
}

class OpenedKernelsTest : public testing::Test {
 protected:
  void SetUp() override {
    pool_ = std::make_unique<test::HeldPool>();
    document_ = std::make_unique<Document>(OpenRequest{.path = log_path()}, compiled_snapshot());
    opened_ = std::make_unique<OpenedKernels>(*document_);
    QObject::connect(opened_.get(), &OpenedKernels::changed, [this] { ++changes_; });
    QObject::connect(opened_.get(), &OpenedKernels::failed,
                     [this](const QString& message) { message_ = message; });
  }
  void TearDown() override {
    opened_.reset();
    document_.reset();
    pool_.reset();
  }
  void read(const std::string& path) {
    opened_->read(QString::fromStdString(path));
    pool_->run_all(4);
  }
  // Options that make another snapshot of the same graph.
  [[nodiscard]] AnalysisOptions with_optimizer() const {
    AnalysisOptions options = document_->analysis().options;
    options.memory.optimizer = OptimizerState::adamw;
    return options;
  }

  std::unique_ptr<test::HeldPool> pool_;
  std::unique_ptr<Document> document_;
  std::unique_ptr<OpenedKernels> opened_;
  int changes_ = 0;
  QString message_;
};

TEST_F(OpenedKernelsTest, TiesKernelsToTheGraph) {
  read(log_path());
  ASSERT_TRUE(opened_->shown()) << message_.toStdString();
  EXPECT_EQ(changes_, 1);
  const SnapshotKernels& shown = *opened_->shown();
  EXPECT_TRUE(shown.is_compiled());
  EXPECT_THAT(shown.names(), ElementsAre("cpp_fused_native_layer_norm_0", "extern_kernels.mm",
                                         "cpp_fused_gelu_sum_1"));
  EXPECT_EQ(shown.kernel(1).nodes, (std::vector{document_->graph().find("mm")}));
  EXPECT_EQ(shown.row_of(document_->graph().find("mm")), 1);
  EXPECT_TRUE(shown.kernel(0).nodes.empty());
  EXPECT_EQ(shown.compilations().front().tied_calls, 1U);
  EXPECT_EQ(shown.compilations().front().untied_kernels, 2U);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_TRUE(shown.rows()[row].launches) << row;
    EXPECT_GT(shown.kernel(row).bytes_written, 0) << row;
  }
}

TEST_F(OpenedKernelsTest, KernelsHaveTheirCallsAndSources) {
  read(log_path());
  ASSERT_TRUE(opened_->shown());
  const CompiledKernel* kernel = opened_->shown()->compiled(0);
  ASSERT_NE(kernel, nullptr);
  EXPECT_THAT(kernel->call, HasSubstr("cpp_fused_native_layer_norm_0"));
  ASSERT_TRUE(kernel->source);
  EXPECT_FALSE(opened_->shown()->program_of(0)->sources[*kernel->source].text.empty());
}

TEST_F(OpenedKernelsTest, PackagesAreOpenedLikeLogs) {
  const test::TemporaryFolder folder;
  const std::string wrapper = test::cpp_wrapper(
      test::allocated("buf0") +
      "    // Topologically Sorted Source Nodes: [mm], Original ATen: [aten.mm]\n"
      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf0, arg0_1, arg0_1));\n"
      "    output_handles[0] = buf0.release();\n");
  ASSERT_TRUE(
      write_bytes(folder / "model.pt2",
                  test::zip_bytes({{"package/data/aotinductor/model/a.wrapper.cpp", wrapper}})));
  read(folder / "model.pt2");
  ASSERT_TRUE(opened_->shown()) << message_.toStdString();
  EXPECT_THAT(opened_->shown()->names(), ElementsAre("extern_kernels.mm"));
  EXPECT_EQ(opened_->shown()->row_of(document_->graph().find("mm")), 0);
  EXPECT_EQ(opened_->shown()->program_of(0)->text, wrapper);
}

// A block is live from the first kernel after its allocation to the last one before its release.
TEST_F(OpenedKernelsTest, BlocksHaveTheLivesOfTheProgram) {
  read(log_path());
  ASSERT_TRUE(opened_->shown());
  const CompiledPart& part = opened_->shown()->parts().front();
  const std::vector<BufferBlock>& blocks = opened_->shown()->program_of(0)->blocks;
  ASSERT_EQ(part.scheduled.lives.size(), blocks.size());
  const auto last = static_cast<std::int32_t>(part.scheduled.kernels.size()) - 1;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const kernels::BufferLife& life = part.scheduled.lives[i];
    if (blocks[i].is_output) {
      EXPECT_EQ(life.last, -1) << blocks[i].name;
    }
    EXPECT_LE(life.first, last);
    EXPECT_LE(life.last, last);
  }
}

TEST_F(OpenedKernelsTest, SaysWhyArtifactsCannotBeRead) {
  read("missing");
  EXPECT_FALSE(opened_->shown());
  EXPECT_THAT(message_.toStdString(), HasSubstr("missing"));
  EXPECT_EQ(changes_, 0);
}

TEST_F(OpenedKernelsTest, ClosingEndsReading) {
  opened_->read(QString::fromStdString(log_path()));
  EXPECT_TRUE(opened_->is_reading());
  opened_->close();
  EXPECT_FALSE(opened_->is_reading());
  EXPECT_EQ(changes_, 1) << "TracedKernels waits for the end of reading";
  opened_->close();
  pool_->run_all(4);
  EXPECT_FALSE(opened_->shown());
  EXPECT_EQ(changes_, 1);
  EXPECT_TRUE(message_.isEmpty());
}

TEST_F(OpenedKernelsTest, RefusesArtifactsOfAnotherGraph) {
  const auto artifacts =
      std::make_shared<const CompileArtifacts>(test::must(read_compile_artifacts(log_path())));
  const SnapshotPtr other = test::snapshot_of(R"(
    x: f32[4] = input
    other: f32[4] = aten.sin(x)
    return [other]
  )");
  const auto tied = tie_artifacts(other, artifacts);
  ASSERT_FALSE(tied);
  EXPECT_THAT(tied.error().message, HasSubstr("no kernel contains a call of this graph"));
}

TEST_F(OpenedKernelsTest, FollowsTheGraph) {
  read(log_path());
  const SnapshotKernelsPtr before = opened_->shown();
  ASSERT_TRUE(before);
  document_->analyze_with(with_optimizer());
  pool_->run_all(8);
  ASSERT_NE(document_->shared_snapshot(), before->snapshot());
  EXPECT_EQ(opened_->shown()->snapshot(), document_->shared_snapshot());
  opened_->close();
  EXPECT_FALSE(opened_->shown());
  EXPECT_EQ(changes_, 3);
}

TEST_F(OpenedKernelsTest, FollowsTheGraphAfterAFileThatCannotBeRead) {
  read(log_path());
  ASSERT_TRUE(opened_->shown());
  document_->analyze_with(with_optimizer());
  opened_->read("missing");
  pool_->run_all(8);
  EXPECT_THAT(message_.toStdString(), HasSubstr("missing"));
  EXPECT_EQ(opened_->shown()->snapshot(), document_->shared_snapshot());
}

// Kernels that are tied again are not a reason to show them.
TEST_F(OpenedKernelsTest, AreShownWhenTheyAreOpenedAndNotWhenTheyFollowTheGraph) {
  using Source = ShownKernels::Source;
  OpenedKernels& opened = document_->opened_kernels();
  ShownKernels& shown = document_->shown_kernels();
  const auto open_log = [&] {
    opened.read(QString::fromStdString(log_path()));
    pool_->run_all(4);
  };
  open_log();
  EXPECT_EQ(shown.source(), Source::compiled);
  shown.set_source(Source::predicted);
  const SnapshotKernelsPtr before = opened.shown();
  document_->analyze_with(with_optimizer());
  pool_->run_all(8);
  ASSERT_NE(opened.shown(), before);
  EXPECT_TRUE(opened.is_current());
  EXPECT_EQ(shown.source(), Source::predicted);
  open_log();
  EXPECT_EQ(shown.source(), Source::compiled);
  opened.close();
  EXPECT_EQ(shown.source(), Source::predicted);
}

TEST_F(OpenedKernelsTest, TheDocumentReportsFailures) {
  QString said;
  QObject::connect(document_.get(), &Document::failed,
                   [&said](const QString& message) { said = message; });
  document_->opened_kernels().read("missing");
  pool_->run_all(4);
  EXPECT_THAT(said.toStdString(), HasSubstr("missing"));
}

}  // namespace
}  // namespace jointer::views

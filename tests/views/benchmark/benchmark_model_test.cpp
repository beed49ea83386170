// Tests the rows for results and ranks and the details of a result, with made-up results.

#include "views/benchmark/benchmark_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QRegularExpression>
#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/fake_benchmarks.h"
#include "tests/support/snapshots.h"
#include "views/benchmark/benchmark_details.h"
#include "views/benchmark/rank_model.h"

namespace jointer::views {
namespace {

class Results : public testing::Test {
 protected:
  Results() { fake.start({.snapshot = snapshot, .title = "graph"}); }

  [[nodiscard]] BenchmarkResult good() const { return fake.measured(2); }
  [[nodiscard]] BenchmarkResult failed() const {
    BenchmarkResult result = fake.begun(2);
    result.ranks[1].apply(RankFailed{"memory", "mm_1", "out of memory: 1 GiB more was needed"});
    result.ranks[1].status = RankResult::Status::failed;
    result.ranks[0].status = RankResult::Status::stopped;
    return result;
  }
  static BenchmarkRow row(std::uint64_t id, BenchmarkResult result) {
    return {id, std::make_shared<const BenchmarkResult>(std::move(result))};
  }

  SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
  test::FakeBenchmarks fake;
};

using Columns = BenchmarkModel::ColumnIndex;

TEST_F(Results, AreListedNewestFirst) {
  BenchmarkModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_rows_of(snapshot, {row(1, failed()), row(2, good())});
  ASSERT_EQ(model.rowCount(), 2);
  const auto cell = [&](int at, int column) {
    return model.index(at, column).data().toString().toStdString();
  };
  EXPECT_EQ(model.benchmark(0).id, 2U);
  EXPECT_EQ(cell(0, Columns::when_column), "2026-01-02 03:04");
  EXPECT_EQ(cell(0, Columns::backend_column), "interpret");
  EXPECT_EQ(cell(0, Columns::ranks_column), "2");
  EXPECT_EQ(cell(0, Columns::device_column), "A CPU, 2 threads");
  EXPECT_EQ(cell(0, Columns::step_column), "5.00 ms");
  EXPECT_EQ(cell(0, Columns::verified_column), "bitwise equal");
  EXPECT_EQ(cell(0, Columns::status_column), "done");
  // The exact difference with its sign.
  const std::int64_t predicted = snapshot->analysis.memory.peak_bytes();
  const double percent = 4096.0 / static_cast<double>(predicted) * 100;
  const QString change = model.index(0, Columns::peak_change_column).data().toString();
  ASSERT_TRUE(change.startsWith(u'+')) << change.toStdString();
  EXPECT_NEAR(QString(change).remove(QRegularExpression("[+ %]")).toDouble(), percent, 0.05);
  EXPECT_FALSE(model.index(0, 0).data(TableModel::alarm_role).toBool());
}

TEST_F(Results, AFailedRunNamesRankNodeAndReason) {
  BenchmarkModel model;
  model.set_rows_of(snapshot, {row(1, failed())});
  EXPECT_EQ(model.index(0, Columns::status_column).data().toString(),
            "rank 1: at mm_1: out of memory: 1 GiB more was needed");
  EXPECT_TRUE(model.index(0, 0).data(TableModel::alarm_role).toBool());
  EXPECT_EQ(model.index(0, Columns::peak_column).data().toString(), "");
  EXPECT_EQ(model.nodes(0), std::vector{snapshot->graph.find("mm_1")});
}

TEST_F(Results, WrongOutputsAreAnAlarm) {
  BenchmarkResult wrong = good();
  wrong.ranks[1].verified = {{"baseline", false, false, 0.5, 0.25, 0, "relu", 7, 3}};
  BenchmarkModel model;
  model.set_rows_of(snapshot, {row(1, wrong)});
  EXPECT_EQ(model.index(0, Columns::verified_column).data().toString(), "differs by 0.5 in relu");
  EXPECT_TRUE(model.index(0, 0).data(TableModel::alarm_role).toBool());
}

TEST_F(Results, AnExactPredictionHasZeroDifference) {
  BenchmarkResult exact = good();
  exact.peak_bytes = exact.predicted.peak_bytes;
  BenchmarkModel model;
  model.set_rows_of(snapshot, {row(1, exact)});
  EXPECT_EQ(model.index(0, Columns::peak_change_column).data().toString(), "0%");
}

TEST_F(Results, AreCopiedAsTsv) {
  BenchmarkModel model;
  model.set_rows_of(snapshot, {row(1, good())});
  const QStringList lines = model.tsv(std::vector{0}).split('\n');
  ASSERT_GE(lines.size(), 2);
  EXPECT_EQ(lines[0].count('\t'), Columns::device_column);
  EXPECT_EQ(lines[1].count('\t'), Columns::device_column);
  EXPECT_TRUE(lines[0].contains("\tstep ms\t"));
  EXPECT_TRUE(lines[1].contains("\t5.000001\t"));  // for the slowest rank
}

// --- Details ---

QString text_of(const InspectorContent& content) {
  QString text = content.title + u'\n' + content.subtitle + u'\n';
  for (const InspectorSection& section : content.sections) {
    text += section.title + u'\n';
    for (const InspectorRow& row : section.rows) text += row.label + u'\t' + row.value + u'\n';
  }
  return text;
}

const InspectorRow* find_row(const InspectorContent& content, const char* label) {
  for (const InspectorSection& section : content.sections)
    for (const InspectorRow& row : section.rows)
      if (row.label == label) return &row;
  return nullptr;
}

TEST_F(Results, DetailsExplainThePeaksDifferenceByName) {
  const InspectorContent content = describe_benchmark(good(), *snapshot, true);
  const QString text = text_of(content);
  EXPECT_EQ(content.title, "interpret, 2 ranks");
  EXPECT_TRUE(text.contains("difference\t+4.00 KiB")) << text.toStdString();
  EXPECT_TRUE(text.contains("in calls\t+4.00 KiB"));
  EXPECT_FALSE(text.contains("held\t"));
  const InspectorRow* scratch = find_row(content, "scratch");
  ASSERT_NE(scratch, nullptr);
  EXPECT_TRUE(scratch->value.contains("4.00 KiB"));
  ASSERT_EQ(scratch->links.size(), 1U);
  EXPECT_EQ(scratch->links.front(), snapshot->analysis.memory.steps().front());
  EXPECT_TRUE(text.contains("note\tattention ran as its CPU form"));
  EXPECT_TRUE(text.contains("rank 1\t"));
  EXPECT_NE(find_row(content, "largest error"), nullptr);
  // Settings are not from the capture.
  for (const InspectorSection& section : content.sections)
    for (const InspectorRow& row : section.rows)
      EXPECT_EQ(row.provenance == Provenance::requested, section.title == "Settings")
          << row.label.toStdString();
  for (const char* label : {"iterations", "run on", "attention", "TF32", "seed", "profiled"})
    EXPECT_NE(find_row(content, label), nullptr) << label;
}

TEST_F(Results, DetailsSayHowManyCompiledBlocksAreNotListed) {
  BenchmarkResult result = good();
  ASSERT_TRUE(result.ranks[0].measured);
  const auto list = [&](std::int64_t count) {
    std::vector<CompiledBlock>& blocks = result.ranks[0].measured->blocks;
    blocks.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      CompiledBlock& block = blocks.emplace_back();
      block.name = "region " + std::to_string(i);
      block.own_ns = 1'000 * (i + 1);
    }
    return text_of(describe_benchmark(result, *snapshot, false));
  };
  const QString seven = list(7);
  EXPECT_TRUE(seven.contains("compiled\tregion 6: 7.00 us\n")) << seven.toStdString();
  EXPECT_FALSE(seven.contains("region 1:")) << seven.toStdString();
  EXPECT_TRUE(seven.contains("compiled\t2 more blocks\n")) << seven.toStdString();
  EXPECT_TRUE(list(6).contains("compiled\t1 more block\n"));
  EXPECT_FALSE(list(5).contains("more block"));
}

TEST_F(Results, DetailsNameTheRankThatOthersWaitedFor) {
  BenchmarkResult late = good();
  const NodeId collective = snapshot->graph.find("ar");
  const auto position = static_cast<std::uint32_t>(snapshot->graph.position(collective));
  for (NodeTime& time : late.ranks[1].measured->nodes)
    if (time.position == position) time.start_ns += 150'000;
  const InspectorContent content = describe_benchmark(late, *snapshot, true);
  const InspectorRow* wait = find_row(content, "longest wait");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->value, "150 us for rank 1, in");
  EXPECT_EQ(wait->links, std::vector{collective});
  EXPECT_TRUE(wait->note.contains("The communication then took 50.0 us"))
      << wait->note.toStdString();
  // The positions of calls in another graph are unknown.
  EXPECT_EQ(find_row(describe_benchmark(late, *snapshot, false), "longest wait"), nullptr);
}

TEST_F(Results, DetailsOfAFailureLinkTheNode) {
  const InspectorContent content = describe_benchmark(failed(), *snapshot, true);
  EXPECT_EQ(content.sections.front().title, "Failed");
  const InspectorRow* at = find_row(content, "at");
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at->links, std::vector{snapshot->graph.find("mm_1")});
  EXPECT_EQ(at->provenance, Provenance::measured);
  EXPECT_TRUE(text_of(content).contains("rank\t1\n"));
}

TEST_F(Results, DetailsOfAFailureNameTheMemorySnapshot) {
  EXPECT_EQ(find_row(describe_benchmark(failed(), *snapshot, true), "memory snapshot"), nullptr);
  BenchmarkResult result = failed();
  result.ranks[1].memory_snapshot = "/data/rank1.pickle";
  const InspectorContent content = describe_benchmark(result, *snapshot, true);
  const InspectorRow* row = find_row(content, "memory snapshot");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->value, "/data/rank1.pickle");
  EXPECT_TRUE(row->note.contains("rank 1"));
}

TEST_F(Results, DetailsShowErrorsAndOtherUsersOfAGpu) {
  BenchmarkResult result = good();
  result.ranks[0].measured->gpu = GpuState{.sm_mhz = 1410, .max_sm_mhz = 1980, .other_bytes = 0};
  result.ranks[1].measured->gpu = GpuState{.sm_mhz = 1410,
                                           .max_sm_mhz = 1980,
                                           .slowdowns = {"power limit"},
                                           .other_processes = 1,
                                           .other_bytes = std::int64_t{2} << 30,
                                           .uncorrected_ecc_errors = 3,
                                           .mig = true};
  const InspectorContent content = describe_benchmark(result, *snapshot, true);
  const auto section = std::ranges::find(content.sections, QString("GPUs after the measured steps"),
                                         &InspectorSection::title);
  ASSERT_NE(section, content.sections.end());
  ASSERT_EQ(section->rows.size(), 2U);
  EXPECT_FALSE(section->rows[0].value.contains("ECC"));
  EXPECT_FALSE(section->rows[0].value.contains("other process"));
  EXPECT_TRUE(section->rows[0].note.contains("Other processes use 0 B."));
  EXPECT_TRUE(section->rows[1].value.endsWith(
      "power limit · 3 uncorrected ECC errors · 1 other process is using the GPU · 2.00 GiB in "
      "other processes · divided into MIG instances"))
      << section->rows[1].value.toStdString();
  EXPECT_TRUE(section->rows[1].note.contains("Other processes use 2.00 GiB."));
}

// --- Running ranks ---

TEST_F(Results, RanksShowProgressAndRemainingTime) {
  RankModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  BenchmarkResult so_far = fake.begun(2);
  model.update(so_far, 0);
  ASSERT_EQ(model.rowCount(), 2);
  so_far.ranks[0].apply(RankProgress{"measure", 0, 10});
  model.update(so_far, 1000);
  so_far.ranks[0].apply(RankProgress{"measure", 4, 10});
  model.update(so_far, 3000);
  const auto cell = [&](int row, int column) {
    return model.index(row, column).data().toString().toStdString();
  };
  EXPECT_EQ(cell(0, RankModel::stage_column), "measure, 4 of 10");
  EXPECT_EQ(cell(0, RankModel::elapsed_column), "2.000 s");
  EXPECT_EQ(cell(0, RankModel::left_column), "3.000 s");
  EXPECT_NEAR(model.index(0, RankModel::progress_column).data(TableModel::bar_role).toDouble(), 0.4,
              1e-9);
  BenchmarkResult next = so_far;
  next.ranks[0].apply(RankProgress{"measure %2", 5, 10});
  RankModel other;
  other.update(next, 3000);
  EXPECT_EQ(other.text(0, RankModel::stage_column), "measure %2, 5 of 10");
  // No progress yet, so the remaining time is unknown.
  EXPECT_EQ(cell(1, RankModel::left_column), "");
  model.tick(5000);
  EXPECT_EQ(cell(0, RankModel::elapsed_column), "4.000 s");

  so_far.ranks[1].apply(RankFailed{"hang", "wt", "no progress for 300 s"});
  so_far.ranks[1].status = RankResult::Status::hung;
  model.update(so_far, 6000);
  EXPECT_EQ(cell(1, RankModel::stage_column), "hung: no progress for 300 s");
  EXPECT_TRUE(model.index(1, 0).data(TableModel::alarm_role).toBool());
}

}  // namespace
}  // namespace jointer::views

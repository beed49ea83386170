// Tests the comparison of several benchmarks, with made-up results.

#include "views/benchmark/run_comparison.h"

#include <gtest/gtest.h>

#include "tests/support/fake_benchmarks.h"
#include "tests/support/snapshots.h"
#include "views/benchmark/benchmark_details.h"

namespace jointer::views {
namespace {

class Comparing : public testing::Test {
 protected:
  Comparing() { fake.start({.snapshot = snapshot, .title = "graph"}); }

  static const InspectorSection* section(const InspectorContent& content, const char* title) {
    for (const InspectorSection& each : content.sections)
      if (each.title.startsWith(QLatin1String(title))) return &each;
    return nullptr;
  }
  [[nodiscard]] InspectorContent compare(const BenchmarkResult& a, const BenchmarkResult& b,
                                         bool are_of_graph = true) const {
    const std::vector<const BenchmarkResult*> runs{&a, &b};
    return compare_runs(runs, *snapshot, are_of_graph);
  }

  SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
  test::FakeBenchmarks fake;
};

TEST_F(Comparing, FiguresAreRelativeToTheFirstRun) {
  const BenchmarkResult first = fake.measured(2);
  BenchmarkResult second = first;
  second.request.backend = Backend::inductor;
  second.step->median_ns = first.step->median_ns / 2;
  second.peak_bytes = *first.peak_bytes + 1024;
  const InspectorContent content = compare(first, second);
  EXPECT_EQ(content.title, "2 runs compared");
  EXPECT_EQ(content.subtitle, "Differences from interpret, 2026-01-02 03:04");
  const InspectorSection* step = section(content, "Step");
  ASSERT_NE(step, nullptr);
  ASSERT_EQ(step->rows.size(), 2U);
  EXPECT_EQ(step->rows[0].label, "interpret, 2026-01-02 03:04");
  EXPECT_EQ(step->rows[0].value, "5.00 ms");
  EXPECT_TRUE(step->rows[1].value.startsWith("2.50 ms (−2.50 ms, −50"))
      << step->rows[1].value.toStdString();
  const InspectorSection* peak = section(content, "Peak memory");
  ASSERT_NE(peak, nullptr);
  EXPECT_TRUE(peak->rows[1].value.contains("+1.00 KiB")) << peak->rows[1].value.toStdString();
  EXPECT_EQ(section(content, "Outcome"), nullptr);
}

TEST_F(Comparing, OnlySettingsThatDifferAreListed) {
  const BenchmarkResult first = fake.measured(2);
  BenchmarkResult second = first;
  second.request.backend = Backend::inductor;
  second.request.seed = 7;
  const InspectorContent content = compare(first, second);
  const InspectorSection* settings = section(content, "Different settings");
  ASSERT_NE(settings, nullptr);
  ASSERT_EQ(settings->rows.size(), 2U);
  EXPECT_EQ(settings->rows[0].label, "backend");
  EXPECT_EQ(settings->rows[0].value, "interpret → inductor");
  EXPECT_EQ(settings->rows[1].value, "0 → 7");
  EXPECT_EQ(section(compare(first, first), "Different settings")->rows.front().label, "none");
}

TEST_F(Comparing, AGraphIsCaptured) {
  const BenchmarkResult first = fake.measured(2);
  BenchmarkResult second = first;
  second.request.backend = Backend::inductor;
  second.request.recorded = true;
  const InspectorContent content = compare(first, second);
  const InspectorSection* settings = section(content, "Different settings");
  ASSERT_NE(settings, nullptr);
  EXPECT_EQ(settings->rows[0].value, "interpret → inductor, captured");
}

// The label says which option marks the regions, since the graph may mark others.
TEST_F(Comparing, TheRegionsOfTheOptionAreNamedAfterIt) {
  const BenchmarkResult first = fake.measured(2);
  BenchmarkResult second = first;
  second.request.marked = "layers.*::aten.mm";
  const InspectorContent content = compare(first, second);
  const InspectorSection* settings = section(content, "Different settings");
  ASSERT_NE(settings, nullptr);
  ASSERT_EQ(settings->rows.size(), 1U);
  EXPECT_EQ(settings->rows[0].label, "marked with --mark");
  EXPECT_EQ(settings->rows[0].value, "none → layers.*::aten.mm");
}

// A setting that is stored is compared, too.
TEST_F(Comparing, EverySettingCounts) {
  const BenchmarkResult first = fake.measured(2);
  for (const RunnerOption& option : runner_options(first.request)) {
    // Where the graph was read from is not a setting, and the ranks that ran are compared.
    if (option.name == "backward" || option.name == "graph" || option.name == "ranks") continue;
    const std::string name = "--" + std::string(option.name);
    bool is_changed = false;
    for (const char* value : {"", "=7", "=inductor", "=cuda", "=math", "=forbid"}) {
      const auto request = parse_runner_arguments({name + value, "graph.json"});
      if (!request) continue;
      BenchmarkResult second = first;
      second.request = *request;
      BenchmarkResult usual = first;
      usual.request = {};
      is_changed = true;
      EXPECT_NE(section(compare(usual, second), "Different settings")->rows.front().label, "none")
          << name + value;
    }
    EXPECT_TRUE(is_changed) << name;
  }
}

TEST_F(Comparing, RunsOfOneMinuteHaveDifferentNames) {
  const BenchmarkResult run = fake.measured(1);
  const InspectorContent content = compare(run, run);
  EXPECT_EQ(section(content, "Step")->rows[1].label, "interpret, 2026-01-02 03:04 (2)");
  EXPECT_EQ(section(content, "Step")->rows[1].value, "5.00 ms (equal)");
}

TEST_F(Comparing, CallsWithTheLargestDifferencesAreLinks) {
  const BenchmarkResult first = fake.measured(2);
  BenchmarkResult second = first;
  const auto position =
      static_cast<std::uint32_t>(snapshot->graph.position(snapshot->graph.find("mm_1")));
  for (NodeTime& each : second.ranks[0].measured->nodes)
    if (each.position == position) each.own_ns += 300'000;
  const InspectorContent content = compare(first, second);
  const InspectorSection* calls = section(content, "Calls with the largest differences");
  ASSERT_NE(calls, nullptr);
  ASSERT_EQ(calls->rows.size(), 1U);
  EXPECT_EQ(calls->rows[0].links, std::vector{snapshot->graph.find("mm_1")});
  EXPECT_EQ(calls->rows[0].value, "200 us → 500 us");
  // The positions of another graph are not looked up in this one.
  EXPECT_EQ(section(compare(first, second, false), "Calls"), nullptr);
}

TEST_F(Comparing, AFailedRunSaysSo) {
  BenchmarkResult failed = fake.begun(2);
  failed.ranks[1].apply(RankFailed{"memory", "mm_1", "out of memory: 1 GiB more was needed"});
  failed.ranks[1].status = RankResult::Status::failed;
  failed.ranks[0].status = RankResult::Status::stopped;
  const InspectorContent content = compare(fake.measured(2), failed);
  EXPECT_EQ(section(content, "Step")->rows[1].value, "not measured");
  const InspectorSection* outcome = section(content, "Outcome");
  ASSERT_NE(outcome, nullptr);
  EXPECT_EQ(outcome->rows[0].value, "done · bitwise equal");
  EXPECT_EQ(outcome->rows[1].value, "rank 1: at mm_1: out of memory: 1 GiB more was needed");
}

TEST_F(Comparing, ThreeRunsHaveThreeRowsPerFigure) {
  const BenchmarkResult run = fake.measured(1);
  const std::vector<const BenchmarkResult*> runs{&run, &run, &run};
  const InspectorContent content = compare_runs(runs, *snapshot, true);
  EXPECT_EQ(content.title, "3 runs compared");
  EXPECT_EQ(section(content, "Step")->rows.size(), 3U);
}

TEST_F(Comparing, DetailsOfARunOfAnotherGraphNameNoCalls) {
  const auto has_links = [](const InspectorContent& content) {
    for (const InspectorSection& each : content.sections)
      for (const InspectorRow& row : each.rows)
        if (!row.links.empty()) return true;
    return false;
  };
  EXPECT_TRUE(has_links(describe_benchmark(fake.measured(2), *snapshot, true)));
  EXPECT_FALSE(has_links(describe_benchmark(fake.measured(2), *snapshot, false)));
}

}  // namespace
}  // namespace jointer::views

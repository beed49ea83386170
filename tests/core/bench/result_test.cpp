#include "core/bench/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/bench/measurement.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

using Status = RankResult::Status;
using testing::ElementsAre;
using testing::HasSubstr;

BenchmarkResult two_ranks() {
  BenchmarkResult r;
  r.request.program.graph = "a|b.json";
  r.request.iterations = 3;
  r.graph_name = "a|b";
  r.graph_hash = "00ff";
  r.started_at = "2026-01-02T03:04:05+01:00";
  r.predicted = {1024, 2'000'000, "roofline, Generic CPU"};
  for (int rank = 0; rank < 2; ++rank) {
    RankResult& each = r.ranks.emplace_back();
    each.rank = rank;
    each.apply(RankStarted{rank, 2, 100 + rank, "A CPU, 2 threads", "cpu", "00ff"});
    each.apply(RankProgress{"measure", 2, 3});
    each.apply(RankNote{"flash attention replaced"});
    each.apply(RankMeasured{.step_ns = {3'000'000, 1'000'000 + rank, 2'000'000},
                            .peak_bytes = 2048 + rank,
                            .requested_peak_bytes = 2000,
                            .reserved_peak_bytes = 4096,
                            .resident_peak_bytes = 1024,
                            .memory_profile = {0, 1, 2},
                            .nodes = {{0, 5, 9, 3}},
                            .scratch = {{0, 64}}});
    each.apply(RankVerified{"baseline", rank == 0, true, rank * 0.5, rank * 0.05, 0.1,
                            rank ? "o1" : "", 7, 3});
    each.apply(RankDone{});
    each.status = Status::done;
    each.ended_ns = 5 + rank;
  }
  return r;
}

Graph small_graph() {
  return parse(R"(
    x: f32[16] = input
    y: f32[16] = aten.relu(x)
    return [y]
  )");
}

TEST(Summarize, TheMedianOfAnEvenCountIsTheMean) {
  EXPECT_EQ(summarize({5, 1, 3}).median_ns, 3);
  EXPECT_EQ(summarize({1, 4, 2, 9}).median_ns, 3);
  EXPECT_EQ(summarize({1, 4, 2, 9}).min_ns, 1);
  EXPECT_EQ(summarize({1, 4, 2, 9}).max_ns, 9);
  EXPECT_EQ(summarize({}).median_ns, 0);
}

TEST(Result, FiguresComeFromTheRankWithThePeakAndTheSlowestRank) {
  BenchmarkResult r = two_ranks();
  r.ranks[0].measured->peak_bytes = 9000;
  r.ranks[0].measured->reserved_peak_bytes = 10'000;
  r.ranks[1].measured->reserved_peak_bytes = 20'000;
  r.ranks[1].measured->step_ns = {7'000'000};
  const Graph graph = small_graph();
  r.graph_hash.clear();
  r.conclude(graph, *analyze(graph, {.estimator = {.device = "cpu"}}));
  EXPECT_EQ(r.peak_bytes, 9000);
  EXPECT_EQ(r.reserved_peak_bytes, 10'000);
  EXPECT_EQ(r.step->median_ns, 7'000'000);
  EXPECT_EQ(r.graph_hash.size(), 64U);
  // 16 elements of a relu in 7 ms.
  EXPECT_FALSE(r.throughput.tokens_per_second);
}

TEST(Result, FiguresAreNullIfNothingWasMeasured) {
  BenchmarkResult r;
  r.request.program.graph = "a";
  r.ranks.resize(1);
  const Graph graph = small_graph();
  r.conclude(graph, *analyze(graph));
  const auto json = nlohmann::json::parse(write_result(r, true));
  for (const char* key : {"peak_bytes", "requested_peak_bytes", "reserved_peak_bytes", "step_ms",
                          "tokens_per_second", "tflops", "mfu"}) {
    ASSERT_TRUE(json["measured"].contains(key)) << key;
    EXPECT_TRUE(json["measured"][key].is_null()) << key;
  }
  EXPECT_TRUE(json["verify"].is_null());
  EXPECT_TRUE(json["ranks"][0]["peak_bytes"].is_null());
  EXPECT_TRUE(json["ranks"][0]["step_ms"].is_null());
}

// The keys that scripts rely on; see docs/.
TEST(Result, HasTheDocumentedKeys) {
  BenchmarkResult r = two_ranks();
  const Graph graph = small_graph();
  r.conclude(graph, *analyze(graph));
  const auto json = nlohmann::json::parse(write_result(r, false));
  for (const char* key : {"backend", "device", "ranks", "predicted", "measured", "verify"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["backend"], "interpret");
  EXPECT_EQ(json["device"], "A CPU, 2 threads");
  EXPECT_EQ(json["predicted"]["peak_bytes"], 1024);
  EXPECT_EQ(json["predicted"]["step_ms"], 2.0);
  EXPECT_EQ(json["measured"]["step_ms"], 2.0);
  EXPECT_EQ(json["measured"]["peak_bytes"], 2049);
  EXPECT_EQ(json["ranks"][1]["rank"], 1);
  EXPECT_EQ(json["ranks"][1]["status"], "done");
  EXPECT_EQ(json["ranks"][1]["peak_bytes"], 2049);
  EXPECT_EQ(json["ranks"][1]["step_ms"]["median"], 2.0);
  EXPECT_EQ(json["ranks"][1]["step_ms"]["max"], 3.0);
  EXPECT_EQ(json["ranks"][0]["step_ms"]["min"], 1.0);
  for (const char* key : {"equal", "bitwise", "max_abs_diff", "output"})
    EXPECT_TRUE(json["verify"].contains(key)) << key;
  EXPECT_FALSE(json["ranks"][0].contains("nodes"));
}

TEST(Result, RoundTrips) {
  BenchmarkResult r = two_ranks();
  r.ranks[1].status = Status::died;
  r.ranks[1].reason = "killed by signal 9 \xff";
  r.ranks[1].node = "mm_3";
  r.ranks[1].measured.reset();
  r.ranks[1].started.reset();
  const Graph graph = small_graph();
  r.conclude(graph, *analyze(graph));
  r.throughput = {1.5, 2.5, 0.25, 3.5};
  for (const bool with_profile : {false, true}) {
    const std::string text = write_result(r, with_profile);
    const auto again = must(parse_result(text));
    EXPECT_EQ(write_result(again, with_profile), text);
    EXPECT_EQ(again.ranks[0].measured->nodes.size(), with_profile ? 1U : 0U);
    EXPECT_EQ(again.ranks[0].progress->done, 2);
    EXPECT_FALSE(again.ranks[1].measured);
    EXPECT_EQ(again.step->min_ns, r.step->min_ns);
    EXPECT_EQ(again.request.iterations, 3);
    EXPECT_EQ(again.throughput.mfu, 0.25);
  }
}

TEST(Result, RefusesANewerVersionAndOtherJson) {
  for (const std::string_view text :
       {"", "[]", "{}", R"({"version":"1"})", R"({"version":1})", R"({"version":1,"request":3})",
        R"({"version":1,"request":["a"],"ranks":[3]})",
        R"({"version":1,"request":["a"],"ranks":[{"rank":0,"status":"lost"}]})"}) {
    const auto r = parse_result(text);
    ASSERT_FALSE(r) << text;
    EXPECT_EQ(r.error().kind, Error::Kind::input);
  }
  EXPECT_THAT(parse_result(R"({"version":2,"request":["a"]})").error().message,
              HasSubstr("version 2"));
  EXPECT_TRUE(parse_result(R"({"version":1,"request":["a"],"later":{"x":[1]}})"));
}

TEST(Culprit, AFailedCollectiveIsAConsequence) {
  BenchmarkResult r = two_ranks();
  r.ranks[0].status = Status::failed;
  r.ranks[0].apply(RankFailed{"collective", "all_reduce", "connection closed by peer"});
  r.ranks[0].ended_ns = 10;
  r.ranks[1].status = Status::died;
  r.ranks[1].reason = "killed by signal 9";
  r.ranks[1].node = "mm";
  r.ranks[1].ended_ns = 20;
  EXPECT_EQ(r.culprit()->rank, 1);
  EXPECT_EQ(r.failure(), "rank 1: at mm: killed by signal 9");
  EXPECT_FALSE(r.succeeded());
}

TEST(Culprit, TheFirstOfEqualFailuresCounts) {
  BenchmarkResult r = two_ranks();
  for (RankResult& rank : r.ranks) {
    rank.status = Status::failed;
    rank.apply(RankFailed{"memory", "", "out of memory"});
    rank.ended_ns = 10 - rank.rank;
  }
  EXPECT_EQ(r.culprit()->rank, 1);
  EXPECT_EQ(r.failure(), "rank 1: during measure: out of memory");
}

// The rank that ran out of memory last may be the only one with a snapshot.
TEST(Culprit, ItsMemorySnapshotIsPreferred) {
  BenchmarkResult r = two_ranks();
  EXPECT_EQ(r.snapshot_writer(), nullptr);
  for (RankResult& rank : r.ranks) rank.status = Status::failed;
  r.ranks[0].ended_ns = 10;
  r.ranks[0].apply(RankFailed{"memory", "mm", "out of memory"});
  r.ranks[1].ended_ns = 20;
  r.ranks[1].apply(RankFailed{"memory", "mm", "out of memory", "/data/rank1.pickle"});
  EXPECT_EQ(r.snapshot_writer(), &r.ranks[1]);
  r.ranks[0].memory_snapshot = "/data/rank0.pickle";
  EXPECT_EQ(r.snapshot_writer(), &r.ranks[0]);
}

TEST(Result, AMemorySnapshotRoundTrips) {
  BenchmarkResult r = two_ranks();
  r.ranks[1].status = Status::failed;
  r.ranks[1].apply(RankFailed{"memory", "mm", "out of memory", "/data/rank1.pickle"});
  const auto again = must(parse_result(write_result(r, false)));
  EXPECT_EQ(again.ranks[0].memory_snapshot, "");
  EXPECT_EQ(again.ranks[1].memory_snapshot, "/data/rank1.pickle");
}

TEST(Culprit, ACancelledRankIsNotACulprit) {
  BenchmarkResult r = two_ranks();
  r.ranks[0].status = Status::stopped;
  r.ranks[0].reason = "cancelled";
  EXPECT_EQ(r.culprit(), nullptr);
  EXPECT_EQ(r.failure(), "rank 0: cancelled");
  EXPECT_FALSE(r.succeeded());
}

TEST(Verified, TheWorstOfAllRanksCounts) {
  BenchmarkResult r = two_ranks();
  EXPECT_EQ(r.verified()->output, "o1");
  r.ranks[0].verified.push_back({.equal = false, .max_abs_diff = 0.1, .output = "o0"});
  EXPECT_EQ(r.verified()->output, "o0");
  r.ranks[1].verified.push_back({.equal = false, .max_abs_diff = NAN, .output = "o2"});
  EXPECT_EQ(r.verified()->output, "o2");
}

TEST(Verified, TheLargestRelativeDifferenceOfAllRanksCounts) {
  BenchmarkResult r = two_ranks();
  r.ranks[0].verified = {{.max_abs_diff = 0.5, .max_rel_diff = 0.5, .output = "gradient"}};
  r.ranks[1].verified = {{.max_abs_diff = 1, .max_rel_diff = 0.001, .output = "sum"}};
  EXPECT_EQ(r.verified()->output, "gradient");
}

TEST(Notes, EachAppearsOnce) {
  BenchmarkResult r = two_ranks();
  r.ranks[1].notes.emplace_back("another");
  EXPECT_THAT(r.notes(), ElementsAre("flash attention replaced", "another"));
}

TEST(Tables, HaveARowPerResult) {
  BenchmarkResult r = two_ranks();
  const Graph graph = small_graph();
  r.conclude(graph, *analyze(graph));
  BenchmarkResult broken = two_ranks();
  broken.ranks[1].status = Status::died;
  broken.ranks[1].reason = "said \"a,\nb\" | c";
  const std::string markdown = results_markdown({r, broken});
  EXPECT_EQ(std::ranges::count(markdown, '\n'), 4);
  EXPECT_THAT(markdown, HasSubstr("| a\\|b |"));
  EXPECT_THAT(markdown, HasSubstr("| done |\n"));
  EXPECT_THAT(markdown, HasSubstr("said \"a, b\" \\| c |\n"));
  EXPECT_THAT(markdown, HasSubstr("| 1.00 KiB |"));
  const std::string csv = results_csv({r, broken});
  EXPECT_THAT(csv, HasSubstr("\r\na|b,2026-01-02T03:04:05+01:00,interpret,2,\"A CPU, 2 threads\","
                             "1024,2049,2000,4096,2.000000,2.000000,1.000000,3.000000,"));
  EXPECT_THAT(csv, HasSubstr("\"rank 1: during measure: said \"\"a,\nb\"\" | c\"\r\n"));
}

TEST(Measurement, UnknownPositionsAreLeftOut) {
  const Graph graph = small_graph();
  RankMeasured measured;
  measured.step_ns = {10};
  measured.nodes = {{1, 20, 30, 5}, {99, 0, 1, 1}, {0, 3, 4, 1}};
  const Measurement m = measurement_of(graph, measured, "rank 0", "A CPU", "cpu", true);
  ASSERT_EQ(m.nodes.size(), 2U);
  EXPECT_EQ(graph.name(m.nodes[0].node), "x");
  EXPECT_EQ(graph.name(m.nodes[1].node), "y");
  EXPECT_EQ(m.nodes[1].own_ns, 5);
  EXPECT_EQ(m.step_ns, 10);
  EXPECT_THAT(m.notes, ElementsAre(HasSubstr("1 of 3")));
}

TEST(Result, MatchesTheSchema) {
  std::ifstream file(source_path("resources/schema/runner.schema.json"));
  const auto schema = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(schema.is_object());
  BenchmarkResult r = two_ranks();
  const Graph graph = small_graph();
  r.conclude(graph, *analyze(graph));
  r.ranks[0].memory_snapshot = "/data/rank0.pickle";
  const auto json = nlohmann::json::parse(write_result(r, true));
  const auto expect = [&](const nlohmann::json& object, const nlohmann::json& described) {
    for (const auto& [key, value] : object.items())
      EXPECT_TRUE(described["properties"].contains(key)) << key;
    for (const auto& key : described["required"]) EXPECT_TRUE(object.contains(key)) << key;
  };
  const auto& result = schema["$defs"]["result"];
  EXPECT_EQ(result["properties"]["version"]["const"], kBenchmarkVersion);
  expect(json, result);
  expect(json["measured"], result["properties"]["measured"]);
  expect(json["predicted"], result["properties"]["predicted"]);
  expect(json["ranks"][0], schema["$defs"]["rank"]);
}

}  // namespace
}  // namespace jointer::test

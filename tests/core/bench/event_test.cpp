// Events of a rank round-trip through a line of its output.

#include "core/bench/event.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/bench/status_file.h"
#include "tests/support/paths.h"
#include "tests/support/processor_time.h"
#include "tests/support/sanitized.h"

namespace jointer::test {
namespace {

// Any bytes except those that JSON cannot represent: invalid UTF-8 becomes U+FFFD.
std::string any_text() {
  return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
}

std::vector<std::int64_t> any_numbers() {
  return *rc::gen::arbitrary<std::vector<std::int64_t>>();
}

template <class T>
T any() {
  return *rc::gen::arbitrary<T>();
}

std::optional<std::int64_t> any_optional() {
  return any<bool>() ? std::optional(any<std::int64_t>()) : std::nullopt;
}

RankMeasured any_measured() {
  RankMeasured m{.step_ns = any_numbers(),
                 .peak_bytes = any<std::int64_t>(),
                 .requested_peak_bytes = any<std::int64_t>(),
                 .reserved_peak_bytes = any<std::int64_t>(),
                 .resident_peak_bytes = any<std::int64_t>(),
                 .workspace_bytes = any<std::int64_t>(),
                 .pinned_peak_bytes = any<std::int64_t>(),
                 .outside_bytes = any<std::int64_t>(),
                 .memory_profile = any_numbers()};
  m.nodes.resize(*rc::gen::inRange<std::size_t>(0, 20));
  for (NodeTime& n : m.nodes)
    n = {any<std::uint32_t>(), any<std::int64_t>(), any<std::int64_t>(), any<std::int64_t>()};
  m.kernels.resize(*rc::gen::inRange<std::size_t>(0, 5));
  for (MeasuredKernel& kernel : m.kernels)
    kernel = {any<std::uint32_t>(), any_text(), any<std::int64_t>(), any<std::int64_t>(),
              any<std::int64_t>()};
  if (any<bool>())
    m.gpu =
        GpuState{any<std::int64_t>(), any<std::int64_t>(), any<std::int64_t>(), any<std::int64_t>(),
                 any<std::int64_t>(), any<std::int64_t>(), {any_text()},        any<std::int64_t>(),
                 any_optional(),      any<std::int64_t>(), any<bool>(),         any_optional()};
  m.scratch.resize(*rc::gen::inRange<std::size_t>(0, 5));
  for (NodeScratch& s : m.scratch) s = {any<std::uint32_t>(), any<std::int64_t>()};
  m.blocks.resize(*rc::gen::inRange<std::size_t>(0, 3));
  for (CompiledBlock& block : m.blocks)
    block = {any_text(),
             *rc::gen::arbitrary<std::vector<std::uint32_t>>(),
             any<std::int64_t>(),
             any<std::int64_t>(),
             any<std::int64_t>(),
             any<std::int64_t>(),
             {{0, any<std::int64_t>()}, {5, any<std::int64_t>()}}};
  return m;
}

std::optional<GpuProperties> any_gpu() {
  if (any<bool>()) return std::nullopt;
  return GpuProperties{any_text(),          any<int>(),          any<int>(),
                       any<std::int64_t>(), any<std::int64_t>(), any<std::int64_t>(),
                       any<std::int64_t>(), any<std::int64_t>()};
}

RankEvent any_event() {
  switch (*rc::gen::inRange(0, 7)) {
    case 0:
      return RankStarted{any<int>(), any<int>(), any<std::int64_t>(), any_text(),
                         any_text(), any_text(), {any_text()},        any_gpu()};
    case 1:
      return RankProgress{any_text(), any<std::int64_t>(), any<std::int64_t>()};
    case 2:
      return RankNote{any_text()};
    case 3:
      return any_measured();
    case 4:
      return RankVerified{any_text(),    any<bool>(),         any<bool>(),
                          any<double>(), any<double>(),       any<double>(),
                          any_text(),    any<std::int64_t>(), any<std::int64_t>()};
    case 5:
      return RankFailed{any_text(), any_text(), any_text(), any_text()};
    default:
      return RankDone{};
  }
}

RC_GTEST_PROP(EventProperty, WritingAndReadingReturnsTheSameEvent, ()) {
  const RankEvent event = any_event();
  const std::string line = write_event(event);
  RC_ASSERT(line.find('\n') == std::string::npos);
  RC_ASSERT(nlohmann::json::accept(line));
  const auto again = parse_event(line);
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->index() == event.index());
  RC_ASSERT(write_event(*again) == line);
}

// Every field has a different value, so that none can be lost or swapped.
TEST(Event, EveryFieldRoundTrips) {
  const RankEvent said = RankMeasured{
      {5, 4},    1, 2, 3, 4, 5, 6, 7, {7, 8, 9}, {{6, 10, 20, 5}}, {{6, "gemm", 7, 11, 12}},
      {{3, 512}}};
  const RankMeasured m = std::get<RankMeasured>(*parse_event(write_event(said)));
  EXPECT_EQ(m.step_ns, (std::vector<std::int64_t>{5, 4}));
  EXPECT_EQ(m.peak_bytes, 1);
  EXPECT_EQ(m.requested_peak_bytes, 2);
  EXPECT_EQ(m.reserved_peak_bytes, 3);
  EXPECT_EQ(m.resident_peak_bytes, 4);
  EXPECT_EQ(m.workspace_bytes, 5);
  EXPECT_EQ(m.pinned_peak_bytes, 6);
  EXPECT_EQ(m.outside_bytes, 7);
  EXPECT_EQ(m.memory_profile, (std::vector<std::int64_t>{7, 8, 9}));
  ASSERT_EQ(m.nodes.size(), 1U);
  EXPECT_EQ(m.nodes[0].position, 6U);
  EXPECT_EQ(m.nodes[0].start_ns, 10);
  EXPECT_EQ(m.nodes[0].end_ns, 20);
  EXPECT_EQ(m.nodes[0].own_ns, 5);
  ASSERT_EQ(m.kernels.size(), 1U);
  EXPECT_EQ(m.kernels[0].position, 6U);
  EXPECT_EQ(m.kernels[0].name, "gemm");
  EXPECT_EQ(m.kernels[0].stream, 7);
  EXPECT_EQ(m.kernels[0].start_ns, 11);
  EXPECT_EQ(m.kernels[0].end_ns, 12);
  ASSERT_EQ(m.scratch.size(), 1U);
  EXPECT_EQ(m.scratch[0].position, 3U);
  EXPECT_EQ(m.scratch[0].bytes, 512);

  RankMeasured on_gpu;
  on_gpu.gpu = GpuState{1, 2, 3, 4, 5, 6, {"power limit"}, 7, 8, 9, true};
  const auto gpu = std::get<RankMeasured>(*parse_event(write_event(RankEvent(on_gpu)))).gpu;
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->sm_mhz, 1);
  EXPECT_EQ(gpu->max_sm_mhz, 2);
  EXPECT_EQ(gpu->memory_mhz, 3);
  EXPECT_EQ(gpu->milliwatts, 4);
  EXPECT_EQ(gpu->celsius, 5);
  EXPECT_EQ(gpu->used_bytes, 6);
  EXPECT_EQ(gpu->slowdowns, std::vector<std::string>{"power limit"});
  EXPECT_EQ(gpu->other_processes, 7);
  EXPECT_EQ(gpu->other_bytes, 8);
  EXPECT_EQ(gpu->uncorrected_ecc_errors, 9);
  EXPECT_TRUE(gpu->mig);

  const GpuProperties l40s{"NVIDIA L40S", 8, 9, 142, 2520, 9001, 384, 48'000'000'000};
  const RankEvent started =
      RankStarted{3, 8, 4711, "NVIDIA H200", "cuda", "ab12", {"NCCL 2.28.9"}, l40s};
  const RankStarted s = std::get<RankStarted>(*parse_event(write_event(started)));
  EXPECT_EQ(s.rank, 3);
  EXPECT_EQ(s.world_size, 8);
  EXPECT_EQ(s.pid, 4711);
  EXPECT_EQ(s.device, "NVIDIA H200");
  EXPECT_EQ(s.device_type, "cuda");
  EXPECT_EQ(s.hash, "ab12");
  EXPECT_EQ(s.environment, std::vector<std::string>{"NCCL 2.28.9"});
  EXPECT_EQ(s.gpu, l40s);
}

TEST(Event, AFailureRoundTripsWithItsMemorySnapshot) {
  const RankFailed said{"memory", "mm_3", "CUDA out of memory", "/data/rank1.pickle"};
  const auto read = std::get<RankFailed>(*parse_event(write_event(RankEvent(said))));
  EXPECT_EQ(read.kind, said.kind);
  EXPECT_EQ(read.node, said.node);
  EXPECT_EQ(read.text, said.text);
  EXPECT_EQ(read.memory_snapshot, said.memory_snapshot);
}

// A driver that does not report whose memory is used differs from one that reports no other
// process.
TEST(Event, NoOtherMemoryDiffersFromUnknownMemory) {
  const auto round_trip = [](std::optional<std::int64_t> other_bytes) {
    RankMeasured measured;
    measured.gpu = GpuState{.other_bytes = other_bytes};
    return std::get<RankMeasured>(*parse_event(write_event(RankEvent(measured)))).gpu->other_bytes;
  };
  EXPECT_EQ(round_trip(0), 0);
  EXPECT_EQ(round_trip(std::nullopt), std::nullopt);
}

TEST(Event, NonFiniteDifferencesRoundTrip) {
  for (const double value : {std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), 1e-45, 0.1}) {
    const auto event = parse_event(write_event(RankVerified{.max_abs_diff = value}));
    EXPECT_EQ(std::get<RankVerified>(*event).max_abs_diff, value);
  }
  const auto event = parse_event(write_event(RankVerified{.max_abs_diff = std::nan("")}));
  EXPECT_TRUE(std::isnan(std::get<RankVerified>(*event).max_abs_diff));
}

TEST(Event, LibraryOutputIsNotAnEvent) {
  for (const std::string_view line :
       {"", " ", "loading", "{", "{}", "[1]", "null", R"({"event":3})", R"({"event":"later"})",
        R"({"event":"done")", R"({"event":"progress","done":"many"})", R"({"level":"info"})",
        R"({"event":"measured","step_ns":[1,"x"]})",
        R"({"event":"measured","nodes":{"position":[1,2],"start_ns":[1]}})",
        R"({"event":"measured","scratch":{"position":[-1],"bytes":[1]}})", "{\"event\":\"\xff\"}"})
    EXPECT_FALSE(parse_event(line)) << line;
}

TEST(Event, UnknownKeysAreIgnored) {
  const auto event = parse_event(R"({"event":"note","later":[1,{"a":null}],"text":"hello"})");
  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<RankNote>(*event).text, "hello");
}

TEST(Event, RefusesANewerProtocol) {
  const auto event = parse_event(R"({"event":"started","protocol":2,"rank":{"new":1}})");
  ASSERT_TRUE(event);
  ASSERT_TRUE(std::holds_alternative<RankFailed>(*event));
  EXPECT_NE(std::get<RankFailed>(*event).text.find("protocol 2"), std::string::npos);
  EXPECT_NE(std::get<RankFailed>(*event).text.find("only up to 1"), std::string::npos);
}

TEST(Event, InvalidUtf8IsReplaced) {
  const auto event = parse_event(write_event(RankNote{"a\xff\xc3\xa9\xe2\x82z\x01"}));
  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<RankNote>(*event).text, "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbdz\x01");
}

// The largest available graph has 54,681 nodes.
TEST(Event, TheLargestGraphTakesMilliseconds) {
  RankMeasured m;
  for (std::uint32_t i = 0; i < 54'681; ++i) {
    m.nodes.push_back({i, 1'000'000LL * i, 1'000'000LL * i + 999'999, 123'456});
    m.memory_profile.push_back(40'000'000'000LL + i);
    m.memory_profile.push_back(40'000'000'000LL - i);
    if (i % 4 == 0) m.scratch.push_back({i, 1'048'576});
  }
  // The minimum of several runs: other processes may evict the caches.
  double writing = std::numeric_limits<double>::max(), reading = writing;
  for (int i = 0; i < 5; ++i) {
    const double start = processor_ms();
    const std::string line = write_event(m);
    const double written = processor_ms();
    const auto again = parse_event(line);
    const double end = processor_ms();
    ASSERT_EQ(std::get<RankMeasured>(*again).nodes.size(), m.nodes.size());
    writing = std::min(writing, written - start);
    reading = std::min(reading, end - written);
  }
  RecordProperty("writing_ms", fmt::format("{:.2f}", writing));
  RecordProperty("reading_ms", fmt::format("{:.2f}", reading));
  // A sanitizer makes everything several times slower.
#if defined(NDEBUG) && !JOINTER_IS_SANITIZED
  EXPECT_LT(writing, 50);
  EXPECT_LT(reading, 50);
#endif
}

// resources/schema/runner.schema.json lists every key that is written, and requires only keys that
// are always written.
TEST(Event, TheSchemaDescribesEveryEvent) {
  std::ifstream file(source_path("resources/schema/runner.schema.json"));
  const auto schema = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(schema.is_object());
  EXPECT_EQ(schema["$defs"]["progress"]["properties"]["stage"]["enum"],
            nlohmann::json(std::vector<std::string>(std::begin(kRunStages), std::end(kRunStages))));
  std::set<std::string> seen;
  const std::vector<RankEvent> events{RankStarted{},
                                      RankProgress{},
                                      RankNote{},
                                      RankMeasured{.step_ns = {1},
                                                   .workspace_bytes = 1,
                                                   .pinned_peak_bytes = 1,
                                                   .outside_bytes = 1,
                                                   .memory_profile = {1},
                                                   .nodes = {{1, 1, 1, 1}},
                                                   .kernels = {{1, "gemm", 1, 1, 1}},
                                                   .scratch = {{1, 1}},
                                                   .gpu = GpuState{.slowdowns = {"power limit"},
                                                                   .other_processes = 1,
                                                                   .other_bytes = 1,
                                                                   .uncorrected_ecc_errors = 1,
                                                                   .mig = true,
                                                                   .own_bytes = 1}},
                                      RankVerified{},
                                      RankFailed{.memory_snapshot = "rank0.pickle"},
                                      RankDone{}};
  for (const RankEvent& event : events) {
    const auto written = nlohmann::json::parse(write_event(event));
    const std::string name = written["event"];
    seen.insert(name);
    ASSERT_TRUE(schema["$defs"].contains(name)) << name;
    const auto& described = schema["$defs"][name];
    EXPECT_EQ(described["properties"]["event"]["const"], name);
    for (const auto& [key, value] : written.items())
      EXPECT_TRUE(described["properties"].contains(key)) << name << "." << key;
    if (written.contains("gpu") && written["gpu"].is_object()) {
      for (const auto& [key, value] : written["gpu"].items())
        EXPECT_TRUE(described["properties"]["gpu"]["properties"].contains(key))
            << name << "." << key;
    }
    for (const auto& key : described["required"])
      EXPECT_TRUE(written.contains(key)) << name << "." << key;
  }
  EXPECT_EQ(schema["$defs"]["started"]["properties"]["protocol"]["const"], kRunnerProtocol);
  EXPECT_EQ(schema["$defs"]["event"]["oneOf"].size(), seen.size());
}

}  // namespace
}  // namespace jointer::test

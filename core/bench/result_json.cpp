#include <fmt/core.h>

#include <array>
#include <cmath>

#include "core/base/units.h"
#include "core/bench/event_fields.h"
#include "core/bench/result.h"

namespace jointer {
namespace {

constexpr std::array kStatuses{RankResult::Status::running, RankResult::Status::done,
                               RankResult::Status::failed,  RankResult::Status::died,
                               RankResult::Status::hung,    RankResult::Status::stopped};

// Returns 0 for times that are not finite, or of 4.5e9 ms (52 days) or more, whose conversion may
// be wrong by a nanosecond.
std::int64_t to_ns(double ms) {
  return std::isfinite(ms) && std::abs(ms) < 4.5e9 ? std::llround(ms * 1e6) : 0;
}

constexpr auto milliseconds(std::string_view key, auto field) {
  return json_converted(key, field, &to_ms, &to_ns);
}

constexpr auto kRankStatus =
    std::tuple(json_field("rank", &RankResult::rank),
               json_choice("status", &RankResult::status, kStatuses, &to_string).required());
constexpr auto kRankRest = std::tuple(
    json_field("started", &RankResult::started),
    json_field("progress", &RankResult::progress).if_set(), json_field("stage", &RankResult::stage),
    json_field("node", &RankResult::node), json_field("kind", &RankResult::kind),
    json_field("reason", &RankResult::reason),
    json_field("memory_snapshot", &RankResult::memory_snapshot).if_set(),
    json_field("ended_ns", &RankResult::ended_ns), json_field("notes", &RankResult::notes),
    json_field("verified", &RankResult::verified));
constexpr auto kStepTimes =
    std::tuple(milliseconds("median", &StepTimes::median_ns),
               milliseconds("min", &StepTimes::min_ns), milliseconds("max", &StepTimes::max_ns));
constexpr auto kPrediction = std::tuple(json_field("peak_bytes", &Prediction::peak_bytes),
                                        milliseconds("step_ms", &Prediction::step_ns),
                                        json_field("estimator", &Prediction::estimator));
constexpr auto kGraph = std::tuple(json_field("graph", &BenchmarkResult::graph_name),
                                   json_field("hash", &BenchmarkResult::graph_hash),
                                   json_field("started_at", &BenchmarkResult::started_at));
constexpr auto kPeaks =
    std::tuple(json_field("peak_bytes", &BenchmarkResult::peak_bytes),
               json_field("requested_peak_bytes", &BenchmarkResult::requested_peak_bytes),
               json_field("reserved_peak_bytes", &BenchmarkResult::reserved_peak_bytes));
constexpr auto kStep = std::tuple(milliseconds("step_ms", &StepTimes::median_ns),
                                  milliseconds("step_min_ms", &StepTimes::min_ns),
                                  milliseconds("step_max_ms", &StepTimes::max_ns));
constexpr auto kThroughput =
    std::tuple(json_field("tokens_per_second", &Throughput::tokens_per_second),
               json_field("tflops", &Throughput::tflops), json_field("mfu", &Throughput::mfu),
               json_field("hardware_tflops", &Throughput::hardware_tflops));

template <class T, class Fields>
OrderedJson object_of(const T& object, const Fields& fields) {
  OrderedJson json = OrderedJson::object();
  write_fields(json, object, fields);
  return json;
}

OrderedJson rank_json(const RankResult& rank, bool with_profile) {
  const RankMeasured* measured = rank.measured ? &*rank.measured : nullptr;
  OrderedJson json = object_of(rank, kRankStatus);
  if (!measured) add_member(json, "peak_bytes", nullptr);
  add_member(json, "step_ms",
             measured && !measured->step_ns.empty()
                 ? object_of(summarize(measured->step_ns), kStepTimes)
                 : OrderedJson());
  if (measured) write_fields(json, *measured, kMeasuredFigures);
  if (measured && with_profile) write_fields(json, *measured, kMeasuredProfile);
  write_fields(json, rank, kRankRest);
  return json;
}

void read_rank(JsonMembers& members, RankResult& rank) {
  read_fields(members, rank, kRankStatus);
  const bool is_measured = members.find_set("peak_bytes") != nullptr;
  RankMeasured measured;
  read_fields(members, measured);
  if (is_measured) rank.measured = std::move(measured);
  read_fields(members, rank, kRankRest);
}

OrderedJson measured_json(const BenchmarkResult& result) {
  OrderedJson json = object_of(result, kPeaks);
  if (result.step)
    write_fields(json, *result.step, kStep);
  else
    for (const char* key : {"step_ms", "step_min_ms", "step_max_ms"})
      add_member(json, key, nullptr);
  write_fields(json, result.throughput, kThroughput);
  return json;
}

void read_measured(JsonMembers& members, BenchmarkResult& result) {
  read_fields(members, result, kPeaks);
  if (members.find_set("step_ms") != nullptr) {
    // A missing minimum or maximum defaults to the median.
    StepTimes step;
    read_fields(members, step, std::tuple(std::get<0>(kStep)));
    step.min_ns = step.max_ns = step.median_ns;
    read_fields(members, step, kStep);
    result.step = step;
  }
  read_fields(members, result.throughput, kThroughput);
}

// If the member `key` is set, reads the object in it with `take(JsonMembers&)`.
template <class Take>
void read_object(JsonMembers& members, std::string_view key, Take take) {
  const OrderedJson* json = members.find_set(key);
  if (json == nullptr) return;
  JsonMembers inner(*json, members.place_of(key));
  take(inner);
  members.check(inner);
}

Result<void> read_members(JsonMembers& members, BenchmarkResult& result) {
  std::vector<std::string> arguments;
  members.read("request", arguments);
  auto request = parse_runner_arguments(arguments);
  if (!request) return input_error("the benchmark's request: {}", request.error().message);
  result.request = *std::move(request);
  read_fields(members, result, kGraph);
  read_object(members, "predicted",
              [&](JsonMembers& m) { read_fields(m, result.predicted, kPrediction); });
  read_object(members, "measured", [&](JsonMembers& m) { read_measured(m, result); });
  members.read_list("ranks", [&](const OrderedJson& json, std::size_t i) {
    JsonMembers inner(json, fmt::format("rank {}", i));
    read_rank(inner, result.ranks.emplace_back());
    members.check(inner);
  });
  return {};
}

}  // namespace

std::string write_result(const BenchmarkResult& result, bool with_profile,
                         std::string_view further) {
  OrderedJson json;
  add_member(json, "version", kBenchmarkVersion);
  write_fields(json, result, kGraph);
  add_member(json, "request", json_of(runner_arguments(result.request)));
  add_member(json, "backend", to_string(result.request.backend));
  add_member(json, "device", json_of(result.device()));
  add_member(json, "succeeded", result.succeeded());
  add_member(json, "failure", json_of(result.failure()));
  add_member(json, "predicted", object_of(result.predicted, kPrediction));
  add_member(json, "measured", measured_json(result));
  add_member(json, "verify", json_of(result.verified()));
  add_member(json, "notes", json_of(result.notes()));
  OrderedJson::array_t ranks;
  for (const RankResult& rank : result.ranks) ranks.push_back(rank_json(rank, with_profile));
  add_member(json, "ranks", std::move(ranks));
  add_members(json, std::string(further));
  return write_json(json);
}

Result<BenchmarkResult> parse_result(std::string_view text) {
  const auto json = parse_tree(text);
  if (!json) return input_error("not a benchmark result: expected a JSON object");
  return read_result(*json);
}

Result<BenchmarkResult> read_result(const OrderedJson& json) {
  if (!json.is_object()) return input_error("not a benchmark result: expected a JSON object");
  JsonMembers members(json);
  std::optional<std::int64_t> version;
  members.read("version", version);
  if (!version)
    return input_error("not a benchmark result: `version` is missing or not an integer");
  if (members.find_set("request") == nullptr)
    return input_error("not a benchmark result: `request` is missing");
  if (*version > kBenchmarkVersion)
    return input_error(
        "benchmark result version {} is not supported: this program reads version {}; use a "
        "newer Jointer",
        *version, kBenchmarkVersion);
  BenchmarkResult result;
  JOINTER_CHECK(read_members(members, result));
  if (!members.problem().empty())
    return input_error("the benchmark result is invalid: {}", members.problem());
  return result;
}

}  // namespace jointer

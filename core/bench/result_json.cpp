#include <fmt/core.h>

#include <array>
#include <cmath>

#include "core/base/units.h"
#include "core/bench/event_json.h"
#include "core/bench/result.h"

namespace jointer {
namespace {

constexpr std::array kStatuses{RankResult::Status::running, RankResult::Status::done,
                               RankResult::Status::failed,  RankResult::Status::died,
                               RankResult::Status::hung,    RankResult::Status::stopped};

// 0 for times beyond 50 days, which a double does not hold to the nanosecond.
std::int64_t to_ns(double ms) {
  return std::isfinite(ms) && std::abs(ms) < 4.5e9 ? std::llround(ms * 1e6) : 0;
}

void write_optional(JsonWriter& json, std::string_view key, std::optional<std::int64_t> value) {
  json.key(key);
  value ? json.integer(*value) : json.null();
}

void write_optional(JsonWriter& json, std::string_view key, std::optional<double> value) {
  if (value) return write_real(json, key, *value);
  json.key(key);
  json.null();
}

void write_rank(JsonWriter& json, const RankResult& rank, bool with_profile) {
  const RankMeasured* measured = rank.measured ? &*rank.measured : nullptr;
  json.begin_object();
  write_integer(json, "rank", rank.rank);
  write_text(json, "status", to_string(rank.status));
  if (!measured) write_optional(json, "peak_bytes", std::optional<std::int64_t>());
  json.key("step_ms");
  if (measured && !measured->step_ns.empty()) {
    const StepTimes times = summarize(measured->step_ns);
    json.begin_object();
    write_real(json, "median", to_ms(times.median_ns));
    write_real(json, "min", to_ms(times.min_ns));
    write_real(json, "max", to_ms(times.max_ns));
    json.end_object();
  } else {
    json.null();
  }
  if (measured) write_members(json, *measured, with_profile);
  json.key("started");
  if (rank.started) {
    json.begin_object();
    write_members(json, *rank.started);
    json.end_object();
  } else {
    json.null();
  }
  if (rank.progress) {
    json.key("progress");
    json.begin_object();
    write_members(json, *rank.progress);
    json.end_object();
  }
  write_text(json, "stage", rank.stage);
  write_text(json, "node", rank.node);
  write_text(json, "kind", rank.kind);
  write_text(json, "reason", rank.reason);
  write_integer(json, "ended_ns", rank.ended_ns);
  write_texts(json, "notes", rank.notes);
  json.key("verified");
  json.begin_array();
  for (const RankVerified& verified : rank.verified) {
    json.begin_object();
    write_members(json, verified);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void read_rank(FieldReader& fields, RankResult& rank) {
  std::string status;
  fields.read("rank", rank.rank);
  fields.read("status", status);
  bool known = false;
  for (const RankResult::Status each : kStatuses)
    if (to_string(each) == status) {
      rank.status = each;
      known = true;
    }
  if (!known) fields.refuse();
  RankMeasured measured;
  std::optional<std::int64_t> peak;
  fields.read("peak_bytes", peak);
  read_members(fields, measured);
  if (peak) rank.measured = std::move(measured);
  fields.read_object("started", [&](FieldReader& f) { read_members(f, rank.started.emplace()); });
  fields.read_object("progress", [&](FieldReader& f) { read_members(f, rank.progress.emplace()); });
  fields.read("stage", rank.stage);
  fields.read("node", rank.node);
  fields.read("kind", rank.kind);
  fields.read("reason", rank.reason);
  fields.read("ended_ns", rank.ended_ns);
  fields.read("notes", rank.notes);
  fields.read_objects("verified",
                      [&](FieldReader& f) { read_members(f, rank.verified.emplace_back()); });
}

void write_predicted(JsonWriter& json, const Prediction& predicted) {
  json.key("predicted");
  json.begin_object();
  write_integer(json, "peak_bytes", predicted.peak_bytes);
  write_real(json, "step_ms", to_ms(predicted.step_ns));
  write_text(json, "estimator", predicted.estimator);
  json.end_object();
}

void write_measured(JsonWriter& json, const BenchmarkResult& result) {
  const auto ms = [&](std::int64_t StepTimes::*field) {
    return result.step ? std::optional(to_ms(result.step.value().*field)) : std::nullopt;
  };
  json.key("measured");
  json.begin_object();
  write_optional(json, "peak_bytes", result.peak_bytes);
  write_optional(json, "requested_peak_bytes", result.requested_peak_bytes);
  write_optional(json, "reserved_peak_bytes", result.reserved_peak_bytes);
  write_optional(json, "step_ms", ms(&StepTimes::median_ns));
  write_optional(json, "step_min_ms", ms(&StepTimes::min_ns));
  write_optional(json, "step_max_ms", ms(&StepTimes::max_ns));
  write_optional(json, "tokens_per_second", result.throughput.tokens_per_second);
  write_optional(json, "tflops", result.throughput.tflops);
  write_optional(json, "mfu", result.throughput.mfu);
  write_real(json, "hardware_tflops", result.throughput.hardware_tflops);
  json.end_object();
}

void read_measured(FieldReader& fields, BenchmarkResult& result) {
  fields.read("peak_bytes", result.peak_bytes);
  fields.read("requested_peak_bytes", result.requested_peak_bytes);
  fields.read("reserved_peak_bytes", result.reserved_peak_bytes);
  std::optional<double> median, least, most;
  fields.read("step_ms", median);
  fields.read("step_min_ms", least);
  fields.read("step_max_ms", most);
  if (median)
    result.step = {to_ns(*median), to_ns(least.value_or(*median)), to_ns(most.value_or(*median))};
  fields.read("tokens_per_second", result.throughput.tokens_per_second);
  fields.read("tflops", result.throughput.tflops);
  fields.read("mfu", result.throughput.mfu);
  fields.read("hardware_tflops", result.throughput.hardware_tflops);
}

Result<void> read_result(FieldReader& fields, BenchmarkResult& result) {
  std::vector<std::string> arguments;
  fields.read("request", arguments);
  auto request = parse_runner_arguments(arguments);
  if (!request) return input_error("the benchmark's request: {}", request.error().message);
  result.request = *std::move(request);
  fields.read("graph", result.graph_name);
  fields.read("hash", result.graph_hash);
  fields.read("started_at", result.started_at);
  fields.read_object("predicted", [&](FieldReader& f) {
    double step_ms = 0;
    f.read("peak_bytes", result.predicted.peak_bytes);
    f.read("step_ms", step_ms);
    f.read("estimator", result.predicted.estimator);
    result.predicted.step_ns = to_ns(step_ms);
  });
  fields.read_object("measured", [&](FieldReader& f) { read_measured(f, result); });
  fields.read_objects("ranks", [&](FieldReader& f) { read_rank(f, result.ranks.emplace_back()); });
  return {};
}

}  // namespace

std::string write_result(const BenchmarkResult& result, bool with_profile,
                         std::string_view further) {
  JsonWriter json;
  json.begin_object();
  write_integer(json, "version", kBenchmarkVersion);
  write_text(json, "graph", result.graph_name);
  write_text(json, "hash", result.graph_hash);
  write_text(json, "started_at", result.started_at);
  write_texts(json, "request", runner_arguments(result.request));
  write_text(json, "backend", to_string(result.request.backend));
  write_text(json, "device", result.device());
  write_boolean(json, "succeeded", result.succeeded());
  write_text(json, "failure", result.failure());
  write_predicted(json, result.predicted);
  write_measured(json, result);
  json.key("verify");
  if (const auto verified = result.verified()) {
    json.begin_object();
    write_members(json, *verified);
    json.end_object();
  } else {
    json.null();
  }
  write_texts(json, "notes", result.notes());
  json.key("ranks");
  json.begin_array();
  for (const RankResult& rank : result.ranks) write_rank(json, rank, with_profile);
  json.end_array();
  json.raw_members(further);
  json.end_object();
  return json.take();
}

Result<BenchmarkResult> parse_result(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(text.data(), text.size()).get(object) != simdjson::SUCCESS)
    return input_error("not a benchmark result: expected a JSON object");
  FieldReader fields(object);
  std::optional<std::int64_t> version;
  fields.read("version", version);
  if (!version) return input_error("not a benchmark result: `version` is missing");
  if (*version > kBenchmarkVersion)
    return input_error(
        "version {} of a benchmark result is not supported: this program reads version {}; use a "
        "newer Jointer",
        *version, kBenchmarkVersion);
  BenchmarkResult result;
  JOINTER_CHECK(read_result(fields, result));
  if (!fields.ok()) return input_error("the benchmark result has a field of the wrong type");
  return result;
}

}  // namespace jointer

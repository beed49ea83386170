// Reads the JSON in one pass with simdjson's on-demand parser; 500 MB takes about a second. Times
// are in microseconds with three decimals, which is too many digits for a double, so they are
// parsed from the text.

#include "core/capture/profiler_events.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "core/base/checked.h"
#include "core/base/json_problem.h"
#include "core/base/trimmed.h"

namespace jointer {
namespace {

namespace json = simdjson::ondemand;
using EventKind = ProfilerEvent::Kind;

struct TraceFailure {
  std::string message;
};

// Converts microseconds such as "5846204953013.123" to nanoseconds. Returns nullopt if the text is
// not a number or exceeds seventy years. With this limit, the sum of three times fits in 64 bits.
std::optional<std::int64_t> parse_us(std::string_view token) {
  constexpr double kMax = 70.0 * 366 * 24 * 3600 * 1e6;
  std::int64_t whole = 0;
  const char* end = token.data() + token.size();
  const auto [point, status] = std::from_chars(token.data(), end, whole);
  const bool plain = status == std::errc{} &&
                     std::find_if(point, end, [](char c) { return c == 'e' || c == 'E'; }) == end;
  if (!plain) {
    double value = 0;
    const auto [rest, ok] = std::from_chars(token.data(), end, value);
    if (ok != std::errc{} || rest != end || !(std::fabs(value) < kMax)) return std::nullopt;
    return std::llround(value * 1e3);
  }
  if (std::fabs(static_cast<double>(whole)) > kMax) return std::nullopt;
  std::int64_t ns = 0, unit = 100;
  if (point != end && *point != '.') return std::nullopt;
  for (const char* c = point; c != end && ++c != end; unit /= 10) {
    if (*c < '0' || *c > '9') return std::nullopt;
    ns += (*c - '0') * unit;
  }
  return whole * 1000 + (!token.empty() && token.front() == '-' ? -ns : ns);
}

std::int64_t parse_int(std::string_view token) {
  std::int64_t value = 0;
  std::from_chars(token.data(), token.data() + token.size(), value);
  return value;
}

std::optional<EventKind> kind_of(std::string_view category, std::string_view name) {
  if (category == "cpu_op") return EventKind::op;
  if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset")
    return EventKind::kernel;
  if (category == "cuda_runtime" || category == "cuda_driver" || category == "hip_runtime")
    return EventKind::runtime;
  if (category == "user_annotation")
    return name.starts_with("ProfilerStep#") ? EventKind::step : EventKind::annotation;
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(ProfilerEvents& out) : out_(out) {}

  void read(json::document& document) {
    bool found = false;
    for (auto member : document.get_object()) {
      const json::raw_json_string key = member.key();
      if (key == "traceEvents") {
        found = true;
        for (auto event : member.value().get_array()) read_event(event.value());
      } else if (key == "deviceProperties") {
        read_devices(member.value());
      }
    }
    if (!found) throw TraceFailure{"`traceEvents` is missing"};
  }

 private:
  void read_devices(json::value value) {
    for (auto device : value.get_array()) {
      json::object object = device.get_object();
      for (auto member : object)
        if (member.key() == "name" && out_.gpu.empty())
          out_.gpu = std::string(std::string_view(member.value().get_string()));
    }
  }

  void read_event(json::value value) {
    ProfilerEvent event;
    std::string_view category, name, pid, tid;
    std::optional<std::int64_t> start, duration;
    bool complete = false;
    for (auto member : value.get_object()) {
      const json::raw_json_string key = member.key();
      json::value v = member.value();
      if (key == "ph")
        complete = trimmed(v.raw_json_token()) == "\"X\"";
      else if (key == "cat")
        category = text(v);
      else if (key == "name")
        name = text(v);
      else if (key == "pid")
        pid = trimmed(v.raw_json_token());
      else if (key == "tid")
        tid = trimmed(v.raw_json_token());
      else if (key == "ts")
        start = parse_us(trimmed(v.raw_json_token()));
      else if (key == "dur")
        duration = parse_us(trimmed(v.raw_json_token()));
      else if (key == "args" && v.type() == json::json_type::object)
        read_arguments(v, event);
    }
    if (!complete || !start || !duration || *duration < 0) return;
    const auto kind = kind_of(category, name);
    if (!kind) return;
    event.kind = *kind;
    event.name = out_.names.intern(name);
    event.thread = thread(pid, tid);
    // Kineto writes the stream of a kernel as its thread, and usually also as an argument.
    if (event.kind != EventKind::kernel)
      event.stream = -1;
    else if (event.stream < 0)
      event.stream = std::max<std::int64_t>(parse_int(tid), 0);
    event.start_ns = *start;
    event.duration_ns = *duration;
    out_.has_shapes = out_.has_shapes || (event.kind == EventKind::op && event.shapes != 0);
    out_.has_kernels = out_.has_kernels || event.kind == EventKind::kernel;
    out_.events.push_back(event);
  }

  static std::string_view text(json::value v) {
    if (v.type() != json::json_type::string) return {};
    return v.get_string();
  }

  void read_arguments(json::value value, ProfilerEvent& event) {
    for (auto member : value.get_object()) {
      const json::raw_json_string key = member.key();
      json::value v = member.value();
      if (key == "External id" || key == "external id")
        event.external = parse_int(v.raw_json_token());
      else if (key == "correlation")
        event.correlation = parse_int(v.raw_json_token());
      else if (key == "stream")
        event.stream = parse_int(v.raw_json_token());
      else if (key == "Input Dims" && v.type() == json::json_type::array) {
        ShapeHash shapes;
        read_shapes(v, shapes, 0);
        event.shapes = shapes.value();
      }
    }
  }

  // Reads a tensor's sizes or a list of such lists. An argument that is a list of tensors is nested
  // one level deeper than a tensor.
  static void read_shapes(json::value value, ShapeHash& shapes, int depth) {
    constexpr int kDeepest = 8;
    if (depth > kDeepest)
      throw TraceFailure{"`Input Dims` is nested deeper than a list of tensors"};
    shapes.begin();
    for (auto element : value.get_array()) {
      json::value v = element.value();
      if (v.type() == json::json_type::array)
        read_shapes(v, shapes, depth + 1);
      else
        shapes.size(parse_int(v.raw_json_token()));
    }
    shapes.end();
  }

  std::uint32_t thread(std::string_view pid, std::string_view tid) {
    key_.assign(pid);
    key_ += ' ';
    key_ += tid;
    return threads_.try_emplace(key_, static_cast<std::uint32_t>(threads_.size())).first->second;
  }

  ProfilerEvents& out_;
  std::string key_;
  std::unordered_map<std::string, std::uint32_t> threads_;
};

}  // namespace

void ShapeHash::size(std::int64_t size) {
  hash_ = (hash_ ^ static_cast<std::uint64_t>(size)) * 1099511628211ULL;
  ++sizes_;
}

void ShapeHash::end() {
  if (sizes_ == 0) return;
  // Distinguishes [2,3] from [2],[3].
  hash_ = (hash_ ^ (sizes_ + 0x9e3779b97f4a7c15ULL)) * 1099511628211ULL;
  sizes_ = 0;
}

std::vector<std::uint32_t> in_nesting_order(const std::vector<ProfilerEvent>& events) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < events.size(); ++i)
    if (events[i].kind != EventKind::kernel && events[i].kind != EventKind::step)
      order.push_back(i);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const ProfilerEvent &x = events[a], &y = events[b];
    if (x.thread != y.thread) return x.thread < y.thread;
    if (x.start_ns != y.start_ns) return x.start_ns < y.start_ns;
    return x.duration_ns > y.duration_ns;
  });
  return order;
}

Result<ProfilerEvents> read_profiler_events(std::string_view name, const PaddedBytes& bytes) {
  ProfilerEvents out;
  json::parser parser;
  json::document document;
  bool started = false;
  const auto place = [&]() -> std::string {
    const char* at = nullptr;
    if (!started) return "";
    if (document.current_location().get(at) != simdjson::SUCCESS || at == nullptr) return "";
    const auto offset = at - bytes.view().data();
    return offset < 0 ? "" : fmt::format(" near byte {}", offset);
  };
  try {
    simdjson::padded_string_view view(bytes.view(), bytes.size() + PaddedBytes::kPadding);
    document = parser.iterate(view);
    started = true;
    Reader(out).read(document);
  } catch (const simdjson::simdjson_error& error) {
    return input_error("{}: not a profiler trace: {}{}", name, json_problem(error.error()),
                       place());
  } catch (const TraceFailure& failure) {
    return input_error("{}: not a profiler trace: {}", name, failure.message);
  }
  return out;
}

}  // namespace jointer

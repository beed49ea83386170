// Reads and writes events as JSON. Long lists are columns ({"position":[...],"own_ns":[...]})
// rather than objects: a tenth of the bytes, read in milliseconds for the largest graphs.

#include "core/bench/event.h"

#include <fmt/core.h>

#include <limits>
#include <type_traits>

#include "core/bench/event_json.h"

namespace jointer {
namespace {

template <class Row, class Field>
void write_column(JsonWriter& json, std::string_view key, const std::vector<Row>& rows,
                  Field Row::*field) {
  json.key(key);
  json.begin_array();
  for (const Row& row : rows) json.integer(static_cast<std::int64_t>(row.*field));
  json.end_array();
}

template <class Row, class Field>
void read_column(FieldReader& fields, std::string_view key, std::vector<Row>& rows,
                 Field Row::*field) {
  std::vector<std::int64_t> column;
  fields.read(key, column);
  if (column.size() != rows.size()) {
    fields.refuse();
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*field = static_cast<Field>(column[i]);
}

// Makes one row per position; all positions fit.
template <class Row>
void read_positions(FieldReader& fields, std::vector<Row>& rows) {
  std::vector<std::int64_t> positions;
  fields.read("position", positions);
  rows.resize(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] < 0 || positions[i] > std::numeric_limits<std::uint32_t>::max())
      fields.refuse();
    else
      rows[i].position = static_cast<std::uint32_t>(positions[i]);
  }
}

// The name and the members of each kind of event.
std::string_view name_of(const RankStarted& /*event*/) {
  return "started";
}
std::string_view name_of(const RankProgress& /*event*/) {
  return "progress";
}
std::string_view name_of(const RankNote& /*event*/) {
  return "note";
}
std::string_view name_of(const RankMeasured& /*event*/) {
  return "measured";
}
std::string_view name_of(const RankVerified& /*event*/) {
  return "verified";
}
std::string_view name_of(const RankFailed& /*event*/) {
  return "failed";
}
std::string_view name_of(const RankDone& /*event*/) {
  return "done";
}

void write_event_members(JsonWriter& json, const RankStarted& event) {
  write_integer(json, "protocol", kRunnerProtocol);
  write_members(json, event);
}
void write_event_members(JsonWriter& json, const RankProgress& event) {
  write_members(json, event);
}
void write_event_members(JsonWriter& json, const RankNote& event) {
  write_text(json, "text", event.text);
}
void write_event_members(JsonWriter& json, const RankMeasured& event) {
  write_members(json, event, true);
}
void write_event_members(JsonWriter& json, const RankVerified& event) {
  write_members(json, event);
}
void write_event_members(JsonWriter& json, const RankFailed& event) {
  write_text(json, "kind", event.kind);
  write_text(json, "node", event.node);
  write_text(json, "text", event.text);
}
void write_event_members(JsonWriter& /*json*/, const RankDone& /*event*/) {}

void read_members(FieldReader& fields, RankNote& event) {
  fields.read("text", event.text);
}
void read_members(FieldReader& fields, RankFailed& event) {
  fields.read("kind", event.kind);
  fields.read("node", event.node);
  fields.read("text", event.text);
}
void read_members(FieldReader& /*fields*/, RankDone& /*event*/) {}

// Tries the alternatives of RankEvent in order.
template <std::size_t I = 0>
std::optional<RankEvent> read_event(std::string_view name, FieldReader& fields) {
  if constexpr (I == std::variant_size_v<RankEvent>) {
    return std::nullopt;
  } else {
    std::variant_alternative_t<I, RankEvent> event;
    if (name != name_of(event)) return read_event<I + 1>(name, fields);
    read_members(fields, event);
    if (!fields.ok()) return std::nullopt;
    return event;
  }
}

}  // namespace

void write_members(JsonWriter& json, const RankStarted& started) {
  write_integer(json, "rank", started.rank);
  write_integer(json, "world_size", started.world_size);
  write_integer(json, "pid", started.pid);
  write_text(json, "device", started.device);
  write_text(json, "device_type", started.device_type);
  write_text(json, "hash", started.hash);
}

void read_members(FieldReader& fields, RankStarted& started) {
  fields.read("rank", started.rank);
  fields.read("world_size", started.world_size);
  fields.read("pid", started.pid);
  fields.read("device", started.device);
  fields.read("device_type", started.device_type);
  fields.read("hash", started.hash);
}

void write_members(JsonWriter& json, const RankProgress& progress) {
  write_text(json, "stage", progress.stage);
  write_integer(json, "done", progress.done);
  write_integer(json, "total", progress.total);
}

void read_members(FieldReader& fields, RankProgress& progress) {
  fields.read("stage", progress.stage);
  fields.read("done", progress.done);
  fields.read("total", progress.total);
}

void write_members(JsonWriter& json, const RankMeasured& measured, bool with_profile) {
  write_integers(json, "step_ns", measured.step_ns);
  write_integer(json, "peak_bytes", measured.peak_bytes);
  write_integer(json, "requested_peak_bytes", measured.requested_peak_bytes);
  write_integer(json, "reserved_peak_bytes", measured.reserved_peak_bytes);
  write_integer(json, "resident_peak_bytes", measured.resident_peak_bytes);
  if (!with_profile) return;
  if (!measured.memory_profile.empty())
    write_integers(json, "memory_profile", measured.memory_profile);
  if (!measured.nodes.empty()) {
    json.key("nodes");
    json.begin_object();
    write_column(json, "position", measured.nodes, &NodeTime::position);
    write_column(json, "start_ns", measured.nodes, &NodeTime::start_ns);
    write_column(json, "end_ns", measured.nodes, &NodeTime::end_ns);
    write_column(json, "own_ns", measured.nodes, &NodeTime::own_ns);
    json.end_object();
  }
  if (!measured.scratch.empty()) {
    json.key("scratch");
    json.begin_object();
    write_column(json, "position", measured.scratch, &NodeScratch::position);
    write_column(json, "bytes", measured.scratch, &NodeScratch::bytes);
    json.end_object();
  }
}

void read_members(FieldReader& fields, RankMeasured& measured) {
  fields.read("step_ns", measured.step_ns);
  fields.read("peak_bytes", measured.peak_bytes);
  fields.read("requested_peak_bytes", measured.requested_peak_bytes);
  fields.read("reserved_peak_bytes", measured.reserved_peak_bytes);
  fields.read("resident_peak_bytes", measured.resident_peak_bytes);
  fields.read("memory_profile", measured.memory_profile);
  fields.read_object("nodes", [&](FieldReader& columns) {
    read_positions(columns, measured.nodes);
    read_column(columns, "start_ns", measured.nodes, &NodeTime::start_ns);
    read_column(columns, "end_ns", measured.nodes, &NodeTime::end_ns);
    read_column(columns, "own_ns", measured.nodes, &NodeTime::own_ns);
  });
  fields.read_object("scratch", [&](FieldReader& columns) {
    read_positions(columns, measured.scratch);
    read_column(columns, "bytes", measured.scratch, &NodeScratch::bytes);
  });
}

void write_members(JsonWriter& json, const RankVerified& verified) {
  write_text(json, "against", verified.against);
  write_boolean(json, "bitwise", verified.bitwise);
  write_boolean(json, "equal", verified.equal);
  write_real(json, "max_abs_diff", verified.max_abs_diff);
  write_real(json, "bound", verified.bound);
  write_text(json, "output", verified.output);
  write_integer(json, "element", verified.element);
  write_integer(json, "compared", verified.compared);
}

void read_members(FieldReader& fields, RankVerified& verified) {
  fields.read("against", verified.against);
  fields.read("bitwise", verified.bitwise);
  fields.read("equal", verified.equal);
  fields.read("max_abs_diff", verified.max_abs_diff);
  fields.read("bound", verified.bound);
  fields.read("output", verified.output);
  fields.read("element", verified.element);
  fields.read("compared", verified.compared);
}

std::string write_event(const RankEvent& event) {
  return std::visit(
      [](const auto& said) {
        JsonWriter json;
        json.begin_object();
        json.key("event");
        json.string(name_of(said));
        write_event_members(json, said);
        json.end_object();
        return json.take();
      },
      event);
}

std::optional<RankEvent> parse_event(std::string_view line) {
  // Most other lines, which come from libraries, are not objects.
  if (!line.starts_with('{')) return std::nullopt;
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(line.data(), line.size()).get(object) != simdjson::SUCCESS) return std::nullopt;
  FieldReader fields(object);
  std::string name;
  std::int64_t protocol = kRunnerProtocol;
  fields.read("event", name);
  fields.read("protocol", protocol);
  if (!fields.ok()) return std::nullopt;
  if (protocol > kRunnerProtocol)
    return RankFailed{"internal", "",
                      fmt::format("it uses protocol {}, but this program understands {}: use the "
                                  "same version of both",
                                  protocol, kRunnerProtocol)};
  return read_event(name, fields);
}

}  // namespace jointer

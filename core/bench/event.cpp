#include "core/bench/event.h"

#include <fmt/core.h>

#include <array>

#include "core/bench/event_fields.h"

namespace jointer {

constexpr auto json_fields(const RankNote* /*of*/) {
  return std::tuple(json_field("text", &RankNote::text));
}

constexpr auto json_fields(const RankFailed* /*of*/) {
  return std::tuple(json_field("kind", &RankFailed::kind), json_field("node", &RankFailed::node),
                    json_field("text", &RankFailed::text),
                    json_field("memory_snapshot", &RankFailed::memory_snapshot).if_set());
}

constexpr auto json_fields(const RankDone* /*of*/) {
  return std::tuple();
}

namespace {

// The names of RankEvent's alternatives, in their order.
constexpr std::array<std::string_view, std::variant_size_v<RankEvent>> kEventNames{
    "started", "progress", "note", "measured", "verified", "failed", "done"};

// Reads the alternative of RankEvent with this name, from the I-th on. Returns nullopt if there is
// none, or if a field is invalid.
template <std::size_t I = 0>
std::optional<RankEvent> read_event(std::string_view name, JsonMembers& members) {
  if constexpr (I == std::variant_size_v<RankEvent>) {
    return std::nullopt;
  } else {
    if (name != kEventNames[I]) return read_event<I + 1>(name, members);
    std::variant_alternative_t<I, RankEvent> event;
    read_fields(members, event);
    if (!members.problem().empty()) return std::nullopt;
    return event;
  }
}

}  // namespace

std::string write_event(const RankEvent& event) {
  return std::visit(
      [&](const auto& said) {
        OrderedJson json;
        add_member(json, "event", kEventNames[event.index()]);
        if constexpr (std::is_same_v<decltype(said), const RankStarted&>)
          add_member(json, "protocol", kRunnerProtocol);
        write_fields(json, said);
        return write_json(json);
      },
      event);
}

std::optional<RankEvent> parse_event(std::string_view line) {
  // Avoids parsing most of the lines that libraries print.
  if (!line.starts_with('{')) return std::nullopt;
  const auto json = parse_tree(line);
  if (!json) return std::nullopt;
  JsonMembers members(*json);
  std::string name;
  std::int64_t protocol = kRunnerProtocol;
  members.read("event", name);
  members.read("protocol", protocol);
  if (!members.problem().empty()) return std::nullopt;
  if (protocol > kRunnerProtocol)
    return RankFailed{
        "internal", "",
        fmt::format("the rank's program uses protocol {}, but this program supports "
                    "protocols only up to {}; use the same version of Jointer for both",
                    protocol, kRunnerProtocol)};
  return read_event(name, members);
}

}  // namespace jointer

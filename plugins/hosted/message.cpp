#include "plugins/hosted/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/base/json_fields.h"
#include "core/base/utf8.h"
#include "plugins/hosted/declaration.h"
#include "plugins/hosted/table_json.h"

namespace jointer {
namespace {

using Kind = HostFailed::Kind;

constexpr std::array kKinds{Kind::usage, Kind::pass, Kind::memory};
std::string_view kind_name(Kind kind) {
  constexpr std::array<std::string_view, kKinds.size()> kNames{"usage", "pass", "memory"};
  return kNames[static_cast<std::size_t>(kind)];
}

constexpr auto kReady = std::tuple(json_field("protocol", &HostReady::protocol).required(),
                                   json_field("host", &HostReady::host).required());
constexpr auto kProgress = std::tuple(json_field("done", &HostProgress::done).required());
constexpr auto kDecision = std::tuple(json_field("node", &Decision::node).required(),
                                      json_field("action", &Decision::action).required(),
                                      json_field("reason", &Decision::reason).required());
constexpr auto kDeclared = std::tuple(json_field("spec", &HostDeclared::spec).required(),
                                      json_field("error", &HostDeclared::error).if_set());
constexpr auto kDone = std::tuple();
constexpr auto kFailed =
    std::tuple(json_choice("kind", &HostFailed::kind, kKinds, &kind_name).required(),
               json_field("text", &HostFailed::text).required());

// --- Reading ---

// Replaces control characters, since terminals and the tables in the window show each text on one
// line.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

HostReady read_ready(JsonMembers& members) {
  HostReady ready;
  read_fields(members, ready, kReady);
  return ready;
}

HostProgress read_progress(JsonMembers& members) {
  HostProgress progress;
  read_fields(members, progress, kProgress);
  if (!std::isfinite(progress.done)) members.expect("done", "a number from 0 to 1");
  progress.done = std::clamp(progress.done, 0.0, 1.0);
  return progress;
}

HostDecision read_decision(JsonMembers& members) {
  Decision decision;
  read_fields(members, decision, kDecision);
  for (std::string* text : {&decision.node, &decision.action, &decision.reason})
    *text = one_line(std::move(*text));
  return {std::move(decision)};
}

HostTable read_table(JsonMembers& members, const OrderedJson& json) {
  auto table = read_pass_table(json);
  if (table) return {*std::move(table)};
  members.refuse(table.error().message);
  return {};
}

HostDeclared read_declared(JsonMembers& members) {
  HostDeclared declared;
  read_fields(members, declared, kDeclared);
  declared.error = one_line(std::move(declared.error));
  members.read_list("passes", [&](const OrderedJson& json, std::size_t /*at*/) {
    if (auto info = read_pass_info(json))
      declared.passes.push_back(*std::move(info));
    else
      members.refuse(info.error().message);
  });
  return declared;
}

HostFailed read_failed(JsonMembers& members) {
  HostFailed failed;
  read_fields(members, failed, kFailed);
  failed.text = one_line(std::move(failed.text));
  return failed;
}

std::optional<HostMessage> read_message(const OrderedJson& json) {
  JsonMembers members(json);
  std::string event;
  members.read("event", event);
  HostMessage message;
  if (event == "ready")
    message = read_ready(members);
  else if (event == "progress")
    message = read_progress(members);
  else if (event == "decision")
    message = read_decision(members);
  else if (event == "table")
    message = read_table(members, json);
  else if (event == "declared")
    message = read_declared(members);
  else if (event == "done")
    message = HostDone();
  else if (event == "failed")
    message = read_failed(members);
  else
    return std::nullopt;
  if (!members.problem().empty()) return std::nullopt;
  return message;
}

// --- Writing ---

template <class Object, class Fields>
OrderedJson event_json(std::string_view event, const Object& object, const Fields& fields) {
  OrderedJson json;
  add_member(json, "event", event);
  write_fields(json, object, fields);
  return json;
}

struct Writer {
  OrderedJson operator()(const HostReady& m) const { return event_json("ready", m, kReady); }
  OrderedJson operator()(const HostProgress& m) const {
    return event_json("progress", m, kProgress);
  }
  OrderedJson operator()(const HostDecision& m) const {
    return event_json("decision", m.decision, kDecision);
  }
  OrderedJson operator()(const HostTable& m) const {
    OrderedJson json{{"event", "table"}};
    json.update(to_json(m.table));
    return json;
  }
  OrderedJson operator()(const HostDeclared& m) const {
    OrderedJson json = event_json("declared", m, kDeclared);
    OrderedJson passes = OrderedJson::array();
    for (const PassInfo& each : m.passes) passes.push_back(to_json(each));
    add_member(json, "passes", std::move(passes));
    return json;
  }
  OrderedJson operator()(const HostDone& m) const { return event_json("done", m, kDone); }
  OrderedJson operator()(const HostFailed& m) const { return event_json("failed", m, kFailed); }
};

}  // namespace

Result<HostMessage> parse_host_message(std::string_view line) {
  constexpr std::size_t kShown = 80;
  const auto json = parse_tree(line);
  if (auto message = json ? read_message(*json) : std::nullopt) {
    const auto* ready = std::get_if<HostReady>(&*message);
    if (ready == nullptr || ready->protocol == kHostProtocol) return *std::move(message);
    return fail(Error::Kind::run,
                "the host uses protocol version {}, not {}, so it belongs to a different version "
                "of Jointer; reinstall Jointer",
                ready->protocol, kHostProtocol);
  }
  const std::string_view shown = first_characters(line, kShown);
  return fail(Error::Kind::run, "the host sent an invalid message: {}{}",
              write_json(one_line(std::string(shown))), shown.size() < line.size() ? "..." : "");
}

std::string write_host_message(const HostMessage& message) {
  return write_json(std::visit(Writer(), message));
}

}  // namespace jointer

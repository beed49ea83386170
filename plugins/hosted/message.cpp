#include "plugins/hosted/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "plugins/hosted/declaration.h"
#include "plugins/hosted/table_json.h"

namespace jointer {
namespace {

constexpr std::array<std::pair<HostFailed::Kind, std::string_view>, 3> kKinds{
    {{HostFailed::Kind::usage, "usage"},
     {HostFailed::Kind::pass, "pass"},
     {HostFailed::Kind::memory, "memory"}}};

struct Refused {};

const std::string& text(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) throw Refused();
  return found->get_ref<const std::string&>();
}

// Terminals and the tables in the window show each text on one line.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

HostReady read_ready(const OrderedJson& json) {
  const auto protocol = json.find("protocol");
  if (protocol == json.end() || !protocol->is_number_integer()) throw Refused();
  const auto version = protocol->get<std::int64_t>();
  // -1 stands for any other version.
  return {.protocol = version == kHostProtocol ? kHostProtocol : -1, .host = text(json, "host")};
}

HostProgress read_progress(const OrderedJson& json) {
  const auto done = json.find("done");
  if (done == json.end() || !done->is_number()) throw Refused();
  return {.done = std::clamp(done->get<double>(), 0.0, 1.0)};
}

HostDecision read_decision(const OrderedJson& json) {
  return {.decision = {.pass = {},
                       .node = one_line(text(json, "node")),
                       .action = one_line(text(json, "action")),
                       .reason = one_line(text(json, "reason"))}};
}

HostTable read_table(const OrderedJson& json) {
  auto table = read_pass_table(json);
  if (!table) throw Refused();
  return {.table = *std::move(table)};
}

HostDeclared read_declared(const OrderedJson& json) {
  HostDeclared declared{.spec = text(json, "spec"), .passes = {}, .error = {}};
  if (json.contains("error")) declared.error = one_line(text(json, "error"));
  const auto passes = json.find("passes");
  if (passes == json.end()) return declared;
  if (!passes->is_array()) throw Refused();
  for (const OrderedJson& each : *passes) {
    auto info = read_pass_info(each);
    if (!info) throw Refused();
    declared.passes.push_back(*std::move(info));
  }
  return declared;
}

HostFailed read_failed(const OrderedJson& json) {
  const std::string& kind = text(json, "kind");
  for (const auto& [value, name] : kKinds)
    if (name == kind) return {.kind = value, .text = one_line(text(json, "text"))};
  throw Refused();
}

HostMessage read_message(const OrderedJson& json) {
  const std::string& event = text(json, "event");
  if (event == "ready") return read_ready(json);
  if (event == "progress") return read_progress(json);
  if (event == "decision") return read_decision(json);
  if (event == "table") return read_table(json);
  if (event == "declared") return read_declared(json);
  if (event == "done") return HostDone{};
  if (event == "failed") return read_failed(json);
  throw Refused();
}

struct Writer {
  OrderedJson operator()(const HostReady& m) const {
    return {{"event", "ready"}, {"protocol", m.protocol}, {"host", m.host}};
  }
  OrderedJson operator()(const HostProgress& m) const {
    return {{"event", "progress"}, {"done", m.done}};
  }
  OrderedJson operator()(const HostDecision& m) const {
    return {{"event", "decision"},
            {"node", m.decision.node},
            {"action", m.decision.action},
            {"reason", m.decision.reason}};
  }
  OrderedJson operator()(const HostTable& m) const {
    OrderedJson json{{"event", "table"}};
    json.update(to_json(m.table));
    return json;
  }
  OrderedJson operator()(const HostDeclared& m) const {
    OrderedJson json{{"event", "declared"}, {"spec", m.spec}, {"passes", OrderedJson::array()}};
    for (const PassInfo& each : m.passes) json["passes"].push_back(to_json(each));
    if (!m.error.empty()) json["error"] = m.error;
    return json;
  }
  OrderedJson operator()(const HostDone& /*m*/) const { return {{"event", "done"}}; }
  OrderedJson operator()(const HostFailed& m) const {
    std::string_view name;
    for (const auto& [value, each] : kKinds)
      if (value == m.kind) name = each;
    return {{"event", "failed"}, {"kind", name}, {"text", m.text}};
  }
};

}  // namespace

Result<HostMessage> parse_host_message(std::string_view line) {
  constexpr std::size_t kShown = 80;
  try {
    const auto json = parse_json(line, "message");
    if (json && json->is_object()) {
      HostMessage message = read_message(*json);
      const auto* ready = std::get_if<HostReady>(&message);
      if (ready == nullptr || ready->protocol == kHostProtocol) return message;
      return fail(Error::Kind::run,
                  "its host uses a protocol version other than {}: it belongs to another "
                  "version of Jointer",
                  kHostProtocol);
    }
  } catch (const Refused&) {
    // Reported below.
  }
  return fail(Error::Kind::run, "its host wrote something that is not a message: {}{}",
              write_json(one_line(std::string(line.substr(0, kShown)))),
              line.size() > kShown ? "..." : "");
}

std::string write_host_message(const HostMessage& message) {
  return write_json(std::visit(Writer(), message));
}

}  // namespace jointer

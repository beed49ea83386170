#include "app/runner/backends/compiler.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/resources.h"
#include "core/process/child.h"

namespace jointer::runner {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t number_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<std::int64_t>() : 0;
}

std::vector<PackageValue> values_of(const Json& package, const char* key) {
  std::vector<PackageValue> values;
  if (const auto found = package.find(key); found != package.end() && found->is_array())
    for (const Json& value : *found)
      if (value.is_object())
        values.push_back({text_of(value, "name"), text_of(value, "kind") == "integer"});
  return values;
}

CompiledPackage package_of(const Json& json) {
  CompiledPackage package{.path = text_of(json, "package"),
                          .phase = text_of(json, "phase"),
                          .of = text_of(json, "of"),
                          .inputs = values_of(json, "inputs"),
                          .outputs = values_of(json, "outputs"),
                          .replaces = {},
                          .from_cache = json.value("cached", false),
                          .seconds = json.value("compile_seconds", 0.0)};
  if (const auto found = json.find("replaces"); found != json.end() && found->is_array())
    for (const Json& name : *found)
      if (name.is_string()) package.replaces.push_back(name.get<std::string>());
  return package;
}

std::vector<std::string> command_line(const CompilerRequest& request) {
  const char* chosen = std::getenv("JOINTER_PYTHON");
  std::vector<std::string> command{chosen != nullptr ? chosen : JOINTER_TORCH_PYTHON,
                                   "-m",
                                   "jointer",
                                   "compile",
                                   request.graph,
                                   "--method=" + request.method,
                                   "--on=" + request.on,
                                   "--rank=" + std::to_string(request.rank)};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) command.push_back(std::string(option) + value);
  };
  add("--backward=", request.backward);
  add("--assume=", request.assumptions);
  add("--out=", request.artifacts);
  for (std::size_t at = 0; at < request.marked.size();) {
    const std::size_t end = std::min(request.marked.find(';', at), request.marked.size());
    add("--mark=", request.marked.substr(at, end - at));
    at = end + 1;
  }
  return command;
}

}  // namespace

Result<std::vector<CompiledPackage>> run_compiler(const CompilerRequest& request,
                                                  const CompilerListener& listener) {
  std::optional<std::vector<CompiledPackage>> packages;
  std::string failure;
  const auto on_line = [&](std::string_view line) {
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return;
    const std::string event = text_of(json, "event");
    if (event == "progress") {
      listener.progress(text_of(json, "stage"), number_of(json, "done"), number_of(json, "total"));
    } else if (event == "note") {
      listener.note(text_of(json, "text"));
    } else if (event == "failed") {
      const std::string node = text_of(json, "node");
      failure = (node.empty() ? "" : node + ": ") + text_of(json, "text");
    } else if (event == "compiled" && json.contains("packages") && json["packages"].is_array()) {
      packages.emplace();
      for (const Json& package : json["packages"])
        if (package.is_object()) packages->push_back(package_of(package));
    }
  };
  const std::string resources = find_resource("python");
  JOINTER_TRY(Child child,
              Child::start({.command = command_line(request),
                            .environment = {{"PYTHONPATH", resources}, {"WORLD_SIZE", "1"}},
                            .directory = {},
                            .has_input = false,
                            .on_line = on_line,
                            .deadline = std::nullopt}));
  const ChildEnd end = child.wait();
  if (packages && end.succeeded()) return std::move(*packages);
  if (!failure.empty()) return fail(Error::Kind::run, "{}", failure);
  const std::string last = child.last_error();
  return fail(Error::Kind::run, "the compiler's process ended with {}{}{}", to_string(end),
              last.empty() ? "" : ": ", last);
}

}  // namespace jointer::runner

#include "app/runner/backends/compiler.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/base/json_fields.h"
#include "core/base/take_part.h"
#include "core/process/child.h"
#include "core/process/gpus.h"
#include "core/process/python.h"

namespace jointer::runner {

namespace {

std::string kind_name(bool is_number) {
  return is_number ? "integer" : "tensor";
}
bool is_integer(std::string kind) {
  return kind == "integer";
}

}  // namespace

constexpr auto json_fields(const PackageValue* /*of*/) {
  return std::tuple(json_field("name", &PackageValue::name),
                    json_converted("kind", &PackageValue::is_number, &kind_name, &is_integer));
}

constexpr auto json_fields(const CompiledPackage* /*of*/) {
  return std::tuple(
      json_field("package", &CompiledPackage::path).required(),
      json_field("phase", &CompiledPackage::phase), json_field("of", &CompiledPackage::of),
      json_field("torch", &CompiledPackage::torch), json_field("inputs", &CompiledPackage::inputs),
      json_field("outputs", &CompiledPackage::outputs),
      json_field("replaces", &CompiledPackage::replaces),
      json_field("cached", &CompiledPackage::from_cache),
      json_field("compile_seconds", &CompiledPackage::seconds));
}

namespace {

std::vector<std::string> arguments_of(const CompilerRequest& request) {
  std::vector<std::string> command{"compile", request.graph, "--method=" + request.method,
                                   "--on=" + request.on, "--rank=" + std::to_string(request.rank)};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) command.push_back(std::string(option) + value);
  };
  add("--backward=", request.backward);
  add("--assume=", request.assumptions);
  add("--out=", request.artifacts);
  add("--torch=", request.torch);
  for (std::string_view rest = request.marked; !rest.empty();)
    add("--mark=", std::string(take_part(rest, ';')));
  return command;
}

}  // namespace

Result<std::vector<CompiledPackage>> run_compiler(const CompilerRequest& request,
                                                  const CompilerListener& listener) {
  std::optional<std::vector<CompiledPackage>> packages;
  std::string failure;
  const auto on_line = [&](std::string_view line) {
    const auto json = parse_tree(line);
    if (!json || !json->is_object()) return;
    JsonMembers fields(*json);
    std::string event, stage, node, text;
    std::int64_t done = 0, total = 0;
    fields.read("event", event);
    fields.read("stage", stage);
    fields.read("done", done);
    fields.read("total", total);
    fields.read("node", node);
    fields.read("text", text);
    if (event == "progress") {
      listener.progress(stage, done, total);
    } else if (event == "note") {
      listener.note(text);
    } else if (event == "failed") {
      failure = (node.empty() ? "" : node + ": ") + text;
    } else if (event == "compiled") {
      if (!fields.has("packages")) fields.expect("packages", {});
      fields.read("packages", packages.emplace());
      if (fields.problem().empty()) return;
      packages.reset();
      failure = fmt::format(
          "invalid answer from the compiler process: {}; check that JOINTER_PYTHON and PYTHONPATH "
          "do not select the Python package of another Jointer version",
          fields.problem());
    }
  };
  JOINTER_TRY(ProgramCommand python, python_program());
  for (std::string& argument : arguments_of(request)) python.command.push_back(std::move(argument));
  // The compiler is a single process, so it must not inherit this rank's WORLD_SIZE.
  python.environment.emplace_back("WORLD_SIZE", "1");
  // It uses its first device, which must be this rank's.
  if (request.gpu) python.environment.emplace_back("CUDA_VISIBLE_DEVICES", only_gpu(*request.gpu));
  JOINTER_TRY(Child child, Child::start({.command = std::move(python.command),
                                         .environment = std::move(python.environment),
                                         .on_line = on_line}));
  const ChildEnd end = child.wait();
  if (packages && end.succeeded()) return std::move(*packages);
  if (!failure.empty()) return fail(Error::Kind::run, "{}", failure);
  const std::string last = child.last_error();
  return fail(Error::Kind::run, "the compiler process ended without a result ({}){}{}",
              to_string(end), last.empty() ? "" : ": ", last);
}

}  // namespace jointer::runner

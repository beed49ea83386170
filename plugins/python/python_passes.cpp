#include "plugins/python/python_passes.h"

#include "core/base/bytes.h"
#include "core/base/characters.h"
#include "core/base/counted.h"
#include "plugins/hosted/declaration.h"
#include "plugins/hosted/host_process.h"

namespace jointer {
namespace {

Result<ProgramCommand> python_host() {
  JOINTER_TRY(ProgramCommand program, python_program());
  program.command.emplace_back("host");
  return program;
}

struct Named {
  std::string name;  // empty: use the name of the function
  std::string spec;
};

// Splits `name=spec`. A path may contain `=`, so the text before the first `=` is a name only if it
// is a word without dots.
Named split_name(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) return {.name = {}, .spec = text};
  const std::string name = text.substr(0, equals);
  const bool is_name = is_word(name) && name.find('.') == std::string::npos;
  return is_name ? Named{.name = name, .spec = text.substr(equals + 1)}
                 : Named{.name = {}, .spec = text};
}

// Makes the path in a spec absolute, because a later host may run in another folder, and
// reproducers record the spec.
std::string with_absolute_path(const std::string& spec) {
  const std::string file = python_file(spec);
  return file.empty() ? spec : absolute_path(file) + spec.substr(file.size());
}

// Asks the host for the declarations of all specs, in order.
Result<std::vector<HostDeclared>> ask_declarations(const std::vector<Named>& specs,
                                                   const HostOptions& options) {
  HostQuestion question;
  JOINTER_TRY(question.program, python_host());
  question.limits = options.limits;
  OrderedJson list = OrderedJson::array();
  for (const Named& each : specs) list.push_back(each.spec);
  question.request = {{"request", "list"}, {"specs", std::move(list)}};
  if (options.log) question.log = [&](std::string_view line) { options.log("", line); };
  std::vector<HostDeclared> declared;
  question.tell = [&](const HostMessage& message) {
    if (const auto* each = std::get_if<HostDeclared>(&message)) declared.push_back(*each);
  };
  if (auto asked = ask_host(question); !asked)
    return fail(asked.error().kind, "Python passes: {}", asked.error().message);
  if (declared.size() != specs.size())
    return fail(Error::Kind::run, "Python passes: the host returned {} for {}",
                counted(declared.size(), "declaration"), counted(specs.size(), "spec"));
  return declared;
}

HostedPass hosted_of(PassInfo info, const std::string& spec, const std::string& function) {
  return {.info = std::move(info),
          .program = python_host,
          .request = {{"spec", spec}, {"function", function}}};
}

}  // namespace

Result<void> add_python_passes(PassRegistry& registry, std::span<const std::string> specs,
                               const HostOptions& options) {
  if (specs.empty()) return {};
  std::vector<Named> named;
  for (const std::string& text : specs) {
    named.push_back(split_name(text));
    named.back().spec = with_absolute_path(named.back().spec);
  }
  JOINTER_TRY(std::vector<HostDeclared> declared, ask_declarations(named, options));
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto& [name, spec] = named[i];
    if (!declared[i].error.empty())
      return fail(Error::Kind::usage, "{}: {}", spec, declared[i].error);
    if (!name.empty() && declared[i].passes.size() > 1)
      return fail(
          Error::Kind::usage,
          "{}: declares {} passes, but `{}=` can name only one; select one with `{}={}:FUNCTION`",
          spec, declared[i].passes.size(), name, name, spec);
    for (PassInfo& info : declared[i].passes) {
      const std::string own = info.name;
      if (!name.empty()) info.name = name;
      info.source = "Python: " + spec;
      Pass pass = make_hosted_pass(hosted_of(std::move(info), spec, own), options);
      if (auto added = registry.add(std::move(pass)); !added)
        return fail(added.error().kind, "{}: {}", spec, added.error().message);
    }
  }
  return {};
}

// As in the host, the name of the function follows the last colon.
std::string python_file(const std::string& spec) {
  const std::string module = spec.substr(0, spec.rfind(':'));
  return module.ends_with(".py") ? module : std::string();
}

std::string absolute_spec(const std::string& spec) {
  const Named named = split_name(spec);
  return (named.name.empty() ? "" : named.name + "=") + with_absolute_path(named.spec);
}

Pass python_pass(PassInfo info, const std::string& spec, const HostOptions& options) {
  if (info.source.empty()) info.source = "Python: " + spec;
  const std::string own = info.name;
  return make_hosted_pass(hosted_of(std::move(info), spec, own), options);
}

PythonRunner python_runner(const HostOptions& options) {
  return [options](const Graph& graph, const PythonCall& call) -> Result<Graph> {
    OrderedJson arguments = OrderedJson::object();
    for (const auto& [name, value] : call.arguments) arguments[name] = to_json(value);
    PassInfo info;
    info.name = call.function.substr(call.function.rfind(':') + 1);
    const std::string function = info.name;
    PassContext::Options context_options;
    context_options.is_cancelled = call.is_cancelled;
    PassContext context(context_options);
    return run_hosted(hosted_of(std::move(info), call.function, function), options, graph,
                      arguments, context);
  };
}

}  // namespace jointer

#include "plugins/cpp/serve.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/graph/validate.h"
#include "core/process/file_descriptor.h"
#include "plugins/cpp/library.h"
#include "plugins/cpp/plugin.h"
#include "plugins/cpp/plugin_folder.h"
#include "plugins/hosted/analysis_json.h"
#include "plugins/hosted/declaration.h"
#include "plugins/hosted/message.h"

namespace jointer {
namespace {

constexpr int kFailed = 4;

// Reserves standard output for messages, and redirects other output to standard error.
class Messages {
 public:
  Messages() : out_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }

  void say(const HostMessage& message) const {
    const std::string line = write_host_message(message) + '\n';
    for (std::string_view rest = line; !rest.empty();) {
      const ssize_t count = ::write(out_.get(), rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;  // the reader has exited
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  FileDescriptor out_;
};

// Success, or the failure to report in the last message.
using Answer = tl::expected<void, HostFailed>;

tl::unexpected<HostFailed> refuse(HostFailed::Kind kind, std::string text) {
  return tl::unexpected(HostFailed{.kind = kind, .text = std::move(text)});
}

const std::string& text_of(const OrderedJson& request, const char* key) {
  static const std::string kEmpty;
  const auto found = request.find(key);
  return found != request.end() && found->is_string() ? found->get_ref<const std::string&>()
                                                      : kEmpty;
}

// Limits memory so that std::bad_alloc is thrown before the machine swaps.
void limit_memory(const OrderedJson& request) {
  const auto bytes = request.value("memory_bytes", std::int64_t{0});
  if (bytes <= 0) return;
  const rlimit limit{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
  ::setrlimit(RLIMIT_DATA, &limit);
}

Answer list(const OrderedJson& request, const Messages& messages) {
  const auto specs = request.find("specs");
  if (specs == request.end() || !specs->is_array())
    return refuse(HostFailed::Kind::usage, "the request lists no libraries");
  for (const OrderedJson& each : *specs) {
    HostDeclared declared{.spec = each.is_string() ? each.get<std::string>() : "", .passes = {}};
    const auto library = PluginLibrary::open(declared.spec);
    if (!library) {
      declared.error = library.error().message;
    } else {
      for (const Pass& pass : library->passes()) declared.passes.push_back(pass.info);
    }
    messages.say(declared);
  }
  return {};
}

Result<std::vector<std::pair<std::string, PassValue>>> given_arguments(const OrderedJson& request) {
  std::vector<std::pair<std::string, PassValue>> given;
  const auto arguments = request.find("arguments");
  if (arguments == request.end()) return given;
  for (const auto& [name, json] : arguments->items()) {
    JOINTER_TRY(PassValue value, read_pass_value(json));
    given.emplace_back(name, std::move(value));
  }
  return given;
}

// Runs the pass on the graph, validates the result, and reports the decisions and tables.
Answer run_pass(const Pass& pass, const OrderedJson& request, Graph& graph,
                const Messages& messages) {
  const auto given = given_arguments(request);
  if (!given) return refuse(HostFailed::Kind::usage, given.error().message);
  const auto arguments = Arguments::check(pass.info.parameters, *given);
  if (!arguments) return refuse(HostFailed::Kind::usage, arguments.error().message);
  PassContext::Options options;
  auto analysis = read_analysis_options(request.value("analysis", OrderedJson::object()));
  if (!analysis) return refuse(HostFailed::Kind::usage, analysis.error().message);
  options.analysis = *std::move(analysis);
  if (const auto limit = request.find("peak_limit");
      limit != request.end() && limit->is_number_integer())
    options.peak_limit = limit->get<std::int64_t>();
  constexpr double kStep = 0.01;  // limits the number of messages
  options.report = [&messages, reported = -1.0](double done) mutable {
    if (done < reported + kStep && done < 1) return;
    reported = done;
    messages.say(HostProgress{done});
  };
  PassContext context(options);
  if (!pass.run) return refuse(HostFailed::Kind::pass, "the pass has no `run` function");
  const auto ran = pass.run(graph, *arguments, context);
  if (!ran)
    return refuse(
        ran.error().kind == Error::Kind::usage ? HostFailed::Kind::usage : HostFailed::Kind::pass,
        ran.error().message);
  if (const auto sound = validate(graph); !sound)
    return refuse(HostFailed::Kind::pass, "produced an invalid graph: " + sound.error().message);
  for (const Decision& each : context.decisions()) messages.say(HostDecision{each});
  for (const PassTable& each : context.tables()) messages.say(HostTable{each});
  return {};
}

Answer run(const OrderedJson& request, const Messages& messages) {
  const auto library = PluginLibrary::open(text_of(request, "library"));
  if (!library) return refuse(HostFailed::Kind::usage, library.error().message);
  const std::string& name = text_of(request, "function");
  const auto& passes = library->passes();
  const auto pass =
      std::ranges::find_if(passes, [&](const Pass& each) { return each.info.name == name; });
  if (pass == passes.end())
    return refuse(HostFailed::Kind::usage,
                  "the plugin declares this pass but does not contain it; rebuild the plugin");
  const auto bytes = read_bytes(text_of(request, "graph"));
  if (!bytes) return refuse(HostFailed::Kind::pass, bytes.error().message);
  auto graph = read_native("graph", *bytes);
  if (!graph) return refuse(HostFailed::Kind::pass, graph.error().message);
  try {
    if (auto answer = run_pass(*pass, request, *graph, messages); !answer) return answer;
  } catch (const std::bad_alloc&) {
    return refuse(HostFailed::Kind::memory, "out of memory");
  } catch (const std::exception& thrown) {
    return refuse(HostFailed::Kind::pass, std::string("threw an exception: ") + thrown.what());
  } catch (...) {
    return refuse(HostFailed::Kind::pass, "threw an object that is not a std::exception");
  }
  if (auto written = write_bytes(text_of(request, "result"), write_native(*graph)); !written)
    return refuse(HostFailed::Kind::pass, written.error().message);
  return {};
}

Answer answer(const OrderedJson& request, const Messages& messages) {
  try {
    limit_memory(request);
    messages.say(HostReady{.host = kPluginBuild});
    const std::string& kind = text_of(request, "request");
    if (kind == "list") return list(request, messages);
    if (kind == "run") return run(request, messages);
    return refuse(HostFailed::Kind::usage, "unknown request " + kind);
  } catch (const std::bad_alloc&) {
    return refuse(HostFailed::Kind::memory, "out of memory");
  } catch (const std::exception& thrown) {
    return refuse(HostFailed::Kind::usage, std::string("the request is invalid: ") + thrown.what());
  }
}

}  // namespace

int serve_plugin() {
  const Messages messages;
  std::string line;
  std::getline(std::cin, line);
  const auto request = parse_json(line, "request");
  if (!request || !request->is_object() || request->value("protocol", 0) != kHostProtocol) {
    messages.say(HostReady{.host = kPluginBuild});
    messages.say(
        HostFailed{.kind = HostFailed::Kind::usage,
                   .text = fmt::format("the request is not a JSON object with protocol version {}",
                                       kHostProtocol)});
    return kFailed;
  }
  if (const Answer done = answer(*request, messages); !done) {
    messages.say(done.error());
    return kFailed;
  }
  messages.say(HostDone{});
  return 0;
}

Result<void> describe_plugin(const std::string& library, const std::string& summary) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(library).lexically_normal();
  auto opened = PluginLibrary::open(absolute_path(library));
  if (!opened) return fail(opened.error().kind, "{}: {}", library, opened.error().message);
  PluginFolder folder{.id = path.stem().string(),
                      .summary = summary,
                      .path = path.parent_path().string(),
                      .library = path.filename().string(),
                      .interface = kPluginInterface,
                      .built_with = kPluginBuild};
  for (const Pass& pass : opened->passes()) folder.passes.push_back(pass.info);
  return write_plugin_folder(folder);
}

}  // namespace jointer

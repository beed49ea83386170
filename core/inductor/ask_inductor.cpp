#include "core/inductor/ask_inductor.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/resources.h"
#include "core/base/sha256.h"
#include "core/base/torch_version.h"
#include "core/base/utf8.h"
#include "core/capture/native_writer.h"
#include "core/inductor/answer_cache.h"
#include "core/process/installed_torch.h"
#include "core/process/python.h"
#include "core/process/run_child.h"
#include "core/process/temporary_folder.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): required by POSIX

namespace jointer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxQuoted = 80;

std::string capture_of(const Graph& graph, PartId part) {
  return graph.is_pair() ? write_native(graph, part) : write_native(graph);
}

// A digest of the worker's source: a worker of another version may answer differently.
std::string digest_of_worker() {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(find_resource("python/jointer"), error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == ".py") files.push_back(at->path());
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files)
    if (const auto bytes = read_bytes(file.string())) text += bytes->view();
  return sha256(text);
}

// The environment variables that configure Inductor, one per line.
std::string settings_of_inductor() {
  std::vector<std::string_view> settings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (const std::string_view setting = *entry; setting.starts_with("TORCHINDUCTOR_"))
      settings.push_back(setting);
  std::sort(settings.begin(), settings.end());
  std::string text;
  for (const std::string_view setting : settings) (text += setting) += '\n';
  return text;
}

// Reads the lines that the worker prints: progress, and the answer at the end.
class Listener {
 public:
  explicit Listener(const AskOptions& options) : options_(options) {}

  void take(std::string_view line) {
    if (line.starts_with(kProgress))
      tell(line);
    else
      answer_ += line;
  }
  [[nodiscard]] const std::string& answer() const { return answer_; }

 private:
  static constexpr std::string_view kProgress = R"({"stage":)";

  void tell(std::string_view line) const {
    const auto json = parse_tree(line);
    if (!options_.on_progress || !json || !json->is_object()) return;
    const auto number = [&](const char* key) {
      const auto at = json->find(key);
      return at != json->end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
    };
    const auto name = json->find("stage");
    if (!name->is_string()) return;
    if (const auto stage = value_in(kAskStages, name->get<std::string>()))
      options_.on_progress({.stage = *stage, .done = number("done"), .of = number("of")});
  }

  const AskOptions& options_;
  std::string answer_;
};

Result<OrderedJson> parse_answer(const std::string& text) {
  auto answer = parse_tree(text);
  if (!answer || !answer->is_object() || !answer->contains("kernels"))
    return fail(Error::Kind::run, "expected a JSON object from Inductor's scheduler, got `{}`",
                first_characters(text, kMaxQuoted));
  return *std::move(answer);
}

// Runs the worker on a capture. Returns its answer, without the lines that report progress.
Result<std::string> run_worker(const ProgramCommand& python, const std::string& capture,
                               const AskOptions& options) {
  JOINTER_TRY(const TemporaryFolder folder, TemporaryFolder::make("jointer-kernels-"));
  const std::string path = folder.path("graph.json");
  JOINTER_CHECK(write_bytes(path, capture));
  Listener listener(options);
  ChildOptions child;
  child.command = python.command;
  child.command.insert(child.command.end(),
                       {"kernels", path, "--device", options.device, "--progress"});
  if (!options.torch.empty()) child.command.insert(child.command.end(), {"--torch", options.torch});
  child.environment = python.environment;
  child.on_line = [&](std::string_view line) { listener.take(line); };
  JOINTER_TRY(const FinishedChild ended, run_child(std::move(child), options.is_cancelled));
  constexpr int kUnreadable = 3;
  if (ended.end.signal == 0 && ended.end.exit_code == kUnreadable && !ended.last_error.empty())
    return input_error("{}; set JOINTER_PYTHON to use another Python", ended.last_error);
  if (!ended.end.succeeded())
    return fail(Error::Kind::run, "{}",
                failure_text("Inductor's scheduler", ended.end, ended.last_error));
  return listener.answer();
}

}  // namespace

double AskProgress::fraction() const {
  const double part =
      of > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(of), 0.0, 1.0) : 0.0;
  return (static_cast<double>(stage) + part) / static_cast<double>(kAskStages.size());
}

std::string content_of(const Graph& graph, PartId part) {
  return sha256(capture_of(graph, part));
}

Result<OrderedJson> ask_inductor(const Graph& graph, PartId part, const AskOptions& options) {
  JOINTER_TRY(const ProgramCommand python, python_program());
  JOINTER_TRY(const std::string torch, installed_torch(python, options.is_cancelled));
  if (!options.torch.empty() && torch != kUnknownTorch &&
      parse_torch_version(torch) != parse_torch_version(options.torch))
    return input_error("{} has torch {}, not {}; set JOINTER_PYTHON to use another Python",
                       python.command.front(), torch, options.torch);
  const std::string capture = capture_of(graph, part);
  const AnswerCache cache(options.cache_folder.empty() ? AnswerCache::default_folder()
                                                       : options.cache_folder);
  // A torch without a version may change, so its answers are not cached.
  const bool is_cached = torch != kUnknownTorch;
  const std::string key = sha256(sha256(capture) + '\n' + torch + '\n' + options.device + '\n' +
                                 digest_of_worker() + '\n' + settings_of_inductor());
  if (is_cached && options.may_be_cached)
    if (const auto known = cache.find(key))
      if (auto answer = parse_answer(*known)) return *std::move(answer);
  if (options.on_progress) options.on_progress({});
  JOINTER_TRY(const std::string text, run_worker(python, capture, options));
  JOINTER_TRY(OrderedJson answer, parse_answer(text));
  // An answer that cannot be stored is still an answer.
  if (is_cached) static_cast<void>(cache.save(key, text));
  return answer;
}

}  // namespace jointer

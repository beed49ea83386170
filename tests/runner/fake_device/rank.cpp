#include "tests/runner/fake_device/rank.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "app/runner/session.h"
#include "core/capture/native_writer.h"
#include "core/graph/literal.h"
#include "tests/runner/fake_device/platform.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

// No test waits for this long.
constexpr unsigned kPatienceSeconds = 300;

void write_capture(const std::string& path, const std::string& literal) {
  const auto graph = parse_literal(literal);
  if (!graph) throw std::runtime_error(graph.error().message);
  std::ofstream(path) << write_native(*graph);
}

void set_environment(const std::string& status_path, const std::string& data_home,
                     const std::string& nvml) {
  const std::array<std::pair<const char*, const char*>, 6> kWorld{
      {{"RANK", "0"},
       {"LOCAL_RANK", "0"},
       {"WORLD_SIZE", "1"},
       {"LOCAL_WORLD_SIZE", "1"},
       {"MASTER_ADDR", "127.0.0.1"},
       {"MASTER_PORT", "0"}}};  // any free port
  for (const auto& [name, value] : kWorld) ::setenv(name, value, 1);
  ::setenv(kStatusFileVariable, status_path.c_str(), 1);
  ::setenv("XDG_DATA_HOME", data_home.c_str(), 1);
  ::setenv("FAKE_NVML", nvml.c_str(), 1);
}

[[noreturn]] void run_child(const RankSetup& setup, std::vector<std::string> arguments,
                            const StatusReader& status) {
  ::alarm(kPatienceSeconds);
  DeviceOptions options = setup.device;
  if (setup.fault)
    options.faults = Faults(*setup.fault, [&] { return std::string(status.read().stage_name()); });
  FakeDevice::instance().reset(std::move(options));
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const int code =
      runner::run_rank(static_cast<int>(arguments.size()), words.data(), runner::make_cpu_platform,
                       make_fake_platform, /*no_device=*/"");
  std::_Exit(code);
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; (count = ::read(descriptor, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(count));
  return text;
}

void take(const RankEvent& event, RankResult& rank) {
  rank.apply(event);
  if (std::holds_alternative<RankDone>(event)) rank.status = RankResult::Status::done;
  if (std::holds_alternative<RankFailed>(event))
    rank.status = rank.kind == "hang" ? RankResult::Status::hung : RankResult::Status::failed;
}

class RankChild {
 public:
  explicit RankChild(const RankSetup& setup) {
    write_capture(folder_ / "graph.json", setup.graph);
    std::vector<std::string> arguments{"jointer-runner", "--on=cuda",  "--threads=1",
                                       "--iterations=2", "--warmup=1", "--timeout=20"};
    if (!setup.baseline.empty()) {
      write_capture(folder_ / "baseline.json", setup.baseline);
      arguments.push_back("--baseline=" + folder_ / "baseline.json");
    }
    for (const std::string& option : setup.options) arguments.push_back(option);
    arguments.push_back(folder_ / "graph.json");
    if (!setup.can_keep_snapshots) std::ofstream(folder_ / "jointer") << "a file";
    auto status = StatusReader::make(folder_ / "status");
    std::array<int, 2> pipe{};
    if (!status || ::pipe2(pipe.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("no status file, or no pipe");
    status_.emplace(std::move(*status));
    out_ = pipe[0];

    std::fflush(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(pipe[1], STDOUT_FILENO);
      if (std::getenv("FAKE_DEVICE_SHOWS_ERRORS") == nullptr)
        ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
      ::close(pipe[1]);
      set_environment(folder_ / "status", folder_.path().string(), setup.nvml);
      run_child(setup, std::move(arguments), *status_);
    }
    ::close(pipe[1]);
  }
  RankChild(const RankChild&) = delete;
  RankChild& operator=(const RankChild&) = delete;
  ~RankChild() { ::close(out_); }

  RankRun wait() {
    const std::string said = read_all(out_);
    int ended = 0;
    ::waitpid(child_, &ended, 0);
    RankRun run;
    run.exit_code = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    run.signal = WIFSIGNALED(ended) ? WTERMSIG(ended) : 0;
    run.status = status_->read();
    for (std::size_t start = 0; start < said.size();) {
      const std::size_t end = std::min(said.find('\n', start), said.size());
      if (const auto event = parse_event(std::string_view(said).substr(start, end - start)))
        take(*event, run.rank);
      start = end + 1;
    }
    if (std::ifstream file(run.rank.memory_snapshot, std::ios::binary); file)
      run.memory_snapshot.assign(std::istreambuf_iterator<char>(file),
                                 std::istreambuf_iterator<char>());
    if (run.rank.status == RankResult::Status::running) run.rank.status = RankResult::Status::died;
    return run;
  }

 private:
  TemporaryFolder folder_;
  std::optional<StatusReader> status_;
  int out_ = -1;
  pid_t child_ = -1;
};

}  // namespace

std::string RankRun::failure() const {
  BenchmarkResult result;
  result.ranks.push_back(rank);
  return result.failure();
}

RankRun run_on_fake_device(const RankSetup& setup) {
  return run_on_fake_devices({&setup, 1}).front();
}

std::vector<RankRun> run_on_fake_devices(std::span<const RankSetup> setups) {
  std::vector<std::unique_ptr<RankChild>> children;
  for (const RankSetup& setup : setups) children.push_back(std::make_unique<RankChild>(setup));
  std::vector<RankRun> runs;
  for (const auto& child : children) runs.push_back(child->wait());
  return runs;
}

}  // namespace jointer::test

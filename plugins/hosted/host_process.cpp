#include "plugins/hosted/host_process.h"

#include "core/base/units.h"
#include "core/base/utf8.h"
#include "core/process/child.h"
#include "plugins/hosted/memory.h"

namespace jointer {
namespace {

using std::chrono::milliseconds;

// Interval between checks of cancellation and of the host's memory use.
constexpr milliseconds kTick{20};
// Number of ticks between memory checks that include processes started by the host.
constexpr int kTicksOfGroup = 10;
// Maximum length of a message.
constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

class Conversation {
 public:
  explicit Conversation(const HostQuestion& question)
      : question_(question),
        memory_(question.limits.memory_bytes > 0 ? question.limits.memory_bytes
                                                 : default_memory_limit()) {}

  Result<void> run() {
    JOINTER_TRY(Child child, Child::start(options()));
    OrderedJson request = question_.request;
    request["protocol"] = kHostProtocol;
    request["memory_bytes"] = memory_;
    child.write(write_json(request) + '\n');
    child.close_input();
    Child* const self = &child;
    while (!child.end()) {
      if (!is_done_ && !error_) watch(child);
      // The request has succeeded or failed, so the process is no longer needed.
      if (is_done_ || error_) child.kill();
      Child::pump({&self, 1}, kTick);
    }
    if (!error_ && !is_done_) error_ = untimely(child);
    if (error_) return tl::unexpected(*error_);
    return {};
  }

 private:
  ChildOptions options() {
    return {.command = question_.program.command,
            .environment = question_.program.environment,
            .has_input = true,
            .on_line = [this](std::string_view line) { take(line); },
            .on_error_line = question_.log,
            .max_line_bytes = kMaxLineBytes,
            .deadline = question_.limits.deadline};
  }

  void watch(const Child& child) {
    if (question_.is_cancelled && question_.is_cancelled())
      error_ = Error{Error::Kind::cancelled, "cancelled"};
    else if ((++ticks_ % kTicksOfGroup == 0 ? group_resident_bytes(child.pid())
                                            : resident_bytes(child.pid())) > memory_)
      error_ = out_of_memory();
  }

  [[nodiscard]] Error out_of_memory() const {
    return {Error::Kind::run,
            fmt::format("exceeded the memory limit of {}", format_bytes(memory_))};
  }

  void take(std::string_view line) {
    if (is_done_ || error_) return;  // lines after the last message are ignored
    auto message = parse_host_message(line);
    if (!message) {
      error_ = std::move(message).error();
      return;
    }
    const bool is_first = !std::exchange(has_begun_, true);
    constexpr std::size_t kShown = 80;
    const bool is_ready = std::holds_alternative<HostReady>(*message);
    if (is_first && !is_ready) {
      error_ =
          Error{Error::Kind::run, fmt::format("the host did not begin with a `ready` message: {}",
                                              first_characters(line, kShown))};
    } else if (is_ready && !is_first) {
      error_ = Error{Error::Kind::run, "the host sent `ready` twice"};
    } else if (const auto* failed = std::get_if<HostFailed>(&*message)) {
      using Kind = HostFailed::Kind;
      if (failed->kind == Kind::memory)
        error_ = out_of_memory();
      else
        error_ = Error{failed->kind == Kind::usage ? Error::Kind::usage : Error::Kind::run,
                       failed->text};
    } else if (std::holds_alternative<HostDone>(*message)) {
      is_done_ = true;
    } else if (question_.tell) {
      question_.tell(*message);
    }
  }

  // The error for a host that ended without an answer.
  [[nodiscard]] Error untimely(const Child& child) const {
    const ChildEnd& end = *child.end();
    if (end.timed_out) {
      const double seconds = std::chrono::duration<double>(*question_.limits.deadline).count();
      return {Error::Kind::run, fmt::format("did not end within {:g} s", seconds)};
    }
    const std::string last = child.last_error();
    return {Error::Kind::run,
            fmt::format("the process ended without an answer: {}{}{}", to_string(end),
                        last.empty() ? "" : "; last output: ", last)};
  }

  const HostQuestion& question_;
  std::int64_t memory_;
  int ticks_ = 0;
  bool has_begun_ = false, is_done_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<void> ask_host(const HostQuestion& question) {
  return Conversation(question).run();
}

}  // namespace jointer

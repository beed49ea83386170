#include "core/workspace/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "core/base/bytes.h"
#include "core/base/environment.h"
#include "core/base/json_fields.h"
#include "core/workspace/sync_folder.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "jointer-journal";
constexpr int kVersion = 1;
constexpr std::size_t kChecksum = 8;  // hexadecimal digits

std::int64_t now_seconds() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

std::string checksum_text(std::string_view text) {
  const auto checksum = static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  return fmt::format("{:08x}", checksum);
}

std::string line_of(OrderedJson record) {
  record["at"] = now_seconds();
  return journal_line(write_json(record));
}

OrderedJson start_record(const JournalState& state) {
  OrderedJson json{{"format", kFormat},
                   {"version", kVersion},
                   {"title", state.workspace.title},
                   {"workspace", state.workspace_path},
                   {"capture", capture_to_json(state.workspace.capture)},
                   {"options", options_to_json(state.workspace.options)}};
  if (state.workspace.pipeline != WorkspacePipeline())
    json["pipeline"] = pipeline_to_json(state.workspace.pipeline);
  if (!state.workspace.marks.empty()) json["marks"] = marks_to_json(state.workspace.marks);
  if (state.workspace.kernel_moves != NamedKernelMoves())
    json["kernel_moves"] = kernel_moves_to_json(state.workspace.kernel_moves);
  history_to_json(json, state.workspace.history);
  return json;
}

// Reads the settings that a record holds. Returns false if it holds none.
bool take_settings(const OrderedJson& json, Workspace& workspace) {
  const bool options = json.contains("options"), pipeline = json.contains("pipeline"),
             marks = json.contains("marks");
  if (options) workspace.options = options_from_json(json["options"]);
  if (pipeline) workspace.pipeline = pipeline_from_json(json["pipeline"]);
  if (marks) workspace.marks = marks_from_json(json["marks"]);
  return options || pipeline || marks;
}

Result<JournalState> read_start(const OrderedJson& json) {
  JsonMembers members(json);
  if (const OrderedJson* format = members.find("format"); format == nullptr || *format != kFormat)
    return input_error("not a journal");
  if (const OrderedJson* version = members.find("version");
      version == nullptr || *version != kVersion)
    return input_error("unknown journal version; open it with the Jointer that wrote it");
  JournalState state;
  read_fields(members, state.workspace,
              std::tuple(json_field("title", &Workspace::title).lenient()));
  read_fields(members, state,
              std::tuple(json_field("workspace", &JournalState::workspace_path).lenient()));
  if (!json.contains("capture")) return input_error("`capture` is missing");
  JOINTER_TRY(state.workspace.capture, capture_from_json(json["capture"]));
  JOINTER_TRY(state.workspace.history, history_from_json(json));
  take_settings(json, state.workspace);
  if (json.contains("kernel_moves")) {
    JOINTER_TRY(state.workspace.kernel_moves, kernel_moves_from_json(json["kernel_moves"]));
  }
  return state;
}

// Returns false if the record is unknown to this version or invalid. All later records are then
// unreliable.
bool apply_record(const OrderedJson& record, JournalState& state) {
  if (!record.is_object()) return false;
  History& history = state.workspace.history;
  state.is_closed = false;
  if (record.contains("step")) {
    auto entry = entry_from_json(record["step"], history.edit_count());
    if (entry) history.add(*std::move(entry));
    return entry.has_value();
  }
  if (record.contains("place")) {
    const OrderedJson& place = record["place"];
    if (!place.is_number_unsigned() || place.get<std::size_t>() > history.entries.size())
      return false;
    history.place = place.get<std::size_t>();
    return true;
  }
  if (record.contains("states")) {
    auto states = states_from_json(record["states"]);
    if (states) history.states = *std::move(states);
    return states.has_value();
  }
  if (record.contains("kernel_moves")) {
    auto moves = kernel_moves_from_json(record["kernel_moves"]);
    if (moves) state.workspace.kernel_moves = *std::move(moves);
    return moves.has_value();
  }
  if (record.contains("assume")) {
    const OrderedJson& assume = record["assume"];
    if (assume.is_string()) state.workspace.capture.assume = assume.get<std::string>();
    return assume.is_string();
  }
  if (take_settings(record, state.workspace)) return true;
  state.is_closed = record.contains("closed") && record["closed"] == true;
  return record.contains("closed");
}

// Removes the first line from `rest` and returns its JSON. Error (input): the line is incomplete or
// damaged.
Result<OrderedJson> take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos || end <= kChecksum || rest[kChecksum] != ' ')
    return input_error("the line is incomplete");
  const std::string_view text = rest.substr(kChecksum + 1, end - kChecksum - 1);
  if (rest.substr(0, kChecksum) != checksum_text(text)) return input_error("the line is damaged");
  rest.remove_prefix(end + 1);
  return parse_json(text, "journal");
}

tl::unexpected<Error> system_error(const std::string& path) {
  return fail(Error::Kind::run, "{}: {}", path, std::strerror(errno));
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Creates a file with a name that is not in use yet.
Result<std::pair<std::string, FileDescriptor>> make_file(const std::string& folder) {
  using namespace std::chrono;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(Error::Kind::run, "{}: {}", folder, error.message());
  const auto ms = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  for (int number = 0;; ++number) {
    const std::string path = fmt::format("{}/{}-{}-{}.journal", folder, ms, ::getpid(), number);
    FileDescriptor file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
    if (file) return std::pair(path, std::move(file));
    if (errno != EEXIST) return system_error(path);
  }
}

std::vector<std::size_t> edits_after_entries(const History& history) {
  std::vector<std::size_t> after;
  for (const HistoryEntry& entry : history.entries) after.push_back(entry.edits_after());
  return after;
}

}  // namespace

std::string default_journal_folder() {
  return state_folder() + "/journals";
}

std::string journal_line(std::string_view json) {
  return fmt::format("{} {}\n", checksum_text(json), json);
}

Result<JournalState> parse_journal(std::string_view text, std::size_t* good_bytes) {
  std::string_view rest = text;
  const auto start = take_line(rest);
  if (!start) return input_error("line 1: {}", start.error().message);
  JOINTER_TRY(JournalState state, read_start(*start));
  const auto take = [&](const OrderedJson& record) {
    if (record.contains("at") && record["at"].is_number_integer())
      state.changed_at = record["at"].get<std::int64_t>();
    if (good_bytes != nullptr) *good_bytes = text.size() - rest.size();
  };
  take(*start);
  while (!rest.empty()) {
    const auto record = take_line(rest);
    if (!record || !apply_record(*record, state)) break;
    take(*record);
  }
  return state;
}

Result<JournalState> read_journal(const std::string& path) {
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  auto state = parse_journal(bytes.view());
  if (!state) return input_error("{}: {}", path, state.error().message);
  return state;
}

Journal::Journal(std::string path, FileDescriptor file, const JournalState& state, OnError on_error)
    : path_(std::move(path)),
      file_(std::move(file)),
      on_error_(std::move(on_error)),
      edits_after_(edits_after_entries(state.workspace.history)),
      place_(state.workspace.history.place),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Result<std::unique_ptr<Journal>> Journal::create(const std::string& folder,
                                                 const JournalState& start, OnError on_error) {
  JOINTER_TRY(auto made, make_file(folder));
  auto& [path, file] = made;
  // Blocks for a moment if another program is probing the new file, which is not locked yet.
  if (::flock(file.get(), LOCK_EX) != 0 && errno != ENOLCK) return system_error(path);
  std::unique_ptr<Journal> journal(
      new Journal(std::move(path), std::move(file), start, std::move(on_error)));
  journal->append(start_record(start));
  return journal;
}

Result<std::unique_ptr<Journal>> Journal::take_over(const std::string& path, OnError on_error) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!file) return system_error(path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error(path);
    return fail(
        Error::Kind::run,
        "{}: another process has locked the journal; close the document there, then open it again",
        path);
  }
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  std::size_t good_bytes = 0;
  const auto state = parse_journal(bytes.view(), &good_bytes);
  if (!state) return input_error("{}: {}", path, state.error().message);
  // Remove the lines from the first invalid one on, because readers would ignore what follows them.
  if (good_bytes < bytes.size() && ::ftruncate(file.get(), static_cast<off_t>(good_bytes)) != 0)
    return system_error(path);
  return std::unique_ptr<Journal>(new Journal(path, std::move(file), *state, std::move(on_error)));
}

Journal::~Journal() {
  thread_.request_stop();
  thread_.join();
}

void Journal::add(const HistoryEntry& entry) {
  const std::size_t before = place_ == 0 ? 0 : edits_after_[place_ - 1];
  edits_after_.resize(place_++);
  edits_after_.push_back(entry.edits_after());
  append({{"step", entry_to_json(entry, before)}});
}

void Journal::set_place(std::size_t place) {
  place_ = place;
  append({{"place", place}});
}

void Journal::set_states(const std::vector<KeptState>& states) {
  append({{"states", states_to_json(states)}});
}

void Journal::set_pipeline(const WorkspacePipeline& pipeline) {
  append({{"pipeline", pipeline_to_json(pipeline)}});
}

void Journal::set_marks(const std::vector<MarkedMoment>& marks) {
  append({{"marks", marks_to_json(marks)}});
}

void Journal::set_kernel_moves(const NamedKernelMoves& moves) {
  append({{"kernel_moves", kernel_moves_to_json(moves)}});
}

void Journal::set_options(const WorkspaceOptions& options) {
  append({{"options", options_to_json(options)}});
}

void Journal::set_assume(const std::string& assume) {
  append({{"assume", assume}});
}

void Journal::set_closed(bool closed) {
  append({{"closed", closed}});
}

void Journal::append(OrderedJson record) {
  const std::string line = line_of(std::move(record));
  const std::lock_guard lock(mutex_);
  if (is_removed_ || has_failed_) return;
  waiting_ += line;
  changed_.notify_all();
}

bool Journal::flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return (waiting_.empty() && !is_writing_) || has_failed_; });
  return !has_failed_;
}

void Journal::remove() {
  const std::lock_guard lock(mutex_);
  is_removed_ = true;
  waiting_.clear();
  ::unlink(path_.c_str());
}

void Journal::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
    if (waiting_.empty()) return;  // asked to stop
    const std::string lines = std::exchange(waiting_, {});
    is_writing_ = true;
    lock.unlock();
    const bool written = write_all(file_.get(), lines) && ::fdatasync(file_.get()) == 0;
    const std::string why = written ? std::string() : std::strerror(errno);
    // Errors are ignored: the lines are in the file even if the folder cannot be synced.
    if (!std::exchange(is_folder_synced_, true))
      (void)sync_folder(fs::path(path_).parent_path().string());
    lock.lock();
    is_writing_ = false;
    has_failed_ = !written;
    changed_.notify_all();
    if (written) continue;
    waiting_.clear();
    lock.unlock();
    if (on_error_) on_error_(fmt::format("{}: {}", path_, why));
    return;
  }
}

namespace {

// Visits each journal that no running program has locked, and holds its lock during the visit.
template <class Visit>
void for_each_left(const std::string& folder, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), last; !error && it != last; it.increment(error)) {
    const std::string path = it->path().string();
    if (!path.ends_with(".journal")) continue;
    const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (auto state = read_journal(path)) visit(path, *std::move(state));
  }
}

}  // namespace

std::vector<LeftJournal> left_journals(const std::string& folder) {
  std::vector<LeftJournal> found;
  for_each_left(folder, [&](const std::string& path, JournalState state) {
    found.push_back({path, std::move(state)});
  });
  std::ranges::sort(found, [](const LeftJournal& a, const LeftJournal& b) {
    return std::pair(a.state.changed_at, a.path) > std::pair(b.state.changed_at, b.path);
  });
  return found;
}

void remove_old_journals(const std::string& folder, std::int64_t before) {
  for_each_left(folder, [&](const std::string& path, const JournalState& state) {
    if (state.is_closed && state.changed_at < before) ::unlink(path.c_str());
  });
}

}  // namespace jointer

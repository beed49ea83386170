#pragma once

// The journal of an open graph. It records every change to a JournalState as it happens, so that a
// program that is killed loses only its last moments.
//
// A journal is an append-only file with one `CRC32 JSON` record per line: first the initial state,
// then each change. A line that is incomplete, damaged or unknown, and all lines after it, are
// ignored. A running program holds a lock on its journals. The operating system releases the lock
// when the program ends, so other programs can tell abandoned journals from those in use.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "core/process/file_descriptor.h"
#include "core/workspace/workspace.h"

namespace jointer {

// The state that a journal records.
struct JournalState {
  Workspace workspace;          // without benchmarks and layout
  std::string workspace_path;   // the file it was opened from or saved to, or empty
  std::int64_t changed_at = 0;  // seconds since 1970
  bool is_closed = false;       // the user closed it without saving
};

// Error (input): the file cannot be read, or its first line is invalid or of another version.
Result<JournalState> read_journal(const std::string& path);
// Like read_journal, but for a journal's text. On success, sets `*good_bytes` to the number of
// bytes up to the end of the last valid line.
Result<JournalState> parse_journal(std::string_view text, std::size_t* good_bytes = nullptr);
// The line that records this JSON: its checksum, the JSON and a line break.
std::string journal_line(std::string_view json);

// $XDG_STATE_HOME/jointer/journals, or ~/.local/state/jointer/journals.
std::string default_journal_folder();

class Journal {
 public:
  // Called with the reason, on the journal's thread, when nothing more can be written. Called at
  // most once.
  using OnError = std::function<void(const std::string& sentence)>;

  // Creates a journal in `folder`, which is created if necessary. Error (run): the journal cannot
  // be created.
  static Result<std::unique_ptr<Journal>> create(const std::string& folder,
                                                 const JournalState& start, OnError on_error = {});
  // Continues the journal of a program that has ended. Error (run): the journal cannot be opened,
  // or another process has locked it. Error (input): same as read_journal.
  static Result<std::unique_ptr<Journal>> take_over(const std::string& path, OnError on_error = {});
  // Waits until everything is on disk, or writing has failed.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // These functions return immediately; a thread writes to the file and waits for the disk. They
  // write nothing after remove(), or after writing has failed.
  void add(const HistoryEntry& entry);  // drops the undone entries
  void set_place(std::size_t place);
  void set_states(const std::vector<KeptState>& states);
  void set_pipeline(const WorkspacePipeline& pipeline);
  void set_marks(const std::vector<MarkedMoment>& marks);
  void set_kernel_moves(const NamedKernelMoves& moves);
  void set_options(const WorkspaceOptions& options);
  void set_assume(const std::string& assume);  // CaptureReference::assume
  void set_closed(bool closed);

  // Waits until everything is on disk. Returns false if writing failed.
  bool flush();
  // Removes the file. Call this once its contents have been saved or are no longer needed.
  void remove();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Journal(std::string path, FileDescriptor file, const JournalState& state, OnError on_error);
  void append(OrderedJson record);
  void work(const std::stop_token& stop);

  std::string path_;
  FileDescriptor file_;
  OnError on_error_;
  std::vector<std::size_t> edits_after_;  // by entry: number of edits in its state
  std::size_t place_ = 0;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string waiting_;  // lines still to be written
  bool is_writing_ = false, has_failed_ = false, is_removed_ = false;
  bool is_folder_synced_ = false;  // used only by the thread
  std::jthread thread_;
};

// A journal that no running program has locked.
struct LeftJournal {
  std::string path;
  JournalState state;
};
// All such journals, most recently changed first. Skips files that cannot be read.
std::vector<LeftJournal> left_journals(const std::string& folder);

// Removes journals that the user closed without saving and that no running program has locked, if
// their last change was before `before`, in seconds since 1970. Other journals are kept.
void remove_old_journals(const std::string& folder, std::int64_t before);

}  // namespace jointer

#pragma once

// What is done to an open graph, written down as it is done, so that a killed program loses at most
// its last moment.
//
// A journal is a file of lines, `CRC32 JSON`, that only grows: first the state that it starts from,
// then a line for each thing that changes it. A line that was cut off, and what follows it, counts
// for nothing. A living program holds a lock on its journals, which the system takes from a dead
// one, so that several programs tell their own from what is left behind.

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

// What a journal holds: where its program was.
struct JournalState {
  Workspace workspace;          // without benchmarks and layout
  std::string workspace_path;   // the file that it was opened from or saved to; or empty
  std::int64_t changed_at = 0;  // seconds since 1970
  bool is_closed = false;       // a person closed it, without saving
};

// Error (input): it cannot be read, or not even its first line is whole.
Result<JournalState> read_journal(const std::string& path);
// The same of a journal's text. `good_bytes`: up to the end of the last line that counts.
Result<JournalState> parse_journal(std::string_view text, std::size_t* good_bytes = nullptr);
// A line as a journal holds it, from its JSON.
std::string journal_line(std::string_view json);

// $XDG_STATE_HOME/jointer/journals, or ~/.local/state/jointer/journals.
std::string default_journal_folder();

class Journal {
 public:
  // Told on the journal's own thread, once: nothing more can be written down, and why.
  using OnError = std::function<void(const std::string& sentence)>;

  // In `folder`, which is made if need be. Error (run): it cannot be written.
  static Result<std::unique_ptr<Journal>> create(const std::string& folder,
                                                 const JournalState& start, OnError on_error = {});
  // That of a program that is gone, to go on with. Error (run): another program has it by now.
  static Result<std::unique_ptr<Journal>> take_over(const std::string& path, OnError on_error = {});
  // What was asked for is on disk by then.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Each returns at once; a thread writes and waits for the disk.
  void add(const HistoryStep& step);  // after what is done; what was undone is gone
  void set_place(std::size_t place);
  void set_states(const std::vector<KeptState>& states);
  void set_pipeline(const WorkspacePipeline& pipeline);
  void set_options(const WorkspaceOptions& options);
  void set_closed(bool closed);

  // Until what was asked for is on disk. False: it could not be written.
  bool flush();
  // The file goes: what it holds is saved, or not wanted.
  void remove();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Journal(std::string path, FileDescriptor file, const JournalState& state, OnError on_error);
  void append(OrderedJson record);
  void work(const std::stop_token& stop);

  std::string path_;
  FileDescriptor file_;
  OnError on_error_;
  std::vector<std::size_t> edits_after_;  // by step: how many edits its state has
  std::size_t place_ = 0;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string waiting_;  // lines that are to be written
  bool is_writing_ = false, has_failed_ = false, is_removed_ = false;
  bool is_folder_synced_ = false;  // the thread's own
  std::jthread thread_;
};

// Journals that no living program holds.
struct LeftJournal {
  std::string path;
  JournalState state;
};
// The latest first. Files that cannot be read are passed over.
std::vector<LeftJournal> left_journals(const std::string& folder);

// Of what a person closed without saving, and did not come back to: removes those of them that were
// last changed before that time, in seconds since 1970. What was not closed stays.
void remove_old_journals(const std::string& folder, std::int64_t before);

}  // namespace jointer

// Edits, saves and writes a journal like the window, in a loop and without a window, until
// test_crash.py kills it.
//
//   crash_writer write FOLDER SEED CAPTURE   edits, undoes, names states, saves; never ends
//   crash_writer read FOLDER                 prints what the next start finds
//
// Before a step it prints `to N DIGEST` with the digest of the resulting history; after the
// request, it prints `at N MILLISECONDS` of the system's monotonic clock.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <random>
#include <string>

#include "core/graph/canonical.h"
#include "core/open/open.h"
#include "core/workspace/journal.h"
#include "core/workspace/workspace.h"
#include "tests/support/crash_log.h"

namespace {

using namespace jointer;
using test::digest;
using test::milliseconds;
using test::say;

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "crash_writer: {}\n", error.message);
  std::exit(4);
}

class Writer {
 public:
  Writer(std::string folder, unsigned seed, const std::string& capture)
      : folder_(std::move(folder)), random_(seed) {
    auto graph = open_graph({.path = capture});
    if (!graph) give_up(graph.error());
    workspace_.title = std::string(graph->title());
    workspace_.capture.path = std::filesystem::absolute(capture).string();
    workspace_.capture.hash = graph_hash(*graph);
    for (const NodeId id : graph->order())
      if (graph->node(id).kind == NodeKind::call) calls_.emplace_back(graph->name(id));
  }

  [[noreturn]] void run() {
    for (std::size_t number = 1;; ++number) {
      History next = workspace_.history;
      const auto step = plan(next);
      say(fmt::format("to {} {}", number, digest(next)));
      workspace_.history = std::move(next);
      step();
      say(fmt::format("at {} {}", number, milliseconds()));
      ::usleep(static_cast<useconds_t>(below(4000)));
    }
  }

 private:
  std::size_t below(std::size_t max) { return random_() % max; }
  [[nodiscard]] std::string path() const { return folder_ + "/work.jointer"; }

  // Changes `next`; the returned function then writes the journal or saves.
  std::function<void()> plan(History& next) {
    const std::size_t choice = below(20);
    if (choice == 0) return [this] { save(); };
    if (choice <= 3 && next.place > 0) {
      next.place = below(next.entries.size() + 1);
      return [this] { journal().set_place(workspace_.history.place); };
    }
    if (choice == 4) {
      next.states.push_back(
          {.name = fmt::format("state {}", next.states.size()), .edits = next.edits()});
      if (next.states.size() > 5) next.states.erase(next.states.begin());
      return [this] { journal().set_states(workspace_.history.states); };
    }
    next.add(edit());
    return [this] { journal().add(workspace_.history.entries.back()); };
  }

  Edit edit() {
    const std::string& node = calls_[below(calls_.size())];
    Edit edit{.title = "Save " + node,
              .by = {},
              .changes = {SetPolicy{.select = node, .policy = MemoryPolicy::must_save}},
              .notes = {}};
    // As large as the edit of a pass.
    if (below(10) == 0)
      for (int i = 0; i < 300; ++i)
        edit.changes.push_back(SetPolicy{.select = calls_[below(calls_.size())],
                                         .policy = MemoryPolicy::prefer_recompute});
    return edit;
  }

  Journal& journal() {
    if (!journal_) {
      // It starts from what is already on disk; the step itself is added afterwards.
      auto made =
          Journal::create(folder_ + "/journals", {.workspace = saved_, .workspace_path = path()});
      if (!made) give_up(made.error());
      journal_ = *std::move(made);
    }
    return *journal_;
  }

  void save() {
    if (const auto saved = write_workspace(path(), workspace_); !saved) give_up(saved.error());
    saved_ = workspace_;
    if (journal_) journal_->remove();
    journal_.reset();
  }

  std::string folder_;
  std::mt19937_64 random_;
  Workspace workspace_, saved_ = workspace_;
  std::vector<std::string> calls_;
  std::unique_ptr<Journal> journal_;

 public:
  void begin() {
    save();
    say(fmt::format("to 0 {}", digest(workspace_.history)));
    say(fmt::format("at 0 {}", milliseconds()));
  }
};

// The journal if there is one, or else the file.
int read(const std::string& folder) {
  const auto left = left_journals(folder + "/journals");
  const std::string path = folder + "/work.jointer";
  if (!left.empty()) {
    fmt::print("journal {}\n", digest(left.front().state.workspace.history));
  } else {
    const auto workspace = read_workspace(path);
    if (!workspace) give_up(workspace.error());
    fmt::print("file {}\n", digest(workspace->history));
  }
  // The file is complete at any moment, and its edits fit the capture.
  const auto graph = open_graph({.path = path});
  if (!graph) give_up(graph.error());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string(argv[1]) == "write") {
    Writer writer(argv[2], static_cast<unsigned>(std::stoul(argv[3])), argv[4]);
    writer.begin();
    writer.run();
  }
  if (argc == 3 && std::string(argv[1]) == "read") return read(argv[2]);
  fmt::print(stderr, "crash_writer write FOLDER SEED CAPTURE | read FOLDER\n");
  return 2;
}

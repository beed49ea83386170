#include "core/workspace/journal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/file_content.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

HistoryEntry entry(std::size_t keep, const std::string& node) {
  const Edit edit{.title = "Save " + node,
                  .changes = {SetPolicy{.select = node, .policy = MemoryPolicy::must_save}}};
  return {.title = edit.title, .keep = keep, .edits = {edit}};
}

JournalState start() {
  JournalState state;
  state.workspace.title = "small";
  state.workspace.capture.path = "/captures/x.json";
  state.workspace.capture.hash = "abc";
  state.workspace.history.add(entry(0, "zero"));
  return state;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A journal with some of everything, and the edit histories after its entries.
std::vector<History> fill(Journal& journal) {
  History history = start().workspace.history;
  std::vector<History> all{history};
  const auto did = [&] { all.push_back(history); };
  for (const char* node : {"a", "b", "c"}) {
    const HistoryEntry next = entry(history.edits().size(), node);
    journal.add(next);
    history.add(next);
    did();
  }
  journal.set_place(2);
  history.place = 2;
  did();
  history.states.push_back({.name = "best", .edits = history.edits()});
  journal.set_states(history.states);
  did();
  journal.add(entry(1, "d"));
  history.add(entry(1, "d"));
  did();
  return all;
}

TEST(Journal, ContainsEveryChange) {
  const TemporaryFolder folder;
  std::string path;
  std::vector<History> histories;
  {
    auto journal = Journal::create(folder / "journals", start());
    ASSERT_TRUE(journal) << journal.error().message;
    path = (*journal)->path();
    histories = fill(**journal);
    (*journal)->set_options({.device = "b200"});
    (*journal)->set_assume("u0=8");
    (*journal)->set_assume("u0=64,stride:fsdp=8");
    const WorkspacePipeline pipeline{.text = "apply_sac\n", .sources = {{"a", "Python: b"}}};
    (*journal)->set_pipeline(pipeline);
    const std::vector<MarkedMoment> marks{{.node = "a", .is_after_release = true}};
    (*journal)->set_marks(marks);
    const NamedKernelMoves moves{
        .moves = {{.kernel = {.nodes = {"a", "b"}}, .anchor = {.nodes = {"c"}}}}, .place = 1};
    (*journal)->set_kernel_moves(moves);
    EXPECT_TRUE((*journal)->flush());
    const auto state = read_journal(path);
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_EQ(state->workspace.pipeline, pipeline);
    EXPECT_EQ(state->workspace.marks, marks);
    EXPECT_EQ(state->workspace.kernel_moves, moves);
    EXPECT_EQ(state->workspace.history, histories.back());
    EXPECT_EQ(state->workspace.options.device, "b200");
    CaptureReference capture = start().workspace.capture;
    capture.assume = "u0=64,stride:fsdp=8";
    EXPECT_EQ(state->workspace.capture, capture);
    EXPECT_GT(state->changed_at, 0);
    EXPECT_FALSE(state->is_closed);
    (*journal)->set_closed(true);
  }
  EXPECT_TRUE(read_journal(path)->is_closed);
}

// The journal that fill() writes, and the edit histories after each line.
struct Filled {
  std::string text;
  std::vector<History> histories;

  static const Filled& get() {
    static const Filled filled = [] {
      const TemporaryFolder folder;
      Filled made;
      std::string path;
      {
        auto journal = *Journal::create(folder / "j", start());
        path = journal->path();
        made.histories = fill(*journal);
      }
      made.text = content(path);
      return made;
    }();
    return filled;
  }
  // The number of whole lines before a byte.
  [[nodiscard]] std::size_t lines_before(std::size_t byte) const {
    return static_cast<std::size_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte), '\n'));
  }
};

TEST(Journal, TruncationLosesOnlyTheRest) {
  const TemporaryFolder folder;
  const Filled& filled = Filled::get();
  std::vector<std::size_t> sizes{0, filled.text.size()};
  for (std::size_t i = 0; i < filled.text.size(); ++i)
    if (i % 41 == 0 || filled.text[i] == '\n') sizes.insert(sizes.end(), {i, i + 1});
  for (const std::size_t size : sizes) {
    write(folder / "cut", filled.text.substr(0, size));
    const std::size_t lines = filled.lines_before(size);
    const auto state = read_journal(folder / "cut");
    ASSERT_EQ(state.has_value(), lines > 0) << size;
    if (state) {
      EXPECT_EQ(state->workspace.history, filled.histories[lines - 1]) << size;
    }
  }
}

RC_GTEST_PROP(JournalProperty, DamageLosesOnlyWhatFollows, ()) {
  const TemporaryFolder folder;
  const Filled& filled = Filled::get();
  std::string text = filled.text;
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  text[at] = static_cast<char>(text[at] ^ (1 << *rc::gen::inRange(0, 8)));
  write(folder / "damaged", text);
  const std::size_t good = filled.lines_before(at);
  const auto state = read_journal(folder / "damaged");
  RC_ASSERT(state.has_value() == (good > 0));
  if (state) {
    RC_ASSERT(state->workspace.history == filled.histories[good - 1]);
  }
}

// tests/workspace/test_crash.py kills real processes.
TEST(Journal, IsRestoredOnlyAfterItsProcessEnded) {
  const TemporaryFolder folder;
  const auto living = *Journal::create(folder / "j", start());
  auto other = *Journal::create(folder / "j", start());
  fill(*other);
  ASSERT_TRUE(other->flush());
  EXPECT_TRUE(left_journals(folder / "j").empty());
  // The lock belongs to the opened file: opening the file again in the same process is like another
  // process.
  const auto locked = Journal::take_over(living->path());
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().message, living->path() +
                                        ": another process has locked the journal; close the "
                                        "document there, then open it again");
  // As at the end of its process, the lock is released and the file remains.
  other.reset();

  const auto left = left_journals(folder / "j");
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].state.workspace.history.entries.size(), 3U);
  auto taken = Journal::take_over(left[0].path);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_TRUE(left_journals(folder / "j").empty());
  (*taken)->set_place(0);
  EXPECT_TRUE((*taken)->flush());
  EXPECT_EQ(read_journal(left[0].path)->workspace.history.place, 0U);
  (*taken)->remove();
  taken->reset();
  EXPECT_FALSE(std::filesystem::exists(left[0].path));
}

TEST(Journal, OldClosedJournalsAreRemoved) {
  const TemporaryFolder folder;
  const auto leave = [&](std::int64_t changed_at, bool closed) {
    JournalState state = start();
    state.changed_at = changed_at;
    auto journal = Journal::create(folder / "j", state);
    ASSERT_TRUE(journal) << journal.error().message;
    if (closed) (*journal)->set_closed(true);
    ASSERT_TRUE((*journal)->flush());
  };
  leave(1000, true);
  leave(1000, false);
  ASSERT_EQ(left_journals(folder / "j").size(), 2U);
  const std::int64_t changed = left_journals(folder / "j").front().state.changed_at;
  remove_old_journals(folder / "j", changed);
  EXPECT_EQ(left_journals(folder / "j").size(), 2U) << "not older than that";
  remove_old_journals(folder / "j", changed + 1000);
  const auto left = left_journals(folder / "j");
  ASSERT_EQ(left.size(), 1U);
  EXPECT_FALSE(left.front().state.is_closed) << "journals that were not closed wait to be restored";
}

TEST(Journal, ContinuesAfterATruncatedLine) {
  const TemporaryFolder folder;
  const std::string path = (*Journal::create(folder / "j", start()))->path();
  write(path, content(path) + "12345678 {\"place\":0");
  {
    auto journal = Journal::take_over(path);
    ASSERT_TRUE(journal) << journal.error().message;
    (*journal)->set_place(0);
  }
  EXPECT_EQ(read_journal(path)->workspace.history.place, 0U);
}

TEST(Journal, ReportsWriteErrors) {
  const TemporaryFolder folder;
  write(folder / "file", "");
  EXPECT_FALSE(Journal::create(folder / "file", start()));
  EXPECT_FALSE(Journal::take_over(folder / "none"));
}

}  // namespace
}  // namespace jointer::test

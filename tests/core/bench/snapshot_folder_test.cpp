#include "core/bench/snapshot_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/bench/history.h"
#include "tests/support/must.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Snapshots : public testing::Test {
 protected:
  // A file of `bytes` bytes, written `age` seconds ago.
  void write(const std::string& name, std::size_t bytes, int age) const {
    const fs::path path = fs::path(folder_) / name;
    fs::create_directories(folder_);
    std::ofstream(path) << std::string(bytes, 'x');
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(age));
  }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_))
      found.insert(entry.path().filename().string());
    return found;
  }

  TemporaryFolder parent_;
  const std::string folder_ = parent_ / "snapshots";  // does not exist yet
};

TEST_F(Snapshots, AreWrittenUnderTheirGraphAndRank) {
  const auto path = must(SnapshotFolder(folder_).add("0123456789abcdef", 3, "bytes"));
  EXPECT_THAT(path, StartsWith(folder_ + "/20"));
  EXPECT_THAT(path, HasSubstr("-01234567-"));
  EXPECT_THAT(path, testing::EndsWith("-rank3.pickle"));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "bytes");
}

TEST_F(Snapshots, AreKeptNextToTheResults) {
  EXPECT_EQ(SnapshotFolder::default_folder(), BenchmarkHistory::default_folder() + "/snapshots");
}

TEST_F(Snapshots, TheOldestAreRemovedFirst) {
  write("a.pickle", 10, 30);
  write("b.pickle", 10, 20);
  write("c.pickle", 10, 10);
  write("notes.txt", 10, 40);
  SnapshotFolder(folder_).remove_oldest(2, 1000);
  EXPECT_THAT(names(), ElementsAre("b.pickle", "c.pickle", "notes.txt"));
  SnapshotFolder(folder_).remove_oldest(2, 15);
  EXPECT_THAT(names(), ElementsAre("c.pickle", "notes.txt"));
  SnapshotFolder(folder_).remove_oldest(2, 5);  // the newest one stays
  EXPECT_THAT(names(), ElementsAre("c.pickle", "notes.txt"));
}

TEST_F(Snapshots, AddingOneRemovesThoseBeyondTheLimit) {
  for (std::size_t i = 0; i < SnapshotFolder::kMaxFiles; ++i)
    write("old" + std::to_string(i) + ".pickle", 1, static_cast<int>(100 + i));
  const auto path = must(SnapshotFolder(folder_).add("00ff", 0, "new"));
  const std::set<std::string> left = names();
  EXPECT_EQ(left.size(), SnapshotFolder::kMaxFiles);
  EXPECT_TRUE(left.contains(fs::path(path).filename().string()));
  EXPECT_TRUE(left.contains("old0.pickle"));
  EXPECT_FALSE(left.contains("old63.pickle"));  // the oldest
}

TEST_F(Snapshots, AFolderThatCannotBeMadeIsAnError) {
  std::ofstream(folder_) << "a file";
  const auto path = SnapshotFolder(folder_).add("00ff", 0, "bytes");
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().kind, Error::Kind::run);
  EXPECT_THAT(path.error().message, HasSubstr(folder_));
}

}  // namespace
}  // namespace jointer::test

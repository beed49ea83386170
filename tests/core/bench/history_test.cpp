#include "core/bench/history.h"
#include "core/base/bytes.h"
#include "tests/support/slow.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace jointer::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

BenchmarkResult result(std::int64_t peak, std::size_t nodes = 0) {
  BenchmarkResult r;
  r.request.program.graph = "a.json";
  r.graph_hash = "00ff";
  r.started_at = "2026-01-02T03:04:05+01:00";
  RankResult& rank = r.ranks.emplace_back();
  rank.status = RankResult::Status::done;
  rank.measured.emplace().peak_bytes = peak;
  rank.measured->step_ns = {1'000'000};
  for (std::size_t i = 0; i < nodes; ++i)
    rank.measured->nodes.push_back({static_cast<std::uint32_t>(i), 1, 2, 1});
  r.peak_bytes = peak;
  return r;
}

class History : public testing::Test {
 protected:
  TemporaryFolder parent_;
  const std::string folder_ = parent_ / "history";  // does not exist yet
};

TEST_F(History, ReturnsWhatWasAdded) {
  const BenchmarkHistory history(folder_);
  EXPECT_TRUE(history.load("00ff").results.empty());
  ASSERT_TRUE(history.save("00ff", std::vector{result(1), result(2, 3)}));
  const auto loaded = BenchmarkHistory(folder_).load("00ff");
  EXPECT_EQ(loaded.note, "");
  ASSERT_EQ(loaded.results.size(), 2U);
  EXPECT_EQ(loaded.results[0].peak_bytes, 1);
  EXPECT_EQ(loaded.results[1].ranks.front().measured->nodes.size(), 3U);
  EXPECT_TRUE(history.load("another").results.empty());
  // The file goes with the last result.
  ASSERT_TRUE(history.save("00ff", {}));
  EXPECT_FALSE(fs::exists(history.path_of("00ff")));
}

TEST_F(History, KeepsTheNewestResults) {
  const BenchmarkHistory history(folder_);
  std::vector<BenchmarkResult> results;
  for (std::size_t i = 0; i < BenchmarkHistory::kMaxResults + 5; ++i)
    results.push_back(result(static_cast<std::int64_t>(i)));
  ASSERT_TRUE(history.save("00ff", results));
  const auto loaded = history.load("00ff").results;
  ASSERT_EQ(loaded.size(), BenchmarkHistory::kMaxResults);
  EXPECT_EQ(loaded.front().peak_bytes, 5);
  EXPECT_EQ(loaded.back().peak_bytes, static_cast<std::int64_t>(results.size()) - 1);
}

// Three results, of which only two have room for their node times.
TEST_F(History, DropsOldProfilesBeforeRows) {
  JOINTER_SLOW_TEST();
  const std::size_t size = write_result(result(1, 1000), true).size();
  const std::size_t nodes = 1000 * (BenchmarkHistory::kMaxProfileBytes * 2 / 5) / size;
  const BenchmarkHistory history(folder_);
  const BenchmarkResult large = result(1, nodes);
  ASSERT_TRUE(history.save("00ff", std::vector{large, large, large}));
  const auto loaded = history.load("00ff").results;
  ASSERT_EQ(loaded.size(), 3U);
  EXPECT_TRUE(loaded[0].ranks.front().measured->nodes.empty());
  EXPECT_EQ(loaded[1].ranks.front().measured->nodes.size(), nodes);
  EXPECT_EQ(loaded[2].ranks.front().measured->nodes.size(), nodes);
  EXPECT_LE(fs::file_size(history.path_of("00ff")),
            BenchmarkHistory::kMaxProfileBytes + (std::size_t{1} << 20));
}

TEST_F(History, RenamesADamagedFileAndReadsWhatItCan) {
  const BenchmarkHistory history(folder_);
  ASSERT_TRUE(history.save("00ff", std::vector{result(1)}));
  const std::string path = history.path_of("00ff");
  const auto spoil = [&] { std::ofstream(path, std::ios::app) << "{\"version\":1,\"ra"; };
  spoil();
  const auto loaded = history.load("00ff");
  ASSERT_EQ(loaded.results.size(), 1U);
  EXPECT_THAT(loaded.note, HasSubstr("1 of 2 earlier results could not be read"));
  EXPECT_THAT(loaded.note, HasSubstr(path + ".damaged"));
  EXPECT_TRUE(fs::exists(path + ".damaged"));
  EXPECT_FALSE(fs::exists(path));
  // A second damaged file does not replace the first.
  ASSERT_TRUE(history.save("00ff", loaded.results));
  spoil();
  EXPECT_THAT(history.load("00ff").note, HasSubstr(".damaged.2"));
  EXPECT_TRUE(fs::exists(path + ".damaged"));
}

TEST_F(History, LeavesResultsOfANewerJointerAlone) {
  const BenchmarkHistory history(folder_);
  ASSERT_TRUE(history.save("00ff", std::vector{result(1)}));
  const std::string path = history.path_of("00ff");
  std::string text(read_bytes(path)->view());
  const std::string version = fmt::format("\"version\":{},", kBenchmarkVersion);
  ASSERT_EQ(text.find(version), 1U);
  text.replace(1, version.size(), fmt::format("\"version\":{},", kBenchmarkVersion + 1));
  std::ofstream(path) << text;
  const auto loaded = history.load("00ff");
  EXPECT_TRUE(loaded.results.empty());
  EXPECT_THAT(loaded.note, HasSubstr(path + " contains results of a newer version of Jointer"));
  for (const auto& results : {std::vector{result(2)}, std::vector<BenchmarkResult>()}) {
    const auto saved = history.save("00ff", results);
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().message, HasSubstr("newer version of Jointer; rename the file"));
  }
  EXPECT_EQ(read_bytes(path)->view(), text);
  EXPECT_FALSE(fs::exists(path + ".damaged"));
}

TEST_F(History, ReportsAFileThatCannotBeWritten) {
  std::ofstream(folder_) << "a file";
  const auto saved = BenchmarkHistory(folder_).save("00ff", std::vector{result(1)});
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr(folder_));
}

// Sets an environment variable for the lifetime of the object.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* was = std::getenv(name)) was_ = was;
    setenv(name, value, 1);
  }
  ~Variable() { was_ ? setenv(name_, was_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> was_;
};

TEST(HistoryFolder, FollowsTheXdgRules) {
  const Variable home("HOME", "/home/someone");
  {
    const Variable data("XDG_DATA_HOME", "/data");
    EXPECT_EQ(BenchmarkHistory::default_folder(), "/data/jointer/benchmarks");
  }
  const Variable data("XDG_DATA_HOME", "not/absolute");
  EXPECT_EQ(BenchmarkHistory::default_folder(), "/home/someone/.local/share/jointer/benchmarks");
}

}  // namespace
}  // namespace jointer::test

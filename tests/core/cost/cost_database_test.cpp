// The file of measured costs: contents, concurrent use, damage, and files of other programs.

#include "core/cost/cost_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/support/must.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CostDatabase writable(const std::string& path) {
  return must(CostDatabase::open_or_create(path));
}

CostSamples one_node(std::int64_t ns, std::string device = "NVIDIA H200",
                     std::string work = "aten.mm.default(f32[2,2], f32[2,2])") {
  return {.device = std::move(device),
          .device_type = "cuda",
          .nodes = {{std::move(work), ns}},
          .collectives = {}};
}

CollectiveWork all_reduce(std::int64_t bytes) {
  return {.kind = CollectiveKind::all_reduce,
          .backend = "nccl",
          .ranks = 8,
          .machines = 1,
          .bytes = bytes,
          .dtype = DType::bfloat16};
}

void store(const std::string& path, const CostSamples& samples) {
  const auto stored = writable(path).store(samples);
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
}

DeviceCosts load(const std::string& path, std::string_view device = "NVIDIA H200") {
  return must(CostDatabase::open(path)->load(device));
}

// Runs SQL on a file, as another program would.
void execute(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message == nullptr ? "" : message);
  sqlite3_free(message);
  sqlite3_close(handle);
}

void expect_one_line(const Error& error, const std::string& path) {
  EXPECT_THAT(error.message, StartsWith(path + ": "));
  EXPECT_THAT(error.message, Not(HasSubstr("\n")));
}

TEST(CostDatabase, StoresMeasurements) {
  const TemporaryFolder folder;
  const std::string path = folder / "new/folder/costs.sqlite";
  CostSamples samples = one_node(1234);
  samples.nodes.emplace_back("aten.relu.default(f32[8])", 7);
  samples.collectives = {{all_reduce(1 << 20), 50'000}, {all_reduce(1 << 24), 400'000}};
  store(path, samples);

  const DeviceCosts costs = load(path);
  EXPECT_EQ(costs.device.type, "cuda");
  EXPECT_EQ(costs.nodes.size(), 2U);
  EXPECT_EQ(costs.nodes.at("aten.relu.default(f32[8])"), 7);
  EXPECT_EQ(costs.collectives.at(all_reduce(1 << 24)), 400'000);
  EXPECT_EQ(costs.collectives.size(), 2U);

  const auto devices = *CostDatabase::open(path)->devices();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].nodes, 2);
  EXPECT_EQ(devices[0].collectives, 2);
  EXPECT_EQ(devices[0].samples, 4);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  EXPECT_NEAR(static_cast<double>(devices[0].last_measured), static_cast<double>(now), 60);
}

TEST(CostDatabase, AMissingFileIsEmptyAndIsNotCreated) {
  const TemporaryFolder folder;
  const auto database = must(CostDatabase::open(folder / "costs.sqlite"));
  EXPECT_TRUE(database.devices()->empty());
  const auto costs = database.load("NVIDIA H200");
  ASSERT_FALSE(costs.has_value());
  EXPECT_EQ(costs.error().kind, Error::Kind::usage);
  EXPECT_FALSE(std::filesystem::exists(folder / "costs.sqlite"));
}

TEST(CostDatabase, TheMedianOfTheLastSamplesCounts) {
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  const std::string work = one_node(0).nodes.front().first;
  for (const std::int64_t ns : {100, 9'000'000, 102}) store(path, one_node(ns));
  EXPECT_EQ(load(path).nodes.at(work), 102) << "an outlier has no effect";
  store(path, one_node(104));
  EXPECT_EQ(load(path).nodes.at(work), 103) << "half way between the two";
  // A new driver counts once it has more than half of the stored samples.
  for (int i = 0; i < CostDatabase::kSamplesKept / 2 + 1; ++i) store(path, one_node(50));
  EXPECT_EQ(load(path).nodes.at(work), 50);
  for (int i = 0; i < 20; ++i) store(path, one_node(60));
  EXPECT_EQ((*CostDatabase::open(path)->devices())[0].samples, CostDatabase::kSamplesKept);
  EXPECT_EQ(load(path).nodes.at(work), 60);
}

TEST(CostDatabase, UsesTheMedianOfTheLastNine) {
  const TemporaryFolder folder;
  std::mt19937 random(5);
  for (int round = 0; round < 8; ++round) {
    const std::string path = folder / fmt::format("{}.sqlite", round);
    CostDatabase database = writable(path);
    std::vector<std::int64_t> times(random() % 14 + 1);
    for (std::int64_t& ns : times) {
      ns = random() % 1000;
      ASSERT_TRUE(database.store(one_node(ns)).has_value());
    }
    if (times.size() > CostDatabase::kSamplesKept)
      times.erase(times.begin(), times.end() - CostDatabase::kSamplesKept);
    std::sort(times.begin(), times.end());
    const std::size_t n = times.size();
    const std::int64_t expected = n % 2 == 1 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
    EXPECT_EQ(load(path).nodes.begin()->second, expected);
  }
}

TEST(CostDatabase, DevicesAreSeparateAndCanBeForgotten) {
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  store(path, one_node(1, "A"));
  store(path, one_node(2, "B"));
  store(path, one_node(3, "B", "aten.relu.default(f32[4])"));
  EXPECT_EQ(load(path, "A").nodes.begin()->second, 1);
  EXPECT_EQ(load(path, "B").nodes.size(), 2U);

  CostDatabase database = writable(path);
  const auto unknown = database.forget("C");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, HasSubstr("measured devices: B, A"));
  ASSERT_TRUE(database.forget("B").has_value());
  EXPECT_EQ(database.devices()->size(), 1U);
  execute(path, "CREATE TABLE nothing_left AS SELECT 1 / (count(*) = 1) FROM node_sample");
  store(path, one_node(9, "B"));
  EXPECT_EQ(load(path, "B").nodes.begin()->second, 9) << "the old samples are gone";
}

constexpr const char* kL40s = R"(gpu{"name":"NVIDIA L40S","multiprocessors":142,"sm_mhz":2520})";

TEST(CostDatabase, StoresThePropertiesOfAGpu) {
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  CostSamples samples = one_node(5, "NVIDIA L40S");
  samples.gpu = kL40s;
  store(path, samples);
  store(path, one_node(6, "NVIDIA H200"));
  EXPECT_EQ(load(path, "NVIDIA L40S").device.gpu, kL40s);
  EXPECT_EQ(load(path, "NVIDIA H200").device.gpu, "");
  // Times of a trace, which has no clocks, leave them.
  store(path, one_node(7, "NVIDIA L40S"));
  EXPECT_EQ(load(path, "NVIDIA L40S").device.gpu, kL40s);
  samples.gpu = R"(gpu{"name":"NVIDIA L40S","multiprocessors":142,"sm_mhz":2000})";
  store(path, samples);
  EXPECT_EQ(load(path, "NVIDIA L40S").device.gpu, samples.gpu);
}

// As version 1.0 wrote it.
void make_older(const std::string& path) {
  execute(path, "ALTER TABLE device DROP COLUMN gpu; PRAGMA user_version = 100");
}

TEST(CostDatabase, AnOlderFileIsReadAndExtended) {
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  store(path, one_node(5, "NVIDIA L40S"));
  make_older(path);
  EXPECT_EQ(load(path, "NVIDIA L40S").nodes.begin()->second, 5);
  EXPECT_EQ(load(path, "NVIDIA L40S").device.gpu, "");
  CostSamples samples = one_node(7, "NVIDIA L40S");
  samples.gpu = kL40s;
  store(path, samples);
  EXPECT_EQ(load(path, "NVIDIA L40S").nodes.begin()->second, 6) << "both samples are stored";
  EXPECT_EQ(load(path, "NVIDIA L40S").device.gpu, kL40s);
  // An older program ignores the new column.
  execute(
      path,
      "INSERT INTO device(name, type, first_measured, last_measured) VALUES ('A', 'cpu', 1, 1)");
  EXPECT_EQ(load(path, "A").device.gpu, "");
}

TEST(CostDatabase, NamesMayContainAnything) {
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  const std::string name = "a'); DROP TABLE device; --\"\n";
  store(path, one_node(5, name, std::string("a\0b", 3)));
  EXPECT_EQ(load(path, name).nodes.at(std::string("a\0b", 3)), 5);
}

// --- Several programs ---

TEST(CostDatabase, ConcurrentWritersLoseNothing) {
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  constexpr int kWriters = 4, kImports = 8;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // The first writers also race to create the file.
      for (int i = 0; i < kImports; ++i) {
        auto database = CostDatabase::open_or_create(path);
        if (!database) ::_exit(1);
        CostSamples samples = one_node(writer, "shared", fmt::format("own {} {}", writer, i));
        samples.nodes.emplace_back("common", 1000 + writer);
        if (!database->store(samples)) ::_exit(2);
        if (!CostDatabase::open(path)->load("shared")) ::_exit(3);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const DeviceCosts costs = load(path, "shared");
  EXPECT_EQ(costs.nodes.size(), std::size_t{kWriters * kImports + 1});
  EXPECT_GE(costs.nodes.at("common"), 1000);
  EXPECT_EQ(costs.device.samples, kWriters * kImports + CostDatabase::kSamplesKept);
}

TEST(CostDatabase, AWriterThatDiesLeavesNoPartialData) {
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  store(path, one_node(10));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    sqlite3* handle = nullptr;
    sqlite3_open(path.c_str(), &handle);
    sqlite3_exec(handle, "PRAGMA cache_spill = 1; BEGIN IMMEDIATE; DELETE FROM node_sample",
                 nullptr, nullptr, nullptr);
    sqlite3_db_cacheflush(handle);  // half of it is already in the file
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(std::filesystem::exists(path + "-journal"));
  store(path, one_node(20));
  EXPECT_EQ(load(path).nodes.begin()->second, 15) << "both samples are stored";
}

// --- Files that are not cost databases ---

TEST(CostDatabase, ANewerMajorVersionIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  store(path, one_node(1));
  execute(path, "PRAGMA user_version = 199");
  EXPECT_EQ(load(path).nodes.size(), 1U) << "a newer minor version only adds tables";
  execute(path, "PRAGMA user_version = 230");
  for (const auto& opened : {CostDatabase::open(path), CostDatabase::open_or_create(path)}) {
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().kind, Error::Kind::input);
    expect_one_line(opened.error(), path);
    EXPECT_THAT(
        opened.error().message,
        HasSubstr("has version 2.30, but this program reads 1.x; use a newer Jointer, or set"));
  }
}

TEST(CostDatabase, ANewerJointerIsNoHelpForAnOlderMajorVersion) {
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  store(path, one_node(1));
  execute(path, "PRAGMA user_version = 7");
  const auto opened = CostDatabase::open(path);
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(
      opened.error().message,
      HasSubstr("has version 0.7, but this program reads 1.x; set JOINTER_COSTS to another"));
}

TEST(CostDatabase, OtherFilesAreRefusedAndUnchanged) {
  const TemporaryFolder folder;
  const std::string text = folder / "notes.txt";
  std::ofstream(text) << std::string(5000, 'x');
  const std::string other = folder / "other.sqlite";
  execute(other, "CREATE TABLE device(id INTEGER)");
  for (const std::string& path : {text, other}) {
    const auto size = std::filesystem::file_size(path);
    for (const auto& opened : {CostDatabase::open(path), CostDatabase::open_or_create(path)}) {
      ASSERT_FALSE(opened.has_value()) << path;
      EXPECT_EQ(opened.error().kind, Error::Kind::input);
      expect_one_line(opened.error(), path);
    }
    EXPECT_EQ(std::filesystem::file_size(path), size);
  }
  const auto is_folder = CostDatabase::open_or_create(folder.path().string());
  ASSERT_FALSE(is_folder.has_value());
  expect_one_line(is_folder.error(), folder.path().string());
}

TEST(CostDatabase, ADamagedFileGivesAOneLineError) {
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  CostSamples samples = one_node(1);
  for (int i = 0; i < 500; ++i) samples.nodes.emplace_back(fmt::format("work {}", i), i);
  store(path, samples);
  std::string whole;
  {
    std::ifstream file(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 60; ++round) {
    std::string bytes = whole;
    if (round % 3 == 0) {
      bytes.resize(random() % bytes.size() + 1);
    } else {
      for (int i = 0; i < 400; ++i)
        bytes[random() % bytes.size()] = static_cast<char>(random() & 0xff);
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    // Damage shows in one of these calls; none may crash, and each error is one line.
    const auto check = [&](const auto& result) {
      if (result.has_value()) return true;
      if (result.error().kind == Error::Kind::usage)
        return false;  // the device is no longer listed
      expect_one_line(result.error(), path);
      ++refused;
      return false;
    };
    const auto opened = CostDatabase::open(path);
    if (!check(opened)) continue;
    if (check(opened->devices())) check(opened->load("NVIDIA H200"));
    auto writer = CostDatabase::open_or_create(path);
    if (check(writer)) check(writer->store(one_node(2)));
  }
  EXPECT_GT(refused, 40);
}

// Without privileges: the superuser may write anywhere.
class Unprivileged {
 public:
  Unprivileged() : was_root_(::geteuid() == 0) {
    if (was_root_ && ::seteuid(65534) != 0) throw std::runtime_error("seteuid failed");
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool was_root_;
};

TEST(CostDatabase, AReadOnlyFileCanBeReadButNotWritten) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string path = folder / "costs.sqlite";
  store(path, one_node(42));
  fs::permissions(path, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  {
    const Unprivileged nobody;
    EXPECT_EQ(load(path).nodes.begin()->second, 42);
    auto database = must(CostDatabase::open_or_create(path));
    const auto stored = database.store(one_node(1));
    ASSERT_FALSE(stored.has_value());
    EXPECT_EQ(stored.error().kind, Error::Kind::run);
    expect_one_line(stored.error(), path);
    EXPECT_THAT(stored.error().message, HasSubstr("cannot be written to"));

    const std::string inside = folder / "sub/costs.sqlite";
    const auto made = CostDatabase::open_or_create(inside);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().kind, Error::Kind::run);
    expect_one_line(made.error(), inside);
  }
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(CostDatabase, AFileThatCannotBeReadIsAnInputError) {
  const TemporaryFolder folder;
  const std::string is_folder = folder.path().string(), path = folder / "costs.sqlite";
  store(path, one_node(42));
  std::filesystem::permissions(path, std::filesystem::perms::none);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  const Unprivileged nobody;
  for (const std::string& unreadable : {is_folder, path}) {
    const auto opened = CostDatabase::open(unreadable);
    ASSERT_FALSE(opened.has_value()) << unreadable;
    EXPECT_EQ(opened.error().kind, Error::Kind::input) << opened.error().message;
    expect_one_line(opened.error(), unreadable);
  }
}

TEST(CostDatabase, TheEnvironmentSetsThePath) {
  const auto path = [](const char* costs, const char* data) {
    ::setenv("JOINTER_COSTS", costs, 1);
    ::setenv("XDG_DATA_HOME", data, 1);
    return CostDatabase::default_path();
  };
  EXPECT_EQ(path("/a/b.sqlite", "/data"), "/a/b.sqlite");
  EXPECT_EQ(path("", "/data"), "/data/jointer/costs.sqlite");
  EXPECT_THAT(path("", ""), testing::EndsWith("/.local/share/jointer/costs.sqlite"));
  ::unsetenv("JOINTER_COSTS");
  ::unsetenv("XDG_DATA_HOME");
}

}  // namespace
}  // namespace jointer::test

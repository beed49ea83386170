#include "core/process/free_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/process/temporary_folder.h"

namespace jointer::test {
namespace {

// A machine as its files in proc and sys describe it.
class FreeMemory : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file(folder_.path(path));
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::int64_t bytes() const { return free_memory(folder_.path()); }
  [[nodiscard]] std::int64_t limit() const { return memory_limit(folder_.path()); }

 private:
  jointer::TemporaryFolder folder_ = *jointer::TemporaryFolder::make("jointer-machine-");
};

TEST_F(FreeMemory, IsWhatTheKernelCallsAvailable) {
  EXPECT_EQ(bytes(), 0) << "unknown";
  write("proc/meminfo", "MemTotal:  4000 kB\nMemFree: 1000 kB\nMemAvailable:   3000 kB\n");
  EXPECT_EQ(bytes(), 3000 * 1024);
}

TEST_F(FreeMemory, IsLimitedByEveryEnclosingControlGroup) {
  write("proc/meminfo", "MemAvailable: 3000 kB\n");
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.current", "100\n");
  EXPECT_EQ(bytes(), 3000 * 1024);
  write("sys/fs/cgroup/a/memory.max", "500000\n");
  write("sys/fs/cgroup/a/memory.current", "300000\n");
  EXPECT_EQ(bytes(), 200000);
  write("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 1000\n");
  EXPECT_EQ(bytes(), 201000);
  write("sys/fs/cgroup/a/b/memory.max", "150\n");
  EXPECT_EQ(bytes(), 50);
}

TEST_F(FreeMemory, ReadsTheFirstVersionOfControlGroups) {
  write("proc/meminfo", "MemAvailable: 3000 kB\n");
  write("proc/self/cgroup", "5:cpu:/x\n4:memory:/x\n0::/\n");
  write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "77\n");
  EXPECT_EQ(bytes(), 3000 * 1024);
  write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1077\n");
  EXPECT_EQ(bytes(), 1000);
}

TEST_F(FreeMemory, HasALimitInEveryEnclosingControlGroup) {
  EXPECT_EQ(limit(), 0) << "unknown";
  write("proc/meminfo", "MemTotal:  4000 kB\nMemAvailable:   3000 kB\n");
  write("proc/self/cgroup", "4:memory:/x/y\n0::/a/b\n");
  EXPECT_EQ(limit(), 4000 * 1024);
  write("sys/fs/cgroup/memory.max", "3000000\n");
  write("sys/fs/cgroup/a/memory.max", "500000\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(limit(), 500000);
  write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "400000\n");
  write("sys/fs/cgroup/memory/x/y/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit(), 400000);
  write("sys/fs/cgroup/a/b/memory.max", "300000\n");
  EXPECT_EQ(limit(), 300000);
}

// In a container that does not see its group's path, or whose group is outside of its namespace.
TEST_F(FreeMemory, AGroupThatIsNotVisibleHasTheLimitOfTheTop) {
  write("proc/meminfo", "MemTotal:  4000 kB\n");
  write("sys/fs/cgroup/memory.max", "500000\n");
  for (const char* group : {"/docker/1f", "/../1f"}) {
    write("proc/self/cgroup", std::string("0::") + group + "\n");
    EXPECT_EQ(limit(), 500000) << group;
  }
}

TEST(MemoryShare, LeavesATenthForTheRest) {
  EXPECT_EQ(memory_share(1000, 1), 900);
  EXPECT_EQ(memory_share(1000, 9), 100);
  EXPECT_EQ(memory_share(0, 4), 0) << "unknown";
}

TEST(MemoryShare, IsKnownHere) {
  EXPECT_GT(free_memory(), 0);
}

}  // namespace
}  // namespace jointer::test

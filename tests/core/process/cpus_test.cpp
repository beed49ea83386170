#include "core/process/cpus.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "core/base/environment.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

TEST(Cpus, AListIsReadAndWrittenAsLinuxWritesIt) {
  EXPECT_EQ(parse_cpus("0-3,8,10-11"), (Cpus{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_cpus("5"), Cpus{5});
  EXPECT_EQ(parse_cpus("4,2-4"), (Cpus{2, 3, 4}));
  for (const char* text : {"", "a", "1-", "-1", "3-1", "1,,2", "0-99999999"})
    EXPECT_EQ(parse_cpus(text), std::nullopt) << text;
  for (const char* text : {"0-3,8,10-11", "5", "0-1"}) EXPECT_EQ(to_text(*parse_cpus(text)), text);
  EXPECT_EQ(to_text(Cpus{}), "");
}

TEST(Cpus, OnlineOnesAreReadFromLinux) {
  const TemporaryFolder root;
  EXPECT_TRUE(online_cpus(root.path().string()).empty());
  const auto folder = root.path() / "sys/devices/system/cpu";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "online") << "0-5\n";
  EXPECT_EQ(online_cpus(root.path().string()), (Cpus{0, 1, 2, 3, 4, 5}));
}

TEST(Cpus, AllowedOnesAreThoseThatThreadsUse) {
  EXPECT_EQ(static_cast<int>(allowed_cpus().size()), usable_cores());
}

// Threads that already run are restricted, and so are those that start later.
TEST(Cpus, AllThreadsAreRestricted) {
  const Cpus before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  std::promise<void> is_restricted;
  auto earlier = std::async(std::launch::async, [waits = is_restricted.get_future()]() mutable {
    waits.wait();
    return allowed_cpus();
  });
  const Cpus last{before.back()};
  const bool restricted = restrict_threads(last);
  is_restricted.set_value();
  const Cpus of_earlier = earlier.get(),
             of_later = std::async(std::launch::async, allowed_cpus).get();
  const Cpus own = allowed_cpus();
  EXPECT_TRUE(restrict_threads(before));
  EXPECT_TRUE(restricted);
  EXPECT_EQ(of_earlier, last);
  EXPECT_EQ(of_later, last);
  EXPECT_EQ(own, last);
  EXPECT_EQ(allowed_cpus(), before);
}

}  // namespace
}  // namespace jointer::test

#include "core/base/environment.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace jointer::test {
namespace {

TEST(Environment, CountsTheCoresOnWhichAThreadMayRun) {
  EXPECT_GE(usable_cores(), 1);
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) GTEST_SKIP() << "cannot set the affinity";
    EXPECT_EQ(usable_cores(), 1);
  }).join();
}

}  // namespace
}  // namespace jointer::test

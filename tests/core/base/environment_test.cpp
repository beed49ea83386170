#include "core/base/environment.h"

#include <gtest/gtest.h>

#include "tests/support/one_core.h"

namespace jointer::test {
namespace {

TEST(Environment, CountsTheCoresOnWhichAThreadMayRun) {
  EXPECT_GE(usable_cores(), 1);
  if (!run_on_one_core([] { EXPECT_EQ(usable_cores(), 1); }))
    GTEST_SKIP() << "cannot set the affinity";
}

}  // namespace
}  // namespace jointer::test

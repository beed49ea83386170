#pragma once

// ./test leaves out tests that take seconds; ./test --all runs them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace jointer::test {

// True for the captures of DeepSeek-V3 671B, with tens of thousands of nodes.
inline bool is_large_capture(std::string_view name) {
  return name.find("671b") != std::string_view::npos;
}

inline bool runs_slow_tests() {
  return std::getenv("JOINTER_SLOW_TESTS") != nullptr;
}

}  // namespace jointer::test

// At the beginning of a test, or of SetUp.
#define JOINTER_SLOW_IF(condition)                      \
  if ((condition) && !jointer::test::runs_slow_tests()) \
  GTEST_SKIP() << "slow: set JOINTER_SLOW_TESTS"
#define JOINTER_SLOW_TEST() JOINTER_SLOW_IF(true)
// The same for a function of a QtTest class.
#define JOINTER_SLOW_FUNCTION() \
  if (!jointer::test::runs_slow_tests()) QSKIP("slow: set JOINTER_SLOW_TESTS")

#include "passes/bucketing/python_heap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jointer::test {
namespace {

using testing::ElementsAre;

// The arrays that Python's heapq makes of the same numbers.
TEST(PythonHeap, EqualsHeapq) {
  PythonHeap heap;
  for (const std::uint64_t item : {50U, 30U, 80U, 10U, 90U, 20U, 70U, 60U, 40U}) heap.push(item);
  EXPECT_THAT(heap.items(), ElementsAre(10, 30, 20, 40, 90, 80, 70, 60, 50));
  heap.pop();
  EXPECT_THAT(heap.items(), ElementsAre(20, 30, 50, 40, 90, 80, 70, 60));
  heap.erase({1, 2, 5});
  EXPECT_THAT(heap.items(), ElementsAre(20, 40, 90, 70, 60));
  EXPECT_EQ(heap.top(), 20U);
}

}  // namespace
}  // namespace jointer::test

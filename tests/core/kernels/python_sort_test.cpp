#include "core/kernels/python_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace jointer::test {
namespace {

struct Scored {
  std::uint64_t kind, bytes, place, number;
};

// Not transitive, like Inductor's comparison of possible fusions.
bool is_lower(const Scored& a, const Scored& b) {
  if (std::max(a.bytes, b.bytes) > std::min(a.bytes, b.bytes) * 16) return a.bytes < b.bytes;
  return std::tuple(a.kind, a.bytes, a.place) < std::tuple(b.kind, b.bytes, b.place);
}

std::vector<Scored> scores(std::size_t count) {
  std::uint64_t state = 12345;
  const auto next = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return state >> 33U;
  };
  std::vector<Scored> found;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t kind = next() % 2, bytes = std::uint64_t{1} << (next() % 14);
    found.push_back({kind, bytes, next() % 8, i});
  }
  return found;
}

std::uint64_t sorted_hash(std::vector<Scored> values) {
  kernels::python_sort(values, is_lower);
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const Scored& each : values) hash = (hash ^ each.number) * 0x100000001b3U;
  return hash;
}

// The expected values are hashes of what CPython 3.11 makes of the same lists.
TEST(PythonSort, SameOrderAsPythonWhereComparisonsAreInconsistent) {
  EXPECT_EQ(sorted_hash(scores(1)), 0xaf63bd4c8601b7dfU);
  EXPECT_EQ(sorted_hash(scores(2)), 0x8328707b4eb6e3aU);
  EXPECT_EQ(sorted_hash(scores(50)), 0x7dc313e5fd03ea4U);
  EXPECT_EQ(sorted_hash(scores(64)), 0xf8386b51d2dbb34dU);
  EXPECT_EQ(sorted_hash(scores(300)), 0x7ee05523cbcd0f33U);
  EXPECT_EQ(sorted_hash(scores(2000)), 0x3bff513e1ab99d0bU);
}

TEST(PythonSort, SameOrderAsPythonForLongRuns) {
  std::vector<Scored> values = scores(3000);
  std::stable_sort(values.begin(), values.end(), [](const Scored& a, const Scored& b) {
    return std::tuple(a.kind, a.bytes, a.place) < std::tuple(b.kind, b.bytes, b.place);
  });
  std::rotate(values.begin(), values.begin() + 1500, values.end());
  EXPECT_EQ(sorted_hash(values), 0xcc7ebfa8f10d73b9U);
}

TEST(PythonSort, EqualElementsKeepTheirOrder) {
  std::vector<Scored> values;
  for (std::uint64_t i = 0; i < 500; ++i) values.push_back({0, 1, i % 3, i});
  kernels::python_sort(values, is_lower);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end(), [](const Scored& a, const Scored& b) {
    return std::tuple(a.place, a.number) < std::tuple(b.place, b.number);
  }));
}

}  // namespace
}  // namespace jointer::test

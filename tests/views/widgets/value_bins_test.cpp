#include "views/widgets/value_bins.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace jointer::views {
namespace {

std::vector<std::size_t> counts(const std::vector<ValueBin>& bins) {
  std::vector<std::size_t> counts;
  for (const ValueBin& bin : bins) counts.push_back(bin.count());
  return counts;
}

TEST(ValueBins, HaveEqualWidths) {
  const std::vector<std::int64_t> values{10, 11, 19, 20, 30, 50};
  const auto bins = value_bins(values, 4);
  EXPECT_EQ(counts(bins), (std::vector<std::size_t>{3, 1, 1, 1}));
  EXPECT_EQ(bins[0].low, 10);
  EXPECT_EQ(bins[0].high, 20);
  EXPECT_EQ(bins[3].high, 50) << "the last bin contains the largest value";
}

TEST(ValueBins, HaveEqualRatiosIfValuesDifferMuch) {
  const std::vector<std::int64_t> values{1, 9, 99, 999, 9999};
  EXPECT_EQ(counts(value_bins(values, 4)), (std::vector<std::size_t>{2, 1, 1, 1}));
}

TEST(ValueBins, AreOneForEqualValues) {
  const std::vector<std::int64_t> values{7, 7, 7};
  const auto bins = value_bins(values, 24);
  ASSERT_EQ(bins.size(), 1U);
  EXPECT_EQ(bins[0].count(), 3U);
  EXPECT_TRUE(value_bins({}, 24).empty());
}

RC_GTEST_PROP(ValueBins, ContainEveryValueOnce, ()) {
  auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(
      rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000)));
  std::ranges::sort(values);
  const auto max = *rc::gen::inRange<std::size_t>(1, 30);
  const auto bins = value_bins(values, max);
  RC_ASSERT(!bins.empty() && bins.size() <= max);
  RC_ASSERT(bins.front().first == 0U && bins.back().last == values.size());
  RC_ASSERT(bins.front().count() > 0U && bins.back().count() > 0U);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (i > 0) RC_ASSERT(bins[i].first == bins[i - 1].last && bins[i].low == bins[i - 1].high);
    for (std::size_t v = bins[i].first; v < bins[i].last; ++v)
      RC_ASSERT(values[v] >= bins[i].low && values[v] <= bins[i].high);
  }
}

}  // namespace
}  // namespace jointer::views

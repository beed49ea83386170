#include "core/base/nearest_name.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace jointer {
namespace {

constexpr std::array<std::string_view, 4> kPassNames{"autobucketing_reordering", "raise_comms",
                                                     "sink_waits", "sink_waits_iterative"};

TEST(NearestName, HasTheSmallestEditDistance) {
  EXPECT_EQ(nearest_name("sink_wait", kPassNames), "sink_waits");
  EXPECT_EQ(nearest_name("rise_coms", kPassNames), "raise_comms");
}

TEST(NearestName, ContainsTheInput) {
  EXPECT_EQ(nearest_name("autobucketing", kPassNames), "autobucketing_reordering");
  EXPECT_EQ(nearest_name("iterative", kPassNames), "sink_waits_iterative");
}

TEST(NearestName, IsEmptyIfNothingIsNear) {
  EXPECT_EQ(nearest_name("x", kPassNames), "");
  EXPECT_EQ(nearest_name("dead_code", kPassNames), "");
  EXPECT_EQ(nearest_name("sink", {}), "");
  EXPECT_EQ(nearest_name_question("x", kPassNames), ";");
}

TEST(NearestName, PrefersNamesThatBeginWithTheInput) {
  EXPECT_EQ(some_names("sink_wait", kPassNames),
            "sink_waits, sink_waits_iterative, autobucketing_reordering, raise_comms");
  EXPECT_EQ(some_names("x", {}), "");
  std::vector<std::string> held;
  for (int i = 0; i < 100; ++i) held.push_back("layers." + std::to_string(i));
  const std::vector<std::string_view> many(held.begin(), held.end());
  EXPECT_EQ(some_names("layer.42", many).substr(0, 10), "layers.42,");
  EXPECT_TRUE(some_names("layer.42", many).ends_with(" and 92 more"));
}

}  // namespace
}  // namespace jointer

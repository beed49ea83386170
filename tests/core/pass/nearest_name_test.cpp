#include "core/pass/nearest_name.h"

#include <gtest/gtest.h>

#include <array>

namespace jointer {
namespace {

constexpr std::array<std::string_view, 4> kNames{"autobucketing_reordering", "raise_comms",
                                                 "sink_waits", "sink_waits_iterative"};

TEST(NearestName, IsTheOneWithTheFewestLettersToChange) {
  EXPECT_EQ(nearest_name("sink_wait", kNames), "sink_waits");
  EXPECT_EQ(nearest_name("rise_coms", kNames), "raise_comms");
}

TEST(NearestName, IsOneThatContainsWhatWasTyped) {
  EXPECT_EQ(nearest_name("autobucketing", kNames), "autobucketing_reordering");
  EXPECT_EQ(nearest_name("iterative", kNames), "sink_waits_iterative");
}

TEST(NearestName, IsNoneWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("x", kNames), "");
  EXPECT_EQ(nearest_name("dead_code", kNames), "");
  EXPECT_EQ(nearest_name("sink", {}), "");
  EXPECT_EQ(nearest_name_question("x", kNames), ";");
}

}  // namespace
}  // namespace jointer

// Which versions of torch are taken for the runner's own.

#include "app/runner/torch_version.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace jointer::runner {
namespace {

TEST(TorchVersion, IsReadWithoutWhatSaysHowItWasBuilt) {
  EXPECT_EQ(minor_version("2.15.0+cu132"), 15);
  EXPECT_EQ(minor_version("2.11.1"), 11);
  for (const char* unfit : {"", "1.13.1", "2", "2.", "2.15", "two"})
    EXPECT_EQ(minor_version(unfit), std::nullopt) << unfit;
  const auto own = minor_version(torch_version());
  ASSERT_TRUE(own);
  EXPECT_GE(*own, 11);
  EXPECT_LE(*own, 15);
}

TEST(TorchVersion, PackagesAreOfTheReleaseAndGraphsOfTheMinorVersion) {
  const std::string own(torch_version());
  const std::string patched = fmt::format("2.{}.9", *minor_version(own));
  EXPECT_TRUE(is_this_release(own + "+cpu"));
  EXPECT_FALSE(is_this_release(patched));
  EXPECT_FALSE(is_this_release(""));
  EXPECT_TRUE(is_this_minor(patched));
  EXPECT_TRUE(is_this_minor(""));
  EXPECT_FALSE(is_this_minor("2.10.0"));
  EXPECT_TRUE(of_another_torch(patched).empty());
  const std::string told = of_another_torch("2.10.0+cu128");
  EXPECT_NE(told.find("torch 2.10.0,"), std::string::npos) << told;
  EXPECT_NE(told.find(own), std::string::npos) << told;
}

}  // namespace
}  // namespace jointer::runner

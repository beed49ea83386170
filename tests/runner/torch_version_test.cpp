// Versions of torch that count as the runner's own.

#include "app/runner/support/torch_version.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/base/torch_version.h"

namespace jointer::runner {
namespace {

TEST(TorchVersion, IsSupported) {
  const auto own = parse_torch_version(torch_version());
  ASSERT_TRUE(own);
  EXPECT_GE(*own, (TorchVersion{2, 11}));
  EXPECT_LE(*own, kNewestTorch);
  EXPECT_EQ(torch_version().find('+'), std::string_view::npos);
}

TEST(TorchVersion, PackagesNeedTheSameReleaseAndGraphsTheSameMinorVersion) {
  const std::string own(torch_version());
  const std::string patched = fmt::format("2.{}.9", parse_torch_version(own)->minor);
  EXPECT_TRUE(matches_release(own + "+cpu"));
  EXPECT_FALSE(matches_release(patched));
  EXPECT_FALSE(matches_release(""));
  EXPECT_TRUE(matches_minor(patched));
  EXPECT_TRUE(matches_minor(""));
  EXPECT_FALSE(matches_minor("2.10.0"));
  EXPECT_TRUE(of_another_torch(patched).empty());
  const std::string reported = of_another_torch("2.10.0+cu128");
  EXPECT_NE(reported.find("torch 2.10.0,"), std::string::npos) << reported;
  EXPECT_NE(reported.find(own), std::string::npos) << reported;
}

}  // namespace
}  // namespace jointer::runner

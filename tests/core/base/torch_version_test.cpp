#include "core/base/torch_version.h"

#include <gtest/gtest.h>

namespace jointer::test {
namespace {

TEST(TorchVersionText, ReadsVersionsAsTorchWritesThem) {
  EXPECT_EQ(parse_torch_version("2.11.0"), (TorchVersion{2, 11}));
  EXPECT_EQ(parse_torch_version("2.15.0+cu132"), (TorchVersion{2, 15}));
  EXPECT_EQ(parse_torch_version("2.16.0.dev20260914+cpu"), (TorchVersion{2, 16}));
  for (const std::string_view text : {"", "2", "2.", "two.1", ".5", "nightly"})
    EXPECT_FALSE(parse_torch_version(text)) << text;
}

TEST(TorchVersionText, MinorVersionsCompareAsNumbers) {
  EXPECT_LT((TorchVersion{2, 9}), (TorchVersion{2, 11}));
  EXPECT_GT((TorchVersion{3, 0}), kNewestTorch);
}

}  // namespace
}  // namespace jointer::test

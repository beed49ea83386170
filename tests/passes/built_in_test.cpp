#include "passes/built_in.h"

#include <gtest/gtest.h>

namespace jointer {
namespace {

TEST(BuiltInPasses, HaveDocumentation) {
  const PassRegistry registry = built_in_passes();
  for (const Pass& pass : registry.passes()) {
    EXPECT_FALSE(pass.info.summary.empty()) << pass.info.name;
    EXPECT_FALSE(pass.info.source.empty()) << pass.info.name;
    for (const Parameter& parameter : pass.info.parameters)
      EXPECT_FALSE(parameter.doc.empty()) << pass.info.name << ", " << parameter.name;
  }
}

}  // namespace
}  // namespace jointer

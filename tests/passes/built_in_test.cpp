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

// A pass also runs from the command line.
TEST(BuiltInPasses, NameNoControlsOfTheWindow) {
  const PassRegistry registry = built_in_passes();
  for (const Pass& pass : registry.passes())
    for (const Parameter& parameter : pass.info.parameters)
      for (const char* const control : {" > ", "button", "menu"})
        EXPECT_EQ(parameter.doc.find(control), std::string::npos)
            << pass.info.name << ", " << parameter.name << ": " << parameter.doc;
}

}  // namespace
}  // namespace jointer

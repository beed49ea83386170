#include "passes/presets/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/pass/pipeline_rules.h"
#include "passes/built_in.h"

namespace jointer::test {
namespace {

TEST(PipelinePresets, FitThePassesAndUpstreamsRules) {
  const PassRegistry registry = built_in_passes();
  std::set<std::string> names;
  for (const PipelinePreset& preset : pipeline_presets()) {
    EXPECT_TRUE(is_word(preset.name)) << preset.name;
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    EXPECT_EQ(registry.find(preset.name), nullptr) << "a pass has the name " << preset.name;
    EXPECT_FALSE(preset.summary.empty());
    const auto pipeline = preset_pipeline(preset.name);
    ASSERT_TRUE(pipeline) << pipeline.error().message;
    EXPECT_EQ(to_text(*pipeline), preset.pipeline) << "it round-trips";
    const auto fits = registry.check(*pipeline);
    EXPECT_TRUE(fits) << preset.name << ": " << fits.error().message;
    EXPECT_TRUE(check_order(*pipeline)) << preset.name;
  }
  EXPECT_EQ(names.size(), 10U) << "the README lists ten configurations";
}

TEST(PipelinePresets, TheNearestNameIsSaid) {
  const auto none = preset_pipeline("fsdp_tp_auto_bucketting");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, testing::HasSubstr("did you mean fsdp_tp_auto_bucketing?"));
}

}  // namespace
}  // namespace jointer::test

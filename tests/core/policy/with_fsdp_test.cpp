// Parameters gathered by FSDP, under upstream's lists and policies: they keep the tags of the
// opened graph however a policy is applied.

#include "core/policy/with_fsdp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/open/open.h"
#include "core/partition/partition.h"
#include "core/policy/export.h"
#include "core/policy/import.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Graph sample() {
  return must(
      open_graph({.path = source_path("resources/samples/llama_8b_tp2_fsdp2.joint.json.zst")}));
}

Graph with(const Graph& graph, const Result<Edit>& edit) {
  Graph after = graph;
  EXPECT_TRUE(apply(after, must(edit)));
  return after;
}

std::vector<NodeId> saved(const Graph& tagged) {
  return must(partition(tagged)).plan.saved;
}

TEST(WithFsdp, ListsKeepTheTagsOfGatheredParameters) {
  const Graph opened = sample();
  ASSERT_EQ(fsdp_policy(opened), MemoryPolicy::must_recompute);
  const auto edit = preset_with_fsdp(opened, kApplySac, fsdp_policy(opened));
  ASSERT_TRUE(edit);
  EXPECT_EQ(edit->by, "apply_sac,fsdp_reshard_after_fwd");
  EXPECT_THAT(edit->notes.back(), HasSubstr("gathered again in the backward"));
  EXPECT_EQ(fsdp_policy(with(opened, edit)), MemoryPolicy::must_recompute);
  // Regardless of earlier policies: `default` replaces the tags of FSDP.
  const Graph tried = with(opened, preset_with_fsdp(opened, "default", fsdp_policy(opened)));
  const Graph again = with(tried, preset_with_fsdp(tried, kApplySac, fsdp_policy(opened)));
  EXPECT_EQ(fsdp_policy(again), MemoryPolicy::must_recompute);
  // A graph that FSDP's pass has not processed gets no such tags.
  const Graph bare = with(opened, remove_tags(opened));
  EXPECT_EQ(fsdp_policy(bare), MemoryPolicy::none);
  EXPECT_EQ(fsdp_policy(with(bare, preset_with_fsdp(bare, kApplySac, fsdp_policy(bare)))),
            MemoryPolicy::none);
}

TEST(WithFsdp, PoliciesKeepWhatFsdpKeeps) {
  const Graph opened = with(sample(), fsdp_reshard_after_fwd(sample(), false));
  ASSERT_EQ(fsdp_policy(opened), MemoryPolicy::must_save);
  const auto edit = must(preset_with_fsdp(opened, "full", fsdp_policy(opened)));
  EXPECT_THAT(edit.by, HasSubstr("reshard=false"));
}

TEST(WithFsdp, ATextSavesWhatItsPolicySaves) {
  const Graph opened = sample();
  for (const auto& [preset, format] : {std::pair("default", PolicyFormat::selectors),
                                       std::pair(kApplySac, PolicyFormat::torchtitan)}) {
    const Graph tagged = with(opened, preset_with_fsdp(opened, preset, fsdp_policy(opened)));
    const auto done = must(partition(tagged));
    const auto exported = must(export_plan(done.joint, done.plan, format, opened));
    EXPECT_THAT(exported.differences, IsEmpty()) << preset;
    const auto imported = must(import_policy(opened, exported.text));
    ASSERT_EQ(imported.edits.size(), 1U);
    EXPECT_EQ(saved(with(opened, imported.edits.front())), done.plan.saved) << preset;
  }
}

}  // namespace
}  // namespace jointer::test

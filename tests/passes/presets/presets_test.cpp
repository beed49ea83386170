#include "passes/presets/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/characters.h"
#include "core/pass/pipeline_rules.h"
#include "core/pass/pipeline_run.h"
#include "passes/built_in.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

bool is_of_trainer(const PipelinePreset& preset) {
  return preset.name.starts_with("graph_trainer");
}

TEST(PipelinePresets, FitThePassesAndUpstreamsRules) {
  std::size_t of_toolkit = 0;
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
    EXPECT_TRUE(check_order(*pipeline)) << preset.name;
    const auto fits = registry.check(*pipeline);
    if (!is_of_trainer(preset)) {
      EXPECT_TRUE(fits) << preset.name << ": " << fits.error().message;
      ++of_toolkit;
    } else if (!fits) {
      // A pass that this build lacks is named.
      EXPECT_THAT(fits.error().message, testing::HasSubstr("there is no pass ")) << preset.name;
    }
  }
  EXPECT_EQ(of_toolkit, 10U) << "the README of torchtitan's compiler toolkit lists ten";
}

// FSDP around flex_attention, annotated as in torchtitan.
Graph flex_joint() {
  Graph graph = parse(R"(
    group fsdp: 0 1
    s: f32[4,8] = parameter
    x: f32[1,2,8,8] = input
    do: f32[1,2,8,8] = tangent
    ag: f32[8,8] = _c10d_functional.all_gather_into_tensor(s, 2, 'fsdp')  {layers.0}
    w: f32[8,8] = _c10d_functional.wait_tensor(ag)                       {layers.0}
    q: f32[1,2,8,8] = aten.mul.Tensor(x, w)                              {layers.0}
    o: f32[1,2,8,8] = flex_attention(q, x, x)                            {layers.0}
    dq: f32[1,2,8,8] = flex_attention_backward(q, x, x, o, do)           {backward layers.0}
    dm: f32[1,2,8,8] = aten.mul.Tensor(dq, x)                            {backward layers.0}
    dw: f32[8,8] = aten.sum.dim_IntList(dm, [0,1])                       {backward layers.0}
    rs: f32[4,8] = _c10d_functional.reduce_scatter_tensor(dw, 'sum', 2, 'fsdp')  {backward layers.0}
    ds: f32[4,8] = _c10d_functional.wait_tensor(rs)                      {backward layers.0}
    return [o, ds, None]
  )");
  for (const char* name : {"o", "dq"})
    graph.node(graph.find(name)).custom = graph.intern(R"({"compile_with_inductor":{}})");
  return graph;
}

TEST(PipelinePresets, SupportFlexAttention) {
  const PassRegistry registry = built_in_passes();
  for (const PipelinePreset& preset : pipeline_presets()) {
    SCOPED_TRACE(preset.name);
    if (is_of_trainer(preset)) continue;  // they are for a flat step
    const Pipeline pipeline = *preset_pipeline(preset.name);
    if (pipeline.front().pass == "inductor_decomposition") continue;  // it runs in Python
    const auto run = run_pipeline(flex_joint(), pipeline, registry, {});
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_FALSE(run->error) << run->error->message;
    std::set<std::string> checked, compiled;
    for (const StepResult& step : run->steps)
      for (const Decision& each : step.decisions) {
        if (each.action == "checked") checked.insert(each.node);
        if (each.pass == "regional_inductor") compiled.insert(each.action);
      }
    EXPECT_EQ(checked, (std::set<std::string>{"dq", "o"}));
    const bool is_regional = preset.pipeline.find("regional_inductor") != std::string::npos;
    EXPECT_EQ(compiled, is_regional ? std::set<std::string>{"compiled"} : std::set<std::string>{});
  }
}

TEST(PipelinePresets, SuggestTheNearestName) {
  const auto none = preset_pipeline("fsdp_tp_auto_bucketting");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, testing::HasSubstr("did you mean fsdp_tp_auto_bucketing?"));
}

}  // namespace
}  // namespace jointer::test

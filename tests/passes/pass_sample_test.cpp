// The properties of every built-in pass on graphs as captures have them: a joint graph and its pair
// with tensor parallelism and FSDP, a flat training step, an FSDP2 trace. Each pass must accept at
// least one of them, so that every new pass is tested here; add a graph if none fits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>

#include "core/edit/edit.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "tests/passes/ep_overlap/expert_step.h"
#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"
#include "tests/support/legal_order.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

// A training step of three layers, whose values for the backward are offloaded, saved and
// recomputed.
constexpr std::string_view kFlatStep = R"(
  kind train_step
  x: f32[64,64] = input
  a: f32[64,64] = aten.sin(x)  {layers.0 MUST_CPU_OFFLOAD}
  b: f32[64,64] = aten.exp(a)  {layers.0 PREFER_RECOMPUTE}
  c: f32[64,64] = aten.sin(b)  {layers.1 MUST_SAVE}
  d: f32[64,64] = aten.exp(c)  {layers.1 PREFER_RECOMPUTE}
  e: f32[64,64] = aten.sin(d)  {layers.2}
  f: f32[64,64] = aten.exp(e)  {layers.2}
  h: f32[64,64] = aten.cos(e)  {backward layers.2}
  i: f32[64,64] = aten.mul.Tensor(h, d)  {backward layers.2}
  j: f32[64,64] = aten.mul.Tensor(i, c)  {backward layers.1}
  k: f32[64,64] = aten.mul.Tensor(j, b)  {backward layers.0}
  l: f32[64,64] = aten.mul.Tensor(k, a)  {backward layers.0}
  return [f, l]
)";

// FSDP2 without a compiler: a parameter that is filled, read and resized to zero; a gather with its
// buffer.
constexpr std::string_view kFsdp2 = R"(
  group fsdp: 0 1
  whole: f32[4,4] = parameter
  y: f32[4,4] = input
  full: none = inductor.resize_storage_bytes_(whole, 64)
  copy: none = fsdp.copy_(whole, y)
  a: f32[4,4] = aten.mm(whole, whole)
  empty: none = inductor.resize_storage_bytes_(whole, 0)
  return [a]
)";

// A pipeline stage whose parameter is gathered in the forward alone.
constexpr std::string_view kSplitStage = R"(
  group dp: 0 1
  w: f32[2,4] = parameter
  x: f32[4,4] = input
  dy: f32[4,4] = tangent
  ag: f32[4,4] = _c10d_functional.all_gather_into_tensor(w, 2, 'dp')
  wt: f32[4,4] = _c10d_functional.wait_tensor(ag)
  y: f32[4,4] = aten.mm(x, wt)
  gx: f32[4,4] = aten.mm(dy, wt)  {backward}
  gw: f32[4,4] = aten.mm(x, dy)  {backward}
  rs: f32[2,4] = _c10d_functional.reduce_scatter_tensor(gw, 'sum', 2, 'dp')  {backward}
  wr: f32[2,4] = _c10d_functional.wait_tensor(rs)  {backward}
  return [y, wr, gx]
)";

// Boundary cases: only an input, an empty graph, an empty backward, no collective, a collective
// without a wait.
const std::vector<std::pair<std::string, std::string_view>>& ends() {
  static const std::vector<std::pair<std::string, std::string_view>> kEnds{
      {"only an input", "x: f32[4] = input\nreturn [x]"},
      {"nothing", "return []"},
      {"an empty backward",
       "w: f32[4,4] = parameter\ndy: f32[4,4] = tangent\ny: f32[4,4] = aten.relu(w)\nreturn [y, "
       "dy]"},
      {"no gradients",
       "w: f32[4,4] = parameter\ndy: f32[4,4] = tangent\ny: f32[4,4] = aten.relu(w)\nreturn [y, "
       "None]"},
      {"no collectives",
       "x: f32[4,4] = input\na: f32[4,4] = aten.mm(x, x)\nb: f32[4,4] = aten.relu(a)\nreturn [b]"},
      {"a collective without a wait",
       "group g: 0 1\nx: f32[4,4] = input\n"
       "r: f32[4,4] = _c10d_functional.all_reduce(x, 'sum', 'g')\nreturn [x]"},
      {"a wait for what another graph started",
       "group g: 0 1\nr: f32[4,4] = input\nx: f32[4,4] = input\n"
       "w: f32[4,4] = _c10d_functional.wait_tensor(r)\na: f32[4,4] = aten.mm(x, x)\n"
       "y: f32[4,4] = aten.mm(a, w)\nreturn [y]"},
      {"a collective that is waited for twice",
       "group g: 0 1\nx: f32[4,4] = input\n"
       "r: f32[4,4] = _c10d_functional.all_reduce(x, 'sum', 'g')\n"
       "v: f32[4,4] = _c10d_functional.wait_tensor(r)\na: f32[4,4] = aten.mm(v, x)\n"
       "w: f32[4,4] = _c10d_functional.wait_tensor(r)\ny: f32[4,4] = aten.mm(a, w)\nreturn [y]"},
      {"a collective that is returned",
       "group g: 0 1\nx: f32[4,4] = input\n"
       "r: f32[4,4] = _c10d_functional.all_reduce(x, 'sum', 'g')\nreturn [r]"},
  };
  return kEnds;
}

// The reasons for which a second run may change something. All other passes must be idempotent.
const std::map<std::string, std::string>& why_not_idempotent() {
  static const std::map<std::string, std::string> kReasons{
      {"async_tensor_parallel", "a product that hid a collective may be fused with another one"},
      {"auto_tune", "its result is the start of another search"},
      {"autobucketing_reordering", "buckets are collectives that may be moved and merged again"},
      {"default_partition", "its result is a pair, which it refuses"},
      {"ep_overlap_chunk", "a module that it left whole may read a joined one, and be split next"},
      {"fastest_plan", "its result is a pair, which it refuses"},
      {"greedy_bucketing_by_mb", "collectives left out of one bucket may fit into another"},
      {"joint_transformer_block_bucketing_reordering", "a bucket of buckets is another bucket"},
      {"join", "its result is a joint graph, which it refuses"},
      {"knapsack_budget", "its result is a pair, which it refuses"},
      {"low_contention_collectives", "the collectives that it replaced no longer block others"},
      {"min_cut_partition", "its result is a pair, which it refuses"},
      {"multiplex_fw_bw_graph", "its result is one graph, and it takes a pair"},
      {"partition_joint_graph", "its result is a pair, which it refuses"},
      {"place_collectives", "a collective that moved leaves others better positions"},
      {"reorder_communication_preserving_peak_memory",
       "its budget is relative to the current peak"},
      {"reorder_compute_and_comm_for_overlap", "the passes that it runs are not idempotent"},
      {"reorder_for_peak_memory", "if it finds a lower peak, it starts from there"},
      {"schedule_fsdp_comms_to_dense_regions", "the regions are those of the current order"},
      {"sink_waits_iterative", "its budget is relative to the current peak"},
      {"split_backward_fsdp_collectives", "its result has nothing left to take out"},
      {"split_di_dw_graph", "gradients of inputs replace those of parameters"},
      {"split_forward_fsdp_collectives", "its result has nothing left to take out"},
      {"transformer_block_bucketing", "buckets that start earlier leave others room to move"},
  };
  return kReasons;
}

struct Sample {
  std::string name;
  Graph graph;
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = [] {
    std::vector<Sample> made;
    for (const char* name : {"llama_debug_tp2_fsdp2.joint", "llama_debug_tp2_fsdp2.min_cut"}) {
      auto graph =
          open_graph({.path = source_path("resources/samples/" + std::string(name) + ".json.zst")});
      if (!graph) throw std::runtime_error(graph.error().message);
      made.push_back({name, *std::move(graph)});
    }
    made.push_back({"a flat step", parse(kFlatStep)});
    made.push_back({"FSDP2", parse(kFsdp2)});
    made.push_back({"experts", traced()});
    made.push_back(
        {"a pipeline stage", *run_pass(parse(kSplitStage), "partition_joint_graph").graph});
    return made;
  }();
  return kSamples;
}

// A step with the pass's defaults; a search is short, since it runs many times.
std::string step_of(const PassInfo& info) {
  return info.stage == PassStage::search ? info.name + "{evaluations=24}" : info.name;
}

// Error: the refusal, before the run or by the pass.
Result<StepResult> run(const Graph& graph, const std::string& step,
                       const PassContext::Options& options = {}) {
  JOINTER_TRY(const Pipeline pipeline, parse_pipeline(step));
  JOINTER_TRY(PipelineRun done, run_pipeline(graph, pipeline, built_in_passes(), options));
  if (done.error) return tl::unexpected(*std::move(done.error));
  return std::move(done.steps.front());
}

// A refusal is one sentence that begins with the pass.
void expect_refusal(const Error& error, const std::string& pass) {
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  EXPECT_THAT(error.message, testing::StartsWith(pass));
}

// The hash and the decisions, or the reason for the refusal.
std::string outcome(const Graph& graph, const std::string& step) {
  const auto done = run(graph, step);
  if (!done) return done.error().message;
  std::string text = graph_hash(*done->graph);
  for (const Decision& each : done->decisions)
    text += fmt::format("\n{} {} {}", each.node, each.action, each.reason);
  return text;
}

class EveryPassOnSamples : public testing::TestWithParam<std::string> {
 protected:
  // Runs the pass on each sample that it accepts, and passes the result to `check`.
  void on_each(const std::function<void(const Sample&, const StepResult&)>& check,
               const std::function<PassContext::Options(const Graph&)>& options_of = nullptr) {
    const PassInfo info = built_in_passes().find(GetParam())->info;
    if (info.name == "inductor_decomposition") GTEST_SKIP() << "it runs in Python";
    if (info.name == "full_inductor_compilation") GTEST_SKIP() << "it comes after what does";
    std::size_t taken = 0;
    for (const Sample& sample : samples()) {
      SCOPED_TRACE(sample.name);
      const PassContext::Options options =
          options_of ? options_of(sample.graph) : PassContext::Options();
      const auto done = run(sample.graph, step_of(info), options);
      if (!done) {
        EXPECT_EQ(done.error().kind, Error::Kind::usage) << done.error().message;
        expect_refusal(done.error(), info.name);
        continue;
      }
      ++taken;
      check(sample, *done);
    }
    EXPECT_GT(taken, 0U) << "the pass accepts none of the samples: add one";
  }
};

TEST_P(EveryPassOnSamples, LeavesALegalGraphAndALegalEdit) {
  on_each([](const Sample& sample, const StepResult& step) {
    const auto sound = validate(*step.graph);
    EXPECT_TRUE(sound) << sound.error().message;
    if (step.graph->is_pair() != sample.graph.is_pair()) return;  // no edit makes a pair
    if (step.added + step.removed + step.changed == 0) {
      EXPECT_TRUE(keeps_dependencies(sample.graph, *step.graph));
    }
    EXPECT_EQ(step.edit_refusal, "");
    Graph edited = sample.graph;
    const auto applied = apply(edited, step.edit);
    ASSERT_TRUE(applied) << applied.error().message;
    EXPECT_EQ(graph_hash(edited), graph_hash(*step.graph));
    ASSERT_TRUE(apply(edited, *applied));
    EXPECT_EQ(graph_hash(edited), graph_hash(sample.graph))
        << "the undo does not restore the graph";
  });
}

// A pass that changes nothing gives the reason, even on minimal graphs.
TEST_P(EveryPassOnSamples, ExplainsWhyNothingChanged) {
  const auto check = [](const StepResult& step) {
    if (step.moved + step.added + step.removed + step.changed + step.retagged > 0) return;
    EXPECT_FALSE(step.decisions.empty());
    for (const Decision& each : step.decisions) EXPECT_NE(each.reason, "") << each.node;
  };
  on_each([&](const Sample&, const StepResult& step) { check(step); });
  if (IsSkipped()) return;
  for (const auto& [name, text] : ends()) {
    SCOPED_TRACE(name);
    const auto done = run(parse(text), step_of(built_in_passes().find(GetParam())->info));
    if (done) check(*done);
  }
}

// Twenty runs, or five of a pass that searches.
TEST_P(EveryPassOnSamples, ManyRunsOnAnyThreadAgree) {
  const PassStage stage = built_in_passes().find(GetParam())->info.stage;
  const bool is_search = stage == PassStage::search || GetParam() == "fastest_plan";
  const int at_once = is_search ? 2 : 8, in_turn = is_search ? 1 : 10;
  on_each([&](const Sample& sample, const StepResult& step) {
    const std::string pass = step.step, expected = outcome(sample.graph, pass);
    EXPECT_THAT(expected, testing::StartsWith(graph_hash(*step.graph)));
    std::vector<std::future<std::string>> runs;
    for (int i = 0; i < at_once; ++i)
      runs.push_back(
          std::async(std::launch::async, [&sample, pass] { return outcome(sample.graph, pass); }));
    for (auto& each : runs) EXPECT_EQ(each.get(), expected);
    for (int i = 0; i < in_turn; ++i) EXPECT_EQ(outcome(sample.graph, pass), expected);
  });
}

TEST_P(EveryPassOnSamples, IsIdempotentOrExplainsWhyNot) {
  const PassInfo info = built_in_passes().find(GetParam())->info;
  const auto reason = why_not_idempotent().find(info.name);
  ASSERT_EQ(reason == why_not_idempotent().end(), info.is_idempotent)
      << "the table above has the reasons why passes are not";
  if (!info.is_idempotent) return;
  on_each([&](const Sample&, const StepResult& step) {
    const auto again = run(*step.graph, info.name);
    ASSERT_TRUE(again) << "the pass refuses its own result: " << again.error().message;
    EXPECT_EQ(graph_hash(*again->graph), graph_hash(*step.graph));
    EXPECT_EQ(again->retagged, 0U);
  });
}

// `jointer apply --budget`: a pass that may raise the peak keeps it within the limit.
TEST_P(EveryPassOnSamples, KeepsThePeakWithinTheLimit) {
  for (const double share : {0.5, 1.0, 1.01}) {
    SCOPED_TRACE(share);
    const auto limit_of = [share](const Graph& graph) {
      return static_cast<std::int64_t>(
          share * static_cast<double>(step_figures(graph, {})->figures.peak_bytes));
    };
    on_each(
        [&](const Sample& sample, const StepResult& step) {
          if (step.graph->is_pair() != sample.graph.is_pair())
            return;  // its peak is that of other graphs
          EXPECT_LE(step.after.figures.peak_bytes,
                    std::max(step.before.figures.peak_bytes, limit_of(sample.graph)));
        },
        [&](const Graph& graph) {
          PassContext::Options options;
          options.peak_limit = limit_of(graph);
          return options;
        });
  }
}

// Graphs for the CPU that run on a GPU, and the reverse: if the estimator names no device, each pass
// and the metrics use the one that runs.
TEST_P(EveryPassOnSamples, EstimatesOnTheDeviceThatRuns) {
  const auto options_of = [](const Graph& graph) {
    const bool is_for_cpu = graph.main_device() == DeviceType::cpu;
    PassContext::Options options;
    options.analysis.memory.runs_on = is_for_cpu ? DeviceType::cuda : DeviceType::cpu;
    options.analysis.estimator.device = is_for_cpu ? "h100" : "cpu";
    return options;
  };
  on_each(
      [&](const Sample& sample, const StepResult& step) {
        const auto named = run(sample.graph, step.step, options_of(sample.graph));
        ASSERT_TRUE(named) << named.error().message;
        EXPECT_EQ(graph_hash(*step.graph), graph_hash(*named->graph));
        EXPECT_EQ(step.decisions, named->decisions);
        EXPECT_EQ(step.tables, named->tables);
        EXPECT_EQ(step.before, named->before);
        EXPECT_EQ(step.after, named->after);
      },
      [&](const Graph& graph) {
        PassContext::Options options = options_of(graph);
        options.analysis.estimator.device.clear();
        return options;
      });
}

// A pass may refuse such a graph with one sentence; otherwise it leaves the graph sound.
TEST_P(EveryPassOnSamples, HandlesBoundaryCases) {
  for (const auto& [name, text] : ends()) {
    SCOPED_TRACE(name);
    const auto done = run(parse(text), GetParam());
    if (done) continue;
    expect_refusal(done.error(), GetParam());
    EXPECT_EQ(done.error().message.find("invalid graph"), std::string::npos)
        << done.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, EveryPassOnSamples, testing::ValuesIn(pass_names()),
                         [](const auto& each) { return each.param; });

TEST(WhyNotIdempotent, NamesOnlyPasses) {
  for (const auto& [name, reason] : why_not_idempotent()) {
    EXPECT_NE(built_in_passes().find(name), nullptr) << name;
    EXPECT_FALSE(reason.empty()) << name;
  }
}

}  // namespace
}  // namespace jointer::test

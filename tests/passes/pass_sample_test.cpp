// What holds of every built-in pass on graphs as captures have them: a joint graph and its pair
// with tensor parallel and FSDP, a whole training step, an FSDP2 trace. Each pass must take one of
// them at least, so that a new pass is looked at here, too, or a graph that it takes is added.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>

#include "core/capture/open.h"
#include "core/edit/edit.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "passes/presets/presets.h"
#include "tests/support/graphs.h"
#include "tests/support/legal_order.h"
#include "tests/support/paths.h"
#include "tests/support/run_pass.h"

namespace jointer::test {
namespace {

// A training step of three layers: what is kept for its backward is offloaded, saved, made again.
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

// FSDP2 without a compiler: a parameter that is filled, read and emptied; a gather with its buffer.
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

// A stage of a pipeline whose parameter is gathered in the forward alone.
constexpr std::string_view kStage = R"(
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

// Graphs at the ends of what there is: nothing but an input, nothing at all, a backward that does
// nothing, no collective, one that nobody waits for.
const std::vector<std::pair<std::string, std::string_view>>& ends() {
  static const std::vector<std::pair<std::string, std::string_view>> kEnds{
      {"an input alone", "x: f32[4] = input\nreturn [x]"},
      {"nothing", "return []"},
      {"an empty backward",
       "w: f32[4,4] = parameter\ndy: f32[4,4] = tangent\ny: f32[4,4] = aten.relu(w)\nreturn [y, "
       "dy]"},
      {"no gradients",
       "w: f32[4,4] = parameter\ndy: f32[4,4] = tangent\ny: f32[4,4] = aten.relu(w)\nreturn [y, "
       "None]"},
      {"no collectives",
       "x: f32[4,4] = input\na: f32[4,4] = aten.mm(x, x)\nb: f32[4,4] = aten.relu(a)\nreturn [b]"},
      {"a collective that nobody waits for",
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

// Why a second run may change something. Each of the others must change nothing.
const std::map<std::string, std::string>& why_not_idempotent() {
  static const std::map<std::string, std::string> kReasons{
      {"async_tensor_parallel", "a product that hid a collective may be fused with another one"},
      {"auto_tune", "what it found is where another search begins"},
      {"autobucketing_reordering", "buckets are collectives that may be moved and merged again"},
      {"default_partition", "what it made is a pair, which it refuses"},
      {"ep_overlap_chunk", "what it left whole may read what it put together, and be cut next"},
      {"greedy_bucketing_by_mb", "what one bucket left apart may fit beside another"},
      {"joint_transformer_block_bucketing_reordering", "a bucket of buckets is another bucket"},
      {"knapsack_budget", "what it made is a pair, which it refuses"},
      {"low_contention_collectives", "those that it replaced are in nobody's way any more"},
      {"min_cut_partition", "what it made is a pair, which it refuses"},
      {"multiplex_fw_bw_graph", "what it made is one graph, and it takes a pair"},
      {"partition_joint_graph", "what it made is a pair, which it refuses"},
      {"place_collectives", "one that was moved leaves others better places"},
      {"reorder_communication_preserving_peak_memory", "its budget counts from the peak it finds"},
      {"reorder_compute_and_comm_for_overlap", "so are the passes that it runs"},
      {"reorder_for_peak_memory", "where it finds a lower peak, it starts from there"},
      {"schedule_fsdp_comms_to_dense_regions", "the regions are those of the order that it finds"},
      {"sink_waits_iterative", "its budget counts from the peak it finds"},
      {"split_backward_fsdp_collectives", "what it made has nothing that it takes out"},
      {"split_di_dw_graph", "gradients of inputs stand where those of parameters stood"},
      {"split_forward_fsdp_collectives", "what it made has nothing that it takes out"},
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
    const auto cut = run_pipeline(parse(kStage), *parse_pipeline("partition_joint_graph"),
                                  built_in_passes(), {});
    if (!cut || cut->error) throw std::runtime_error("the stage cannot be cut");
    made.push_back({"a pipeline stage", *cut->steps.front().graph});
    return made;
  }();
  return kSamples;
}

// A step with the pass's defaults; a search is a short one, for it is run many times.
std::string step_of(const PassInfo& info) {
  return info.stage == PassStage::search ? info.name + "{evaluations=24}" : info.name;
}

Result<PipelineRun> run(const Graph& graph, const std::string& step,
                        const PassContext::Options& options = {}) {
  JOINTER_TRY(const Pipeline pipeline, parse_pipeline(step));
  return run_pipeline(graph, pipeline, built_in_passes(), options);
}

// "<hash> <hash of what it decided>", or why it refuses.
std::string outcome(const Graph& graph, const std::string& step) {
  const auto done = run(graph, step);
  if (!done) return done.error().message;
  if (done->error) return done->error->message;
  std::string text = graph_hash(*done->steps.front().graph);
  for (const Decision& each : done->steps.front().decisions)
    text += fmt::format("\n{} {} {}", each.node, each.action, each.reason);
  return text;
}

class EveryPassOnSamples : public testing::TestWithParam<std::string> {
 protected:
  // Runs the pass on each sample that it takes; `check` sees what it did.
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
      ASSERT_TRUE(done) << done.error().message;
      if (done->error) {
        // A refusal is one sentence that begins with the pass.
        EXPECT_EQ(done->error->kind, Error::Kind::usage) << done->error->message;
        EXPECT_EQ(done->error->message.find('\n'), std::string::npos);
        EXPECT_THAT(done->error->message, testing::StartsWith(info.name + ": "));
        continue;
      }
      ++taken;
      check(sample, done->steps.front());
    }
    EXPECT_GT(taken, 0U) << "no sample is a graph that it takes: add one";
  }
};

TEST_P(EveryPassOnSamples, LeavesALegalGraphAndAnEditThatIsLegal) {
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
    EXPECT_EQ(graph_hash(edited), graph_hash(sample.graph)) << "undone, it is what it was";
  });
}

// Whoever leaves a graph as it is says why, on the least graphs too.
TEST_P(EveryPassOnSamples, SaysWhyNothingWasDone) {
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
    ASSERT_TRUE(done) << done.error().message;
    if (!done->error) check(done->steps.front());
  }
}

TEST_P(EveryPassOnSamples, TwentyRunsOnAnyThreadGiveTheSame) {
  on_each([](const Sample& sample, const StepResult& step) {
    const std::string pass = step.step, expected = outcome(sample.graph, pass);
    EXPECT_THAT(expected, testing::StartsWith(graph_hash(*step.graph)));
    std::vector<std::future<std::string>> runs;
    for (int i = 0; i < 8; ++i)
      runs.push_back(
          std::async(std::launch::async, [&sample, pass] { return outcome(sample.graph, pass); }));
    for (auto& each : runs) EXPECT_EQ(each.get(), expected);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(outcome(sample.graph, pass), expected);
  });
}

TEST_P(EveryPassOnSamples, IsIdempotentOrSaysWhyNot) {
  const PassInfo info = built_in_passes().find(GetParam())->info;
  const auto reason = why_not_idempotent().find(info.name);
  ASSERT_EQ(reason == why_not_idempotent().end(), info.is_idempotent)
      << "the table above says why passes are not";
  if (!info.is_idempotent) return;
  on_each([&](const Sample&, const StepResult& step) {
    const auto again = run(*step.graph, info.name);
    ASSERT_TRUE(again && !again->error) << "it refuses what it made";
    EXPECT_EQ(graph_hash(*again->steps.front().graph), graph_hash(*step.graph));
    EXPECT_EQ(again->steps.front().retagged, 0U);
  });
}

// `jointer apply --budget`: whoever may make the peak higher keeps it where it is.
TEST_P(EveryPassOnSamples, KeepsThePeakWithinTheLimit) {
  for (const double share : {0.5, 1.0, 1.01}) {
    SCOPED_TRACE(share);
    const auto limit_of = [share](const Graph& graph) {
      return static_cast<std::int64_t>(
          share * static_cast<double>(step_figures(graph, {})->figures.peak_bytes));
    };
    on_each(
        [&](const Sample& sample, const StepResult& step) {
          if (step.graph->is_pair() != sample.graph.is_pair()) return;  // it counts other things
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

// A pass may refuse such a graph, in a sentence, and leaves it sound where it does not.
TEST_P(EveryPassOnSamples, TakesGraphsAtTheEnds) {
  for (const auto& [name, text] : ends()) {
    SCOPED_TRACE(name);
    const Graph graph = parse(text);
    const auto done =
        run_pipeline(graph, {{.pass = GetParam(), .given = {}}}, built_in_passes(), {});
    if (!done) {
      EXPECT_EQ(done.error().kind, Error::Kind::usage) << done.error().message;
      continue;
    }
    if (!done->error) continue;
    EXPECT_THAT(done->error->message, testing::StartsWith(GetParam() + ": "));
    EXPECT_EQ(done->error->message.find('\n'), std::string::npos);
    EXPECT_EQ(done->error->message.find("not sound"), std::string::npos) << done->error->message;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  const PassRegistry registry = built_in_passes();
  for (const Pass& pass : registry.passes()) names.push_back(pass.info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, EveryPassOnSamples, testing::ValuesIn(names()),
                         [](const auto& each) { return each.param; });

TEST(WhyNotIdempotent, IsSaidOfPassesAlone) {
  for (const auto& [name, reason] : why_not_idempotent()) {
    EXPECT_NE(built_in_passes().find(name), nullptr) << name;
    EXPECT_FALSE(reason.empty()) << name;
  }
}

}  // namespace
}  // namespace jointer::test

// Exports and imports of save plans.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "core/capture/native_writer.h"
#include "core/edit/edit.h"
#include "core/open/open.h"
#include "core/policy/export.h"
#include "core/policy/import.h"
#include "core/policy/nearest_list.h"
#include "core/policy/tag_differences.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/random_graph.h"
#include "tests/support/reference.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Two identical layers: a product, a sine of it, its view, an exponential; the backward reads all.
constexpr std::string_view kModel = R"(
  w: f32[8,8] = parameter
  x: f32[8,8] = input
  dy: f32[8,8] = tangent
  a0: f32[8,8] = aten.mm(x, w)  {layers.0.attention.wq}
  s0: f32[8,8] = aten.sin(a0)  {layers.0.mlp}
  v0: f32[64] = aten.view(s0, [64])  {layers.0.mlp}
  e0: f32[8,8] = aten.exp(s0)  {layers.0.mlp.act}
  a1: f32[8,8] = aten.mm(e0, w)  {layers.1.attention.wq}
  s1: f32[8,8] = aten.sin(a1)  {layers.1.mlp}
  v1: f32[64] = aten.view(s1, [64])  {layers.1.mlp}
  e1: f32[8,8] = aten.exp(s1)  {layers.1.mlp.act}
  g: f32[8,8] = aten.mul.Tensor(dy, e1)  {backward}
  g1: f32[8,8] = aten.mul.Tensor(g, a1)  {backward}
  h1: f32[64] = aten.view(g1, [64])  {backward}
  k1: f32[64] = aten.mul.Tensor(h1, v1)  {backward}
  g0: f32[8,8] = aten.mul.Tensor(g1, e0)  {backward}
  f0: f32[8,8] = aten.mul.Tensor(g0, a0)  {backward}
  k0: f32[64] = aten.mul.Tensor(k1, v0)  {backward}
  return [e1, f0, k0]
)";

SavePlan plan_of(const Graph& graph, const std::vector<std::string>& names) {
  SavePlan plan;
  for (const std::string& name : names) {
    if (const NodeId id = graph.find(name))
      plan.saved.push_back(id);
    else
      throw std::runtime_error("there is no node " + name);
  }
  return plan;
}

Graph with_edits(const Graph& graph, const std::vector<Edit>& edits) {
  Graph after = graph;
  for (const Edit& edit : edits) EXPECT_TRUE(apply(after, edit));
  return after;
}

std::string export_text(const Graph& graph, const SavePlan& plan, PolicyFormat format,
                        std::vector<std::string>* differences = nullptr) {
  const auto exported = must(export_plan(graph, plan, format, graph));
  if (differences != nullptr) *differences = exported.differences;
  return exported.text;
}

TEST(Export, WritesOperatorsAsPython) {
  const Graph graph = parse(kModel);
  std::vector<std::string> differences;
  const std::string text = export_text(graph, plan_of(graph, {"a0", "a1", "s0", "s1"}),
                                       PolicyFormat::torchtitan, &differences);
  EXPECT_THAT(differences, IsEmpty());
  EXPECT_EQ(text,
            "# Results that the forward of literal saves for backward; every other result is "
            "recomputed.\n"
            "import torch\n"
            "\n"
            "SAVE_OPS = {\n"
            "    torch.ops.aten.mm.default,  # 2 calls\n"
            "    torch.ops.aten.sin.default,  # 2 calls\n"
            "}\n");
}

TEST(Export, ASavedViewCountsAsItsBase) {
  const Graph graph = parse(kModel);
  std::vector<std::string> differences;
  const std::string text = export_text(graph, plan_of(graph, {"a0", "a1", "v0", "v1", "e0"}),
                                       PolicyFormat::torchtitan, &differences);
  EXPECT_THAT(text, HasSubstr("aten.sin.default"));
  EXPECT_THAT(text, Not(HasSubstr("view")));
}

TEST(Export, FindsEveryNthRules) {
  const Graph graph = parse(kModel);
  std::vector<std::string> differences;
  const std::string text = export_text(graph, plan_of(graph, {"a0", "s0", "s1", "e0", "e1"}),
                                       PolicyFormat::torchtitan, &differences);
  EXPECT_THAT(differences, IsEmpty());
  EXPECT_THAT(text, HasSubstr("torch.ops.aten.mm.default: (2, \"global\"),  # 2 calls"));
}

TEST(Export, ReportsWhatAListCannotExpress) {
  // The second product is saved and the first is not, which no rule expresses.
  const Graph graph = parse(kModel);
  std::vector<std::string> differences;
  const std::string text = export_text(graph, plan_of(graph, {"a1", "s0", "s1", "e0"}),
                                       PolicyFormat::torchtitan, &differences);
  EXPECT_THAT(
      differences,
      ElementsAre("This text recomputes results that the plan saves (aten.mm.default): a1."));
  EXPECT_THAT(text, HasSubstr("# These lists do not express the whole plan:\n# - This text"));
}

TEST(Export, SelectorsDistinguishModules) {
  const Graph graph = parse(kModel);
  std::vector<std::string> differences;
  // `e0` crosses into the second layer: the policy itself saves it if its reader is recomputed.
  EXPECT_EQ(export_text(graph, plan_of(graph, {"a0", "e0"}), PolicyFormat::selectors, &differences),
            "layers.0.*::aten.mm.default\n");
  EXPECT_THAT(differences, IsEmpty());
  EXPECT_EQ(
      export_text(graph, plan_of(graph, {"a0", "a1", "e0"}), PolicyFormat::selectors, &differences),
      "*::aten.mm.default | layers.0.*::aten.exp.default\n");
  EXPECT_THAT(differences, IsEmpty());
}

TEST(Export, SaysWhatHappensToUntaggedResults) {
  const TagDifferences joint{.untagged = {parse(kModel).find("a0")}};
  EXPECT_THAT(joint.sentences(parse(kModel)),
              ElementsAre("This text leaves the decision about results to the partitioner "
                          "(aten.mm.default): a0."));
  // No partitioner splits a flat training step.
  EXPECT_THAT(
      joint.sentences(parse("kind train_step\n" + std::string(kModel))),
      ElementsAre("This text leaves results without a tag, which a flat training step saves "
                  "if its backward or recomputed calls read them (aten.mm.default): a0."));
}

TEST(Export, ARecipeExpressesEverything) {
  const Graph graph = parse(kModel);
  SavePlan plan = plan_of(graph, {"a0", "s0", "a1"});
  plan.offloaded = {graph.find("s0")};
  const std::string text = export_text(graph, plan, PolicyFormat::recipe);
  const auto imported = must(import_policy(graph, text));
  EXPECT_EQ(imported.source, PolicySource::recipe);
  const Graph after = with_edits(graph, imported.edits);
  EXPECT_EQ(node(after, "a0").policy, MemoryPolicy::must_save);
  EXPECT_EQ(node(after, "s0").policy, MemoryPolicy::must_cpu_offload);
  EXPECT_EQ(node(after, "s1").policy, MemoryPolicy::must_recompute);
  EXPECT_EQ(node(after, "e0").policy, MemoryPolicy::must_recompute);
  EXPECT_EQ(node(after, "g").policy, MemoryPolicy::none);
}

// Two waits for one gather: torch's cut merges them, and the tag of the first one counts, which is
// unused in the graph as it is.
constexpr std::string_view kWaits = R"(
  x: f32[4] = input
  dy: f32[8] = tangent
  g: f32[8] = _c10d_functional.all_gather_into_tensor(x, 2, "0")
  w0: f32[8] = _c10d_functional.wait_tensor(g)
  w1: f32[8] = _c10d_functional.wait_tensor(g)
  y: f32[8] = aten.sin(w1)
  c: f32[8] = aten.cos(w1)  {backward}
  gx: f32[8] = aten.mul.Tensor(dy, c)  {backward}
  return [y, gx]
)";

TEST(Export, ARecipeTagsTheCallThatOthersMergeInto) {
  const Graph graph = parse(kWaits);
  const auto done = must(partition(graph, {.activation_budget = 0}));
  const auto exported = must(export_plan(done.joint, done.plan, PolicyFormat::recipe, graph));
  EXPECT_THAT(exported.differences, IsEmpty());
  const auto imported = must(import_policy(graph, exported.text));
  const auto again = must(partition(with_edits(graph, imported.edits)));
  EXPECT_EQ(again.plan.saved, done.plan.saved);
}

TEST(Export, ReportsTheResultOfPartitioningWithTheText) {
  const auto graph = must(
      open_graph({.path = source_path("resources/samples/llama_8b_tp2_fsdp2.joint.json.zst")}));
  const Graph tagged = with_edits(graph, {*tag_with_memory_policy(graph, "full")});
  const auto done = must(partition(tagged));
  for (const PolicyFormat format :
       {PolicyFormat::torchtitan, PolicyFormat::selectors, PolicyFormat::recipe}) {
    const auto exported = must(export_plan(done.joint, done.plan, format, graph));
    const bool differs = !exported.differences.empty() &&
                         exported.differences.front().starts_with("With this text, the plan has ");
    EXPECT_EQ(differs, format == PolicyFormat::torchtitan);
    if (differs) {
      EXPECT_THAT(exported.differences.front(), HasSubstr(" activations instead of 160."));
      ASSERT_TRUE(exported.effect);
      EXPECT_EQ(exported.effect->of_plan.activations, 160U);
      EXPECT_NEAR(static_cast<double>(exported.effect->of_text.peak_bytes),
                  static_cast<double>(exported.effect->of_plan.peak_bytes), 1e9);
      EXPECT_THAT(exported.text, HasSubstr("# - With this text, the plan has "));
    }
  }
}

// --- The choice among lists that do not express the plan ---

TEST(NearestList, KeepsChangesThatComeNearer) {
  const OperatorRule save{.save = true, .every_nth = {}, .wrong_bytes = 8};
  const OperatorRule leave{.save = false, .every_nth = {}, .wrong_bytes = 8};
  const OperatorRule second{.every_nth = EveryNth{.op = "c", .n = 2}, .wrong_bytes = 4};
  const std::vector<OperatorRules> rules{
      {"a", {{.save = true, .every_nth = {}}}}, {"b", {leave, save}}, {"c", {save, leave, second}}};
  std::size_t tries = 0;
  // b should be saved; of c, half.
  const auto distance = [&](const SacOptions& list) -> Result<ListDistance> {
    ++tries;
    const bool saves_b = std::ranges::count(list.save, "b") > 0;
    const bool saves_c = std::ranges::count(list.save, "c") > 0;
    if (!saves_c && list.every_nth.empty()) return fail(Error::Kind::usage, "no plan");
    return ListDistance{.figures = (saves_b ? 0.0 : 10.0) + (saves_c ? 5.0 : 0.0)};
  };
  const SacOptions found = nearest_list(rules, distance, 20);
  EXPECT_THAT(found.save, ElementsAre("a", "b"));
  EXPECT_THAT(found.every_nth, ElementsAre(*second.every_nth));
  EXPECT_LE(tries, 20U);
  EXPECT_THAT(nearest_list(rules, distance, 0).save, ElementsAre("a"));
}

// The plan saves some of many products: the list that saves about as much is nearer than one that
// saves all or none of them.
TEST(Export, AListSavesAboutAsMuchAsThePlan) {
  JOINTER_SLOW_TEST();
  const auto graph = must(
      open_graph({.path = source_path("resources/samples/llama_8b_tp2_fsdp2.joint.json.zst")}));
  const auto all = must(partition(graph));
  SavePlan plan = all.plan;
  std::size_t products = 0;
  std::erase_if(plan.saved, [&](NodeId id) {
    return all.joint.target(all.joint.node(id)) == "aten.mm.default" && ++products % 5 < 2;
  });
  ASSERT_GT(products, 20U);
  const auto exported = must(export_plan(all.joint, plan, PolicyFormat::torchtitan, graph));
  EXPECT_FALSE(exported.gives_plan);
  ASSERT_TRUE(exported.effect);
  const auto peak_with = [&](std::string text) {
    const auto imported = import_policy(graph, text);
    const auto solved = partition(with_edits(graph, imported.value().edits));
    return MemoryTimeline(*emit_pair(solved->joint, solved->plan)).peak_bytes();
  };
  const std::int64_t wanted = MemoryTimeline(*emit_pair(all.joint, plan)).peak_bytes();
  EXPECT_EQ(exported.effect->of_plan.peak_bytes, wanted);
  EXPECT_EQ(exported.effect->of_text.peak_bytes, peak_with(exported.text));
  const auto list = must(read_operator_set(exported.text));
  // The same list with all products, and with none.
  std::string others;
  for (const std::string& op : list.options.save)
    if (op != "aten.mm.default") others += op + ", ";
  const std::int64_t off = std::abs(exported.effect->of_text.peak_bytes - wanted);
  EXPECT_LE(off, std::abs(peak_with(others + "aten.mm.default") - wanted));
  EXPECT_LE(off, std::abs(peak_with(others) - wanted));
  // The list by which more bytes of each operator are right saves all products.
  const std::vector<OperatorRules> rules = operator_rules(graph, plan);
  std::vector<std::size_t> right;
  for (const OperatorRules& each : rules)
    right.push_back(static_cast<std::size_t>(
        std::ranges::min_element(each.rules, {}, &OperatorRule::wrong_bytes) - each.rules.begin()));
  std::string names;
  for (const std::string& op : list_of(rules, right).save) names += op + ", ";
  EXPECT_LT(off, std::abs(peak_with(names) - wanted));
}

// --- Reading ---

TEST(ReadOperatorSet, AcceptsPythonFromTorchtitan) {
  const auto list = must(read_operator_set(R"py(
def _get_default_save_ops() -> set:
    """The default set: torch.ops.aten.not_this.default"""
    compute_ops = [
        # torch.ops.aten.nor_this.default
        torch.ops.aten._scaled_dot_product_cudnn_attention.default,
        torch._higher_order_ops.flex_attention,
        torch.ops.aten.max.default,
        (torch._higher_order_ops, "inductor_compiled_code"),
        (torch.ops, "torch_attn._varlen_attn.default"),
    ]
    aten = torch.ops.aten
    more = {aten.mm.default, torch.ops.higher_order.flex_attention, prims.div}
    save_ops = {op.default for op in get_default_op_list().compute_intensive_ops}
  )py"));
  EXPECT_THAT(list.options.save,
              ElementsAre("aten._scaled_dot_product_cudnn_attention.default", "flex_attention",
                          "aten.max.default", "inductor_compiled_code",
                          "torch_attn._varlen_attn.default", "aten.mm.default", "prims.div"));
  EXPECT_TRUE(list.names_torchs_list);
  EXPECT_THAT(list.options.every_nth, IsEmpty());
}

TEST(ReadOperatorSet, AcceptsPlainNamesAndStrings) {
  const auto list = must(read_operator_set(R"(["aten.mm.default", "aten.bmm", "a.b"], aten.relu)"));
  EXPECT_THAT(list.options.save, ElementsAre("aten.mm.default", "aten.bmm", "aten.relu"));
  EXPECT_FALSE(read_operator_set("def f(): return 'x'"));
  EXPECT_FALSE(read_operator_set(""));
  EXPECT_FALSE(read_operator_set("RECOMPUTE_EVERY_NTH = {aten.mm: (0, 'layer')}"));
  EXPECT_FALSE(read_operator_set("RECOMPUTE_EVERY_NTH = {aten.mm: 2"));
  const auto refusal = [](const char* text) {
    const auto read = read_operator_set(text);
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(refusal("RECOMPUTE_EVERY_NTH = {aten.mm: ('layer'), aten.bmm: 2}"),
            "RECOMPUTE_EVERY_NTH: aten.mm has no number; write, for example, aten.mm: 2");
  EXPECT_EQ(refusal("RECOMPUTE_EVERY_NTH = {aten.bmm: 2, aten.mm}"),
            "RECOMPUTE_EVERY_NTH: aten.mm has no number; write, for example, aten.mm: 2");
  // The number of an unknown operator must not become that of the operator before it.
  for (const char* const text : {"RECOMPUTE_EVERY_NTH = {aten.mm: 2, my_operator: 3}",
                                 "RECOMPUTE_EVERY_NTH = {my_operator: 3}"})
    EXPECT_THAT(refusal(text), HasSubstr("`3` is not the number of an operator"));
}

TEST(ReadOperatorSet, AcceptsShortNamesOfTorchOps) {
  const auto list = must(read_operator_set(
      "ops = torch.ops\nlib = ops.aten\nsave = {ops.aten.mm.default, lib.bmm, ops.prims.div}"));
  EXPECT_THAT(list.options.save, ElementsAre("aten.mm.default", "aten.bmm", "prims.div"));
}

TEST(ReadOperatorSet, DoesNotIgnoreModules) {
  const auto list =
      read_operator_set("a::torch.ops.aten.mm.default, layers.*::torch.ops.aten.bmm.default");
  ASSERT_FALSE(list);
  EXPECT_THAT(list.error().message,
              HasSubstr("`::` before aten.mm.default is allowed only in selectors"));
}

TEST(ReadSelectors, AcceptsOnePerLineAndPythonNames) {
  const auto selectors =
      must(read_selectors("# of the attention\nlayers.*.attention::torch.ops.aten.mm.default\n\n"
                          "layers.*.mlp::aten.mm |\n*::torch.ops.higher_order.flex_attention\n"));
  EXPECT_THAT(selectors, ElementsAre("layers.*.attention::aten.mm.default", "layers.*.mlp::aten.mm",
                                     "*::flex_attention"));
  EXPECT_THAT(*read_selectors(kNoSelectors), IsEmpty());
  EXPECT_FALSE(read_selectors("# only a comment"));
}

TEST(ReadSelectors, AcceptsCommandLines) {
  const auto selectors = read_selectors(
      "'layers.*.moe.router.gate::aten.mm.dtype | layers.*.attention.wkv_a::aten.mm.default'\n");
  ASSERT_TRUE(selectors);
  EXPECT_THAT(*selectors, ElementsAre("layers.*.moe.router.gate::aten.mm.dtype",
                                      "layers.*.attention.wkv_a::aten.mm.default"));
  for (const std::string text : {"", "aten.mm", "a::", "a::b |", "a::b | | c::d", "a::b c::d"})
    EXPECT_FALSE(read_selectors(text)) << text;
}

constexpr std::string_view kLog =
    "INFO:torch._functorch.partitioners:Ops banned from re-materialization: "
    "OrderedSet(['aten.mm'])\n"
    "INFO:torch._functorch.partitioners:Theoretical Activations Stored: 0.00 GB\n"
    "INFO:torch._functorch.partitioners:Theoretical Per Activation Storage Sizes: "
    "[(256, 'a0'), (256, 'e1'), (512, 'w'), (256, 'gone')]\n";

TEST(ReadPartitionerLog, AcceptsPrintedLines) {
  const auto logs = must(read_partitioner_log(kLog));
  ASSERT_THAT(logs, SizeIs(1));
  EXPECT_THAT(logs.front().banned_operators, ElementsAre("aten.mm"));
  ASSERT_THAT(logs.front().saved, SizeIs(4));
  EXPECT_EQ(logs.front().saved[0].node, "a0");
  EXPECT_EQ(logs.front().saved[0].bytes, 256);
  EXPECT_FALSE(read_partitioner_log("nothing of it"));
  EXPECT_FALSE(read_partitioner_log("Theoretical Per Activation Storage Sizes: [(12, 'a"));
  EXPECT_FALSE(read_partitioner_log(R"({"Min Cut Solution Saved Values": [3]})"));
  EXPECT_FALSE(read_partitioner_log(
      R"({"Min Cut Solution Saved Values": [], "Knapsack Saved Nodes": [0]})"));
  EXPECT_FALSE(
      read_partitioner_log(R"({"Min Cut Solution Saved Values": )" + std::string(5000, '[') + "}"));
}

TEST(ReadPartitionerLog, AcceptsAListWrappedByATerminal) {
  const auto logs = must(read_partitioner_log(
      "Theoretical Per Activation Storage Sizes: [(256, 'a0'),\n (64, 'e1')]\nand on"));
  EXPECT_THAT(logs.front().saved, SizeIs(2));
  for (const std::string text : {"[(256, 'a0'),", "[(256, 'a0')", "[(256, 'a0')\nINFO: other",
                                 "[(256, 'a0'), (64,", "(256, 'a0')]"})
    EXPECT_FALSE(read_partitioner_log("Theoretical Per Activation Storage Sizes: " + text)) << text;
}

TEST(ReadPartitionerLog, AcceptsAPayloadOfSeveralLines) {
  const auto logs = must(read_partitioner_log(
      "V1121 02:41:50.572000 1 torch/x.py:1] {\"artifact\": {\"name\": \"other\"}}\n"
      "\t{\n\t  \"a\": 1\n\t}\n"
      "V1121 02:41:50.572000 1 torch/x.py:1] {\"artifact\": {\"name\": "
      "\"min_cut_information\"}}\n"
      "\t{\n\t  \"Min Cut Solution Saved Values\": [\n\t    \"a0\",\n\t    \"e1\"\n\t  ]\n\t}\n"
      "V1121 02:41:50.572000 1 torch/x.py:1] {}\n"));
  ASSERT_THAT(logs, SizeIs(1));
  EXPECT_THAT(logs.front().saved, SizeIs(2));
}

struct Foreign {
  std::string text, what;
};

TEST(Import, RefusesOtherFilesAndNamesThem) {
  const Graph graph = parse(kModel);
  const std::string op = "\"aten.mm.default\"";
  for (const Foreign& each : {
           Foreign{write_native(graph), "a capture of a graph"},
           Foreign{R"({"name": "x", "saved_count": 1, "by_operator": [{"target": )" + op + "}]}",
                   "the output of `jointer sac --json`"},
           Foreign{R"({"graphs": {"x": )" + op + "}}", "got JSON"},
           Foreign{"[ {\"target\": " + op + "}]", "got JSON"},
           Foreign{"def forward(self, x):\n    mm = torch.ops.aten.mm.default(x, x)\n",
                   "the text of a graph"},
           Foreign{"V1121 02:41:50.572000 1 torch/x.py:1] {\"has_payload\": \"2\"}\n"
                   "\tmm = torch.ops.aten.mm.default(x, x)\n",
                   "a TORCH_TRACE log"},
           Foreign{"I1121 02:41:50.572000 1 torch/x.py:1] saw aten.mm.default\n", "a log"},
           Foreign{" \n", "the text is empty"},
       }) {
    const auto imported = import_policy(graph, each.text);
    ASSERT_FALSE(imported) << each.what;
    EXPECT_EQ(imported.error().kind, Error::Kind::input);
    EXPECT_THAT(imported.error().message, HasSubstr(each.what));
  }
}

TEST(Import, ReportsWhatItRead) {
  const Graph graph = parse(kModel);
  const auto what = [&](std::string_view text) {
    const auto imported = import_policy(graph, text);
    return imported ? imported->what : imported.error().message;
  };
  EXPECT_EQ(what("torch.ops.aten.mm.default, aten.sin"), "operator set, 2 operators");
  EXPECT_EQ(what("layers.*.attention::torch.ops.aten.mm.default"), "selectors, 1 selector");
  EXPECT_EQ(what(kLog), "partitioner log, 4 saved values");
  EXPECT_EQ(what("a::torch.ops.aten.mm.default, b::torch.ops.aten.mm.default").substr(0, 11),
            "`::` before");
}

TEST(Import, ALogTagsWhatItSavedAndReportsDifferences) {
  const Graph graph = parse(kModel);
  const auto imported = must(import_policy(graph, kLog));
  const Graph after = with_edits(graph, imported.edits);
  EXPECT_EQ(node(after, "a0").policy, MemoryPolicy::must_save);
  EXPECT_EQ(node(after, "e1").policy, MemoryPolicy::must_save);
  EXPECT_EQ(node(after, "s0").policy, MemoryPolicy::must_recompute);
  EXPECT_THAT(
      imported.notes,
      ElementsAre(
          "1 of the 4 values that the log saves is not in this graph: gone.",
          "1 value is of a different size in the log: w has 256 B here and 512 B in the log."));
  const Graph other = parse("x: f32[4] = input\ny: f32[4] = aten.relu(x)\nreturn [y]");
  EXPECT_FALSE(import_policy(other, kLog));
}

TEST(Import, ALogMayEndWithAPartitioningThatSavesNothing) {
  const Graph graph = parse(kModel);
  const auto imported = must(
      import_policy(graph, std::string(kLog) + "Theoretical Per Activation Storage Sizes: []\n"));
  EXPECT_EQ(imported.what, "partitioner log, 4 saved values");
  EXPECT_THAT(imported.notes, Contains("The log contains 2 partitionings; number 1 is used."));
}

TEST(Import, NamesOperatorsThatTheGraphLacks) {
  const auto imported = must(import_policy(parse(kModel), "aten.mm.default, aten.bmm.default"));
  EXPECT_THAT(imported.notes, ElementsAre("No call in this graph matches aten.bmm.default."));
  EXPECT_THAT(import_policy(parse(kModel), "aten.bmm.default").error().message,
              HasSubstr("no call in this graph"));
}

// --- Round trips ---

// An exported plan, read back, saves the same values except for those that the export reported.
void expect_round_trip(const Graph& graph, const SavePlan& plan) {
  for (const PolicyFormat format :
       {PolicyFormat::torchtitan, PolicyFormat::selectors, PolicyFormat::recipe}) {
    const auto exported = export_plan(graph, plan, format, graph);
    if (!exported) RC_FAIL(exported.error().message);
    const auto imported = import_policy(graph, exported->text);
    if (!imported) RC_FAIL(imported.error().message + "\n" + exported->text);
    Graph after = graph;
    for (const Edit& edit : imported->edits) RC_ASSERT(apply(after, edit).has_value());
    const TagDifferences differences = find_tag_differences(after, plan);
    auto said = differences.sentences(after);
    if (format == PolicyFormat::recipe) {
      RC_ASSERT(differences.lost.empty() && differences.extra.empty() &&
                differences.untagged.empty());
    } else {
      auto reported = exported->differences;
      std::erase_if(reported, [](const std::string& text) {
        return text.find("ith this text") != std::string::npos;
      });
      RC_ASSERT(said == reported);
    }
  }
}

// Some values of the forward, all of which may be saved.
SavePlan random_plan(const Graph& graph, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  SavePlan plan;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind == NodeKind::call && n.phase == Phase::forward &&
        graph.single_tensor(n) != nullptr && random() % 3 == 0)
      plan.saved.push_back(id);
  }
  return plan;
}

RC_GTEST_PROP(ExchangeProperty, ReportedDifferencesAreTheActualOnes, (std::uint64_t seed)) {
  const Graph graph = random_graph(seed, {.calls = 40});
  expect_round_trip(graph, random_plan(graph, seed));
}

class PlansOfCaptures : public ::testing::TestWithParam<std::string> {};

TEST_P(PlansOfCaptures, ThePlanOfSacProducesSacsList) {
  JOINTER_NEEDS_SHARED();
  const auto graph =
      must(open_graph({.path = capture_path(GetParam() + "_graph_sac.joint"), .backward = {}}));
  const auto facts =
      load_json(shared_directory() + "/reference/summary.json")["graphs"][GetParam()];
  SavePlan plan;
  for (const auto& row : facts["partition"]["graph_sac"]["min_cut"]["saved"])
    plan.saved.push_back(graph.find(row[0].get<std::string>()));
  const auto exported = must(export_plan(graph, plan, PolicyFormat::torchtitan, graph));
  EXPECT_THAT(exported.differences, IsEmpty());
  const auto list = must(read_operator_set(exported.text));
  EXPECT_THAT(list.options.save, ElementsAre("_c10d_functional.reduce_scatter_tensor.default",
                                             "aten._scaled_dot_product_flash_attention.default"));
  EXPECT_THAT(list.options.every_nth, ElementsAre(EveryNth{}));
}

INSTANTIATE_TEST_SUITE_P(Captures, PlansOfCaptures,
                         ::testing::Values("llama3_debug_tp2_fsdp2", "llama3_8b_tp2_fsdp2"));

}  // namespace
}  // namespace jointer::test

#include "core/workspace/workspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/file_content.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

Edit save(const std::string& node) {
  return {.title = "Save " + node,
          .changes = {SetPolicy{.select = node, .policy = MemoryPolicy::must_save}}};
}

Workspace example() {
  Workspace workspace;
  workspace.title = "small";
  workspace.capture = {.path = "/captures/fw.json",
                       .backward = "/captures/bw.json",
                       .graph = 2,
                       .assume = "u0=64",
                       .hash = "abc+def"};
  for (const char* node : {"a", "b", "c"}) workspace.history.add(save(node));
  workspace.history.add(HistoryEntry{.title = "Go to best", .keep = 1, .edits = {save("d")}});
  // Solving again changes no nodes.
  const Edit solve{.title = "Solve again", .by = "min_cut_partition{activation_budget=0.5}"};
  workspace.history.add(solve);
  workspace.history.place = 3;
  workspace.history.states = {{.name = "best", .edits = {save("a"), save("d")}},
                              {.name = "solved", .edits = {save("a"), solve}}};
  workspace.options = {.device = "b200", .estimator = "simple", .optimizer = "adamw"};
  workspace.layout = "AAAA";
  BenchmarkResult result;
  result.graph_name = "small";
  result.request.program.graph = "/captures/fw.json";
  result.ranks.resize(1);
  workspace.benchmarks.push_back(result);
  return workspace;
}

TEST(Workspace, RoundTrips) {
  const TemporaryFolder folder;
  const std::string path = folder / "small.jointer";
  ASSERT_TRUE(write_workspace(path, example()));
  const auto read = read_workspace(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->title, "small");
  EXPECT_EQ(read->history, example().history);
  EXPECT_EQ(read->options, example().options);
  EXPECT_EQ(read->layout, "AAAA");
  EXPECT_EQ(read->capture.graph, 2U);
  EXPECT_EQ(read->capture.path, "/captures/fw.json");
  ASSERT_EQ(read->benchmarks.size(), 1U);
  EXPECT_EQ(read->benchmarks[0].graph_name, "small");
  // Byte for byte.
  EXPECT_EQ(workspace_text(*read), content(path));
  // One edit per line.
  EXPECT_NE(content(path).find("\n    {\"title\":\"Save b\",\"changes\":["), std::string::npos);
}

TEST(Workspace, PathsAreRelativeToTheFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "a/b");
  Workspace workspace = example();
  workspace.capture.path = folder / "a/x.json";
  workspace.capture.backward = folder / "a/b/y.json";
  const std::string path = folder / "a/b/w.jointer";
  ASSERT_TRUE(write_workspace(path, workspace));
  const auto read = read_workspace(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->capture.relative, "../x.json");
  EXPECT_EQ(read->capture.relative_backward, "y.json");
}

TEST(Workspace, KeepsUnknownMembers) {
  const std::string text = R"({"format":"jointer-workspace","version":1,"title":"t",
    "capture":{"absolute":"/x.json","hash":"h","mood":"good"},
    "edits":[{"title":"e","changes":[],"color":"blue"}],"place":1,
    "states":[{"name":"s","edits":[],"rating":5}],
    "options":{"device":"h100","volume":11},"of":{"the":"future"}})";
  const auto read = parse_workspace(text, "test");
  ASSERT_TRUE(read) << read.error().message;
  const std::string again = workspace_text(*read);
  for (const char* kept : {R"("mood":"good")", R"("color":"blue")", R"("rating":5)",
                           R"("volume":11)", R"("of":{"the":"future"})"})
    EXPECT_NE(again.find(kept), std::string::npos) << kept << "\n" << again;
  EXPECT_EQ(workspace_text(*parse_workspace(again, "again")), again);
}

TEST(Workspace, ErrorsNameTheLocation) {
  const auto wrong = [](std::string_view members) {
    const std::string text =
        R"({"format":"jointer-workspace","version":1,"capture":{"path":"x","hash":""},"edits":[],)"
        R"("place":0)" +
        std::string(members) + "}";
    const auto read = parse_workspace(text, "w");
    return read ? std::string("nothing") : read.error().message;
  };
  EXPECT_EQ(wrong(""), "nothing");
  EXPECT_EQ(wrong(R"(,"version":2)"),
            "w: version 2 of the workspace format is not supported: this program reads version 1; "
            "use a newer Jointer");
  EXPECT_EQ(wrong(R"(,"place":1)"), "w: `place`: expected an integer from 0 to 0");
  EXPECT_EQ(wrong(R"(,"place":-1)"), "w: `place`: expected an integer from 0 to 0");
  EXPECT_EQ(wrong(R"(,"edits":7)"), "w: `edits` is missing or not a list");
  EXPECT_EQ(wrong(R"(,"edits":[{"keep":3,"edits":[]}])"),
            "w: edit 0: `keep`: expected an integer from 0 to 0");
  EXPECT_EQ(wrong(R"(,"edits":[{"changes":[{}]}])"),
            "w: edit 0: edit, change 0: not a known change (move, policy, insert, remove, "
            "replace); use a newer Jointer");
  EXPECT_EQ(wrong(R"(,"states":7)"), "w: `states`: expected a list");
  EXPECT_EQ(wrong(R"(,"states":[{}])"), "w: state 0: `name` is missing or not a string");
  EXPECT_EQ(wrong(R"(,"states":[{"name":"s"}])"), "w: state s: `edits`: expected a list");
  EXPECT_EQ(wrong(R"(,"capture":7)"), "w: `capture`: expected an object");
  EXPECT_EQ(wrong(R"(,"capture":{})"), "w: `capture` has no path");
  EXPECT_EQ(wrong(R"(,"benchmarks":7)"), "w: `benchmarks`: expected a list");
  EXPECT_EQ(wrong(R"(,"kernel_moves":{"place":0})"), "w: `kernel_moves`: `moves` is missing");
  EXPECT_EQ(wrong(R"(,"kernel_moves":{"moves":[{"kernel":{"nodes":[]}}],"place":1})"),
            "w: `kernel_moves`: `moves` 0: `anchor` is missing");
  EXPECT_EQ(wrong(R"(,"kernel_moves":{"moves":[],"place":1})"),
            "w: `kernel_moves`: `place`: expected an integer from 0 to 0");
  EXPECT_EQ(wrong(R"(,"benchmarks":[7])").substr(0, 15), "w: benchmark 0:");
  EXPECT_EQ(parse_workspace("[]", "w").error().message,
            "w: not a workspace: expected `format` to be \"jointer-workspace\"");
  EXPECT_EQ(parse_workspace("{", "w").error().message, "w: invalid JSON near byte 2");
}

TEST(Workspace, KeepsTheEditedPipeline) {
  Workspace workspace = example();
  workspace.pipeline = {.text = "apply_sac\n~mine{k=\"two words\"}\n",
                        .sources = {{"mine", "Python: /home/me/mine.py"}},
                        .extra = R"("later":[1])"};
  const auto read = parse_workspace(workspace_text(workspace), "w.jointer");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->pipeline, workspace.pipeline);
  workspace.pipeline = {};
  EXPECT_THAT(workspace_text(workspace), testing::Not(testing::HasSubstr("pipeline")));
}

TEST(Workspace, KeepsMarks) {
  Workspace workspace = example();
  EXPECT_THAT(workspace_text(workspace), testing::Not(testing::HasSubstr("\"marks\"")));
  workspace.marks = {{},
                     {.node = "mm_1"},
                     {.node = "backward:mm_1", .is_after_release = true, .extra = R"("note":"x")"}};
  const auto read = parse_workspace(workspace_text(workspace), "w.jointer");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->marks, workspace.marks);
  EXPECT_TRUE(parse_workspace(workspace_text(example()), "w.jointer")->marks.empty());
}

TEST(Workspace, KeepsMovesOfKernels) {
  Workspace workspace = example();
  EXPECT_THAT(workspace_text(workspace), testing::Not(testing::HasSubstr("kernel_moves")));
  workspace.kernel_moves = {
      .moves = {{.kernel = {.nodes = {"mm_1"}}, .anchor = {.nodes = {"mul", "exp"}}},
                {.kernel = {.nodes = {"backward:wait"}, .number = 2},
                 .anchor = {},
                 .is_after = true,
                 .part = 1,
                 .extra = R"("note":"x")"}},
      .place = 1,
      .extra = R"("later":[1])"};
  const auto read = parse_workspace(workspace_text(workspace), "w.jointer");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kernel_moves, workspace.kernel_moves);
  EXPECT_EQ(workspace_text(*read), workspace_text(workspace));
  EXPECT_EQ(parse_workspace(workspace_text(example()), "w.jointer")->kernel_moves,
            NamedKernelMoves());
}

TEST(Workspace, IsIdentifiedByItsBeginning) {
  EXPECT_TRUE(is_workspace(workspace_text(example())));
  EXPECT_FALSE(is_workspace(""));
  EXPECT_FALSE(is_workspace("jointer-workspace"));
  EXPECT_FALSE(is_workspace(R"({"format":"jointer-capture"})"));
}

TEST(Workspace, AFailedSaveKeepsTheOldFile) {
  const TemporaryFolder folder;
  const auto saved = write_workspace(folder / "none/w.jointer", example());
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, Error::Kind::run);
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

TEST(WorkspaceHistory, EntriesLeadToStates) {
  const History history = example().history;
  const auto titles = [&](std::size_t place) {
    std::string text;
    for (const Edit& edit : history.edits_at(place)) text += edit.title.back();
    return text;
  };
  EXPECT_EQ(titles(0), "");
  EXPECT_EQ(titles(2), "ab");
  EXPECT_EQ(titles(3), "abc");
  EXPECT_EQ(titles(4), "ad");
  EXPECT_EQ(history.edits().size(), 3U);
}

TEST(WorkspaceHistory, ANewEntryReplacesUndoneOnes) {
  History history = example().history;
  history.place = 1;
  history.add(save("e"));
  ASSERT_EQ(history.entries.size(), 2U);
  EXPECT_EQ(history.place, 2U);
  EXPECT_EQ(history.edits().back(), save("e"));
}

}  // namespace
}  // namespace jointer::test

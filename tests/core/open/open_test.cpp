#include "core/open/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <set>

#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/graph/literal.h"
#include "core/open/readers.h"
#include "core/workspace/workspace.h"
#include "core/workspace/workspace_capture.h"
#include "tests/support/sanitized.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kGraph = "x: f32[2] = input\ny: f32[2] = aten.neg(x)\nreturn [y]\n";

// A folder with a capture, `graph.json`, and a workspace of it, `work.jointer`.
class Open : public testing::Test {
 protected:
  void SetUp() override {
    auto graph = parse_literal(kGraph);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    hash_ = graph_hash(*graph);
    write("graph.json", write_native(*graph));
    Workspace workspace;
    workspace.capture.path = path("graph.json");
    workspace.capture.hash = hash_;
    ASSERT_TRUE(write_workspace(path("work.jointer"), workspace).has_value());
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, std::string_view bytes) const {
    ASSERT_TRUE(write_bytes(path(name), bytes).has_value());
  }
  static std::string error_of(const OpenRequest& request) {
    const auto graph = open_graph(request);
    return graph ? "no error" : graph.error().message;
  }

  TemporaryFolder folder_;
  std::string hash_;
};

TEST(GraphReaders, HaveANameAndCanOpenFiles) {
  std::set<std::string_view> names;
  for (const GraphReader* reader : graph_readers()) {
    EXPECT_TRUE(names.insert(reader->name).second) << reader->name;
    EXPECT_FALSE(reader->pattern.empty()) << reader->name;
    EXPECT_THAT(formats_text(), HasSubstr(std::string(reader->title)));
    ASSERT_NE(reader->recognizes, nullptr) << reader->name;
    const bool holds_graphs = reader->list != nullptr && reader->append != nullptr;
    EXPECT_NE(holds_graphs, reader->open != nullptr) << reader->name;
  }
}

TEST_F(Open, AWorkspaceIsFoundByItsNameOrItsContent) {
  std::filesystem::copy_file(path("work.jointer"), path("work.json"));
  const auto text = read_bytes(path("work.json"));
  ASSERT_TRUE(text.has_value()) << text.error().message;
  write("work.json.zst", text->view());
  for (const char* name : {"work.jointer", "work.json", "work.json.zst"})
    EXPECT_TRUE(is_workspace_file(path(name))) << name;
  EXPECT_FALSE(is_workspace_file(path("graph.json")));
  for (const char* name : {"graph.json", "work.jointer", "work.json", "work.json.zst"}) {
    const auto graph = open_graph({.path = path(name)});
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    EXPECT_EQ(graph_hash(*graph), hash_) << name;
  }
  write("damaged.jointer", "{}");
  EXPECT_THAT(error_of({.path = path("damaged.jointer")}), HasSubstr("not a workspace"));
}

TEST_F(Open, AWorkspaceIsNotAHalf) {
  EXPECT_THAT(error_of({.path = path("work.jointer"), .backward = path("graph.json")}),
              HasSubstr("is a workspace, which refers to a complete graph"));
  const auto forward = parse_literal("kind forward\n" + std::string(kGraph));
  ASSERT_TRUE(forward.has_value()) << forward.error().message;
  write("forward.json", write_native(*forward));
  EXPECT_THAT(error_of({.path = path("forward.json"), .backward = path("work.jointer")}),
              HasSubstr("a workspace cannot be the backward half"));
}

TEST_F(Open, AWorkspaceIsNotTheCaptureOfAWorkspace) {
  for (const char* name : {"loop.jointer", "loop.json", "loop.json.zst"}) {
    Workspace workspace;
    workspace.capture.path = path(name);
    ASSERT_TRUE(write_workspace(path(name), workspace).has_value());
    EXPECT_THAT(error_of({.path = path(name)}), HasSubstr("cannot be the capture of another"))
        << name;
  }
}

TEST_F(Open, WorkspacesInAFolderAreSkipped) {
  const auto entries = list_graphs(folder_.path().string());
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  ASSERT_EQ(entries->size(), 1U);
  EXPECT_EQ(entries->front().file, path("graph.json"));
}

TEST_F(Open, OtherFilesInAFolderAreIgnoredAndCounted) {
  write("a.r.json", R"({"format": "jointer-recipe", "version": 1, "edits": []})");
  write("b.json", R"({"peak_bytes": 1})");
  write("c.json.zst", R"({"peak_bytes": 1})");
  const auto another = parse_literal(kGraph);
  write("z.json.zst", write_native(*another));
  const auto entries = list_graphs(folder_.path().string());
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ(entries->back().file, path("z.json.zst"));
  // work.jointer is the fourth.
  EXPECT_THAT(error_of({.path = folder_.path().string()}),
              HasSubstr("contains 2 graphs (4 files ignored)"));
}

TEST_F(Open, AFolderThatCannotBeReadIsNotAnEmptyOne) {
  if (JOINTER_IS_SANITIZED) GTEST_SKIP() << "the sanitizer itself needs files";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto entries = list_graphs(folder_.path().string());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(entries.has_value());
  EXPECT_EQ(entries.error().kind, Error::Kind::input);
  EXPECT_EQ(entries.error().message, folder_.path().string() + ": Too many open files");
}

TEST_F(Open, ARecipeIsNotACapture) {
  write("a.r.json", R"({"format": "jointer-recipe", "version": 1, "edits": []})");
  EXPECT_THAT(error_of({.path = path("a.r.json")}),
              HasSubstr("expected a capture, got a Jointer recipe"));
}

TEST_F(Open, AnUnknownFormatNamesTheKnownOnes) {
  write("notes.txt", "Some notes.");
  EXPECT_THAT(error_of({.path = path("notes.txt")}),
              HasSubstr("unknown format; known formats: workspace, native capture, "));
}

}  // namespace
}  // namespace jointer::test

// Tests plugins as shared objects, in the program's own host.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "core/base/environment.h"
#include "core/base/json_text.h"
#include "core/open/open.h"
#include "core/process/child.h"
#include "plugins/cpp/plugin.h"
#include "plugins/cpp/plugin_folder.h"
#include "plugins/cpp/plugins.h"
#include "tests/plugins/fixture.h"

namespace jointer::test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

class CppPluginTest : public HostedPassTest {
 protected:
  // A folder with a copy of the module, described by `json` or by the module itself.
  std::string make_plugin(const std::string& name, const std::string& json = {}) {
    const std::string path = folder / name;
    std::filesystem::create_directories(path);
    std::filesystem::copy_file(std::string(JOINTER_TEST_MODULES "/") + name + ".so",
                               path + '/' + name + ".so",
                               std::filesystem::copy_options::overwrite_existing);
    if (!json.empty()) {
      std::ofstream(path + "/plugin.json") << json;
    } else {
      ChildOptions describe;
      describe.command = {sibling_program("jointer-plugin-host"), "--describe",
                          path + '/' + name + ".so", "For tests."};
      auto child = Child::start(describe);
      EXPECT_TRUE(child) << child.error().message;
      EXPECT_TRUE(child->wait().succeeded()) << child->errors();
    }
    return path;
  }
  // A description that claims to fit, whatever the module is.
  static std::string description(const std::string& id, const std::string& pass = "mine",
                                 std::uint32_t interface = kPluginInterface,
                                 const std::string& built_with = kPluginBuild) {
    OrderedJson pass_json{{"name", pass}};
    return write_json({{"format", "jointer-plugin"},
                       {"id", id},
                       {"library", id + ".so"},
                       {"interface", interface},
                       {"built_with", built_with},
                       {"passes", OrderedJson::array({pass_json})}});
  }
  void add_bad_passes() {
    const auto added = add_plugin(registry, make_plugin("bad_passes"), options);
    ASSERT_TRUE(added) << added.error().message;
  }
};

TEST_F(CppPluginTest, IsListedWithoutBeingLoaded) {
  // The library is not a shared object, which only matters when a pass runs.
  const std::string path = make_plugin("no_entry", description("no_entry"));
  std::ofstream(path + "/no_entry.so") << "nothing";
  ASSERT_TRUE(add_plugin(registry, path, options));
  const Pass* pass = registry.find("mine");
  ASSERT_NE(pass, nullptr);
  EXPECT_EQ(pass->info.source, "plugin: " + path);
  EXPECT_THAT(failure("mine"), AllOf(StartsWith("mine: "), HasSubstr("cannot be loaded")));
}

TEST_F(CppPluginTest, DeclaresItself) {
  add_bad_passes();
  const Pass* pass = registry.find("swap");
  ASSERT_NE(pass, nullptr);
  EXPECT_EQ(pass->info.summary, "A pass for tests.");
  ASSERT_EQ(pass->info.parameters.size(), 3U);
  EXPECT_EQ(range_text(pass->info.parameters[2]), "0 .. 1");
}

TEST_F(CppPluginTest, ReturnsEdits) {
  add_bad_passes();
  const NodeId b = graph.find("b");
  const PipelineRun ran = run("swap{node=b,before=a}");
  ASSERT_EQ(ran.steps.size(), 1U) << ran.error->message;
  const StepResult& step = ran.steps[0];
  EXPECT_EQ(order_of(*step.graph), "x b a s w c output");
  EXPECT_EQ(step.moved, 1U);
  EXPECT_EQ(step.edit.changes.size(), 1U);
  EXPECT_EQ(step.graph->find("b"), b);
  ASSERT_EQ(step.decisions.size(), 1U);
  EXPECT_EQ(step.decisions[0],
            (Decision{"swap", "b", "moved", "Requested by the test.", "1 position earlier"}));
}

TEST_F(CppPluginTest, IsDeterministic) {
  add_bad_passes();
  const PipelineRun first = run("swap"), second = run("swap");
  ASSERT_EQ(first.steps.size() + second.steps.size(), 2U);
  EXPECT_EQ(graph_hash(*first.steps[0].graph), graph_hash(*second.steps[0].graph));
  EXPECT_EQ(first.steps[0].edit, second.steps[0].edit);
}

TEST_F(CppPluginTest, ADifferentGraphIsANewGraph) {
  add_bad_passes();
  const PipelineRun ran = run("make_another");
  ASSERT_EQ(ran.steps.size(), 1U) << ran.error->message;
  EXPECT_EQ(order_of(*ran.steps[0].graph), "x k output");
  EXPECT_FALSE(ran.steps[0].edit_refusal.empty());
}

TEST_F(CppPluginTest, ReturnsTables) {
  add_bad_passes();
  const PipelineRun ran = run("tabulate");
  ASSERT_EQ(ran.steps.size(), 1U) << ran.error->message;
  const PassTable expected{
      .title = "what it saw",
      .columns = {{"size", PassTable::Unit::bytes}, {"kind", PassTable::Unit::text}},
      .rows = {{.node = "a", .cells = {std::int64_t{32}, std::string("call")}},
               {.node = "", .cells = {std::monostate(), std::string("all")}}}};
  EXPECT_EQ(ran.steps[0].tables, std::vector{expected});
}

TEST_F(CppPluginTest, TheSignatureIsKept) {
  add_bad_passes();
  EXPECT_EQ(failure("drop_output"),
            "drop_output: returned 0 outputs instead of 1; a pass must keep the graph's inputs and "
            "outputs");
}

TEST_F(CppPluginTest, AParameterOutOfRangeIsRefusedBeforeAnythingRuns) {
  add_bad_passes();
  const auto ran = run_pipeline(graph, *parse_pipeline("swap{share=1.5}"), registry, context);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "swap: share: expected a number from 0 to 1, got 1.5");
}

TEST_F(CppPluginTest, ThrowsAreCaught) {
  add_bad_passes();
  EXPECT_EQ(failure("throw_exception"), "throw_exception: threw an exception: the sky fell");
  EXPECT_EQ(failure("throw_number"), "throw_number: threw an object that is not a std::exception");
}

TEST_F(CppPluginTest, AnErrorIsPassedOn) {
  add_bad_passes();
  EXPECT_EQ(failure("refuse"), "refuse: it needs another graph");
}

TEST_F(CppPluginTest, ALoopEndsAtTheDeadline) {
  options.limits.deadline = milliseconds(700);
  add_bad_passes();
  EXPECT_EQ(failure("loop"), "loop: did not end within 0.7 s");
}

TEST_F(CppPluginTest, CanBeCancelledWhileItLoops) {
  add_bad_passes();
  const milliseconds latency = runs_on_after_cancel("report");
  // The promised latency is measured in host_process_test.cpp, as the minimum of three.
  EXPECT_LT(latency, milliseconds(1000));
}

TEST_F(CppPluginTest, MemoryHasALimit) {
  options.limits.memory_bytes = 300 << 20;
  add_bad_passes();
  EXPECT_EQ(failure("eat_memory"), "eat_memory: exceeded the memory limit of 300 MiB");
}

TEST_F(CppPluginTest, ACrashIsNamed) {
  add_bad_passes();
  EXPECT_THAT(failure("crash"), AllOf(StartsWith("crash: the process ended without an answer: "),
                                      HasSubstr("signal 11"), HasSubstr("last words")));
  EXPECT_THAT(failure("leave"), HasSubstr("without an answer: exit code 0"));
}

TEST_F(CppPluginTest, AnInvalidGraphIsRefused) {
  add_bad_passes();
  EXPECT_THAT(failure("break_order"), HasSubstr("produced an invalid graph: "));
}

TEST_F(CppPluginTest, GarbageInTheMessagesIsDetected) {
  add_bad_passes();
  EXPECT_THAT(failure("write_garbage"), HasSubstr("an invalid message"));
}

TEST_F(CppPluginTest, WhatItPrintsIsLogged) {
  add_bad_passes();
  const PipelineRun ran = run("print");
  ASSERT_EQ(ran.steps.size(), 1U) << ran.error->message;
  EXPECT_THAT(logged, Contains("print: {\"event\": \"done\"}"));
  EXPECT_THAT(logged, Contains("print: hello from printf"));
}

TEST_F(CppPluginTest, AReproducerReproducesTheFailure) {
  add_bad_passes();
  const PipelineRun ran = run("swap,throw_exception");
  ASSERT_TRUE(ran.error);
  ASSERT_EQ(ran.steps.size(), 1U);
  const std::string path = folder / "reproducer.json";
  ASSERT_TRUE(write_reproducer(path, *ran.steps[0].graph, {.pass = "throw_exception"}, *ran.error));
  auto opened = open_graph({.path = path});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(graph_hash(*opened), graph_hash(*ran.steps[0].graph));
  const auto json = parse_json(read_bytes(path)->view(), path);
  EXPECT_EQ(json->at("reproducer").at("pipeline"), "throw_exception");
  EXPECT_EQ(json->at("reproducer").at("error"), ran.error->message);
  graph = *std::move(opened);
  EXPECT_EQ(failure("throw_exception"), ran.error->message);
}

TEST_F(CppPluginTest, OtherVersionsAreRefusedByTheirDescriptions) {
  const std::string later =
      make_plugin("other_version", description("other_version", "later", kPluginInterface + 1));
  const std::string elsewhere = make_plugin(
      "other_build", description("other_build", "mine", kPluginInterface, "Jointer 0.0.1, gcc 2"));
  const auto errors = add_plugins(registry, std::vector{folder.path().string()}, options);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].path, elsewhere);
  EXPECT_THAT(errors[0].message,
              HasSubstr("built with Jointer 0.0.1, gcc 2, but this Jointer was built with "));
  EXPECT_EQ(errors[1].path, later);
  EXPECT_THAT(errors[1].message,
              HasSubstr("version 2 of the plugin interface, but this Jointer has version 1"));
  EXPECT_TRUE(registry.passes().empty());
}

TEST_F(CppPluginTest, OtherVersionsAreRefusedDespiteTheirDescriptions) {
  ASSERT_TRUE(add_plugin(registry, make_plugin("other_version", description("other_version", "v")),
                         options));
  ASSERT_TRUE(
      add_plugin(registry, make_plugin("other_build", description("other_build", "b")), options));
  EXPECT_EQ(failure("v"),
            "v: built for version 2 of the plugin interface, but this Jointer has version 1; "
            "rebuild the plugin");
  EXPECT_THAT(failure("b"),
              HasSubstr("built with Jointer 0.0.1, gcc 2, but this Jointer was built with "));
}

TEST_F(CppPluginTest, InvalidPluginsAreRefused) {
  ASSERT_TRUE(add_plugin(
      registry, make_plugin("missing_symbol", description("missing_symbol", "m")), options));
  ASSERT_TRUE(add_plugin(registry, make_plugin("no_entry", description("no_entry", "n")), options));
  EXPECT_THAT(failure("m"), AllOf(StartsWith("m: cannot be loaded"), HasSubstr("nowhere")));
  EXPECT_THAT(failure("n"), HasSubstr("no entry point `jointer_plugin`"));
}

TEST_F(CppPluginTest, APassThatTheLibraryDoesNotHaveIsNamed) {
  ASSERT_TRUE(
      add_plugin(registry, make_plugin("bad_passes", description("bad_passes", "ghost")), options));
  EXPECT_EQ(failure("ghost"),
            "ghost: the plugin declares this pass but does not contain it; rebuild the plugin");
}

TEST_F(CppPluginTest, ATakenNameRejectsTheWholePlugin) {
  const std::string first = make_plugin("no_entry", description("no_entry", "swap"));
  make_plugin("bad_passes");
  ASSERT_TRUE(add_plugin(registry, first, options));
  const auto errors = add_plugins(registry, std::vector{folder.path().string()}, options);
  ASSERT_EQ(errors.size(), 2U);  // the first one is reported again
  EXPECT_THAT(errors[0].message, HasSubstr("there is already a pass swap"));
  EXPECT_EQ(registry.passes().size(), 1U);
}

TEST_F(CppPluginTest, DamagedDescriptionsAreListed) {
  for (const auto& [name, json] : std::vector<std::pair<std::string, std::string>>{
           {"a", "{"},
           {"b", "{}"},
           {"c", R"({"format":"jointer-plugin","id":3})"},
           {"d", description("../../bad_passes")},
           {"e", R"({"format":"jointer-plugin","id":"e","library":"e.so","interface":1,)"
                 R"("built_with":"","passes":[{"name":"p","parameters":[{"name":"x",)"
                 R"("type":"soup"}]}]})"},
           {"f", description("f")},  // no library
           {"h", "[]"},
           {"i", R"({"format":"jointer-plugin","id":"i","library":"i.so","interface":"one"})"}}) {
    std::filesystem::create_directories(folder / name);
    std::ofstream(folder / (name + "/plugin.json")) << json;
  }
  std::filesystem::create_directories(folder / "g");  // no description
  const auto errors = add_plugins(registry, std::vector{folder.path().string()}, options);
  ASSERT_EQ(errors.size(), 9U);
  for (const PluginError& error : errors) {
    EXPECT_THAT(error.message, HasSubstr(error.path));
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
    EXPECT_THAT(error.message, testing::Not(HasSubstr("json.exception")));
  }
  EXPECT_TRUE(registry.passes().empty());
}

TEST_F(CppPluginTest, MissingFoldersHaveNoPlugins) {
  EXPECT_TRUE(add_plugins(registry, std::vector<std::string>{"/no/such/folder"}, options).empty());
  ::setenv("JOINTER_PLUGIN_PATH", "/one:/two", 1);
  const auto path = plugin_search_path();
  ::unsetenv("JOINTER_PLUGIN_PATH");
  ASSERT_GE(path.size(), 3U);
  EXPECT_EQ(path[0], "/one");
  EXPECT_EQ(path[1], "/two");
  EXPECT_THAT(path[2], HasSubstr("/jointer/plugins"));
}

}  // namespace
}  // namespace jointer::test

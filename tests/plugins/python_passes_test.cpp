// Tests Python passes in the real host. Skipped if no Python with torch is found.

#include "plugins/python/python_passes.h"

#include <fstream>

#include "core/process/child.h"
#include "tests/plugins/fixture.h"
#include "tests/support/paths.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

const char* const kPasses = R"(
import os, sys
import torch
import jointer

@jointer.graph_pass(stage="check", is_idempotent=True)
def well_behaved(gm, example_inputs, *, node: str = "b", before: str = "a", share: float = 0.5):
    """One node goes before another.

    Args:
        node: Which.
        share: Not used.
    """
    print("standard output", len(example_inputs), tuple(example_inputs[0].shape))
    os.system("echo from a shell")
    nodes = {each.name: each for each in gm.graph.nodes}
    nodes[before].prepend(nodes[node])
    jointer.decide(node, "moved", "Requested by the test.")

def inserts(gm, example_inputs):
    """In place, without values, on the group that the graph names."""
    from torch.distributed.distributed_c10d import _resolve_process_group
    assert _resolve_process_group("dp").size() == 2
    nodes = {each.name: each for each in gm.graph.nodes}
    with gm.graph.inserting_before(nodes["c"]):
        new = gm.graph.call_function(torch.ops.aten.exp.default, (nodes["w"],))
    nodes["c"].replace_input_with(nodes["w"], new)

def raises(gm):
    raise ValueError("the sky\nfell")

def loops(gm):
    jointer.progress(0.5)
    while True:
        pass

def eats(gm):
    held = []
    while True:
        held.append(bytearray(1 << 24))

def crashes(gm):
    print("last words", flush=True)
    os.kill(os.getpid(), 11)

def leaves(gm):
    os._exit(3)

def breaks_order(gm):
    nodes = {each.name: each for each in gm.graph.nodes}
    nodes["a"].prepend(nodes["c"])

def returns_garbage(gm):
    return ["not", "a", "graph"]

def calls_python(gm):
    nodes = {each.name: each for each in gm.graph.nodes}
    with gm.graph.inserting_before(nodes["c"]):
        new = gm.graph.call_function(print, (nodes["w"],))
    nodes["c"].replace_input_with(nodes["w"], new)

def writes_garbage(gm):
    for file in range(3, 16):
        try:
            os.write(file, b"what is this\n")
        except OSError:
            pass
    return gm
)";

class PythonPassTest : public HostedPassTest {
 protected:
  PythonPassTest() { std::ofstream(folder / "passes.py") << kPasses; }

  // Adds them to the registry; false if no Python with torch is found.
  bool add(std::vector<std::string> names) {
    for (std::string& name : names) name = folder / ("passes.py" + name);
    const auto added = add_python_passes(registry, names, options);
    if (added) return true;
    EXPECT_THAT(added.error().message,
                AnyOf(HasSubstr("was not found"), HasSubstr("No module named 'torch'")));
    return false;
  }
  // Adds a pass without asking a host for its parameters.
  void add_unasked(const std::string& name) {
    PassInfo info;
    info.name = name;
    ASSERT_TRUE(registry.add(python_pass(info, folder / ("passes.py:" + name), options)));
  }
};

// A host takes seconds to import torch, so each test starts one for several checks.
#define JOINTER_ADD(...) \
  if (!add({__VA_ARGS__})) GTEST_SKIP() << "no Python with torch"

TEST(PythonSpec, NamesAFileOrAModule) {
  EXPECT_EQ(python_file("/x/my_pass.py"), "/x/my_pass.py");
  EXPECT_EQ(python_file("/x/my_pass.py:f"), "/x/my_pass.py");
  EXPECT_EQ(python_file("/home/.pyenv/a.py:f"), "/home/.pyenv/a.py");
  EXPECT_EQ(python_file("package.module:f"), "");
  EXPECT_EQ(python_file("package.pyramid"), "");
  EXPECT_EQ(absolute_spec("swap=/x/.pyx/a.py:f"), "swap=/x/.pyx/a.py:f");
  EXPECT_TRUE(absolute_spec("swap=.pyx/a.py:f").ends_with("/.pyx/a.py:f"));
  EXPECT_TRUE(absolute_spec("swap=.pyx/a.py:f").starts_with("swap=/"));
}

TEST_F(PythonPassTest, DeclaresParametersAndReturnsEdits) {
  JOINTER_SLOW_TEST();
  JOINTER_ADD("", ":inserts");
  ASSERT_EQ(registry.passes().size(), 2U);
  const PassInfo& info = registry.find("well_behaved")->info;
  EXPECT_EQ(info.summary, "One node goes before another.");
  EXPECT_EQ(info.stage, PassStage::check);
  EXPECT_EQ(info.source, "Python: " + (folder / "passes.py"));
  EXPECT_TRUE(info.is_idempotent);
  ASSERT_EQ(info.parameters.size(), 3U);
  EXPECT_EQ(info.parameters[0].doc, "Which.");
  EXPECT_EQ(info.parameters[2].type, Parameter::Type::number);

  const NodeId b = graph.find("b");
  const PipelineRun ran = run("well_behaved,inserts");
  ASSERT_EQ(ran.steps.size(), 2U) << ran.error->message;
  const StepResult &moved = ran.steps[0], &inserted = ran.steps[1];
  EXPECT_EQ(order_of(*moved.graph), "x b a s w c output");
  EXPECT_EQ(moved.edit.changes.size(), 1U);
  EXPECT_EQ(moved.graph->find("b"), b);
  ASSERT_EQ(moved.decisions.size(), 1U);
  EXPECT_EQ(moved.decisions[0], (Decision{"well_behaved", "b", "moved", "Requested by the test.",
                                          "1 position earlier"}));
  EXPECT_EQ(order_of(*inserted.graph), "x b a s w exp_default c output");
  EXPECT_EQ(inserted.added, 1U);
  EXPECT_EQ(inserted.changed, 1U);
  EXPECT_TRUE(inserted.edit_refusal.empty());
  // Output of the pass and its children is logged by line and not taken for messages.
  EXPECT_THAT(logged, Contains("well_behaved: standard output 1 (8,)"));
  EXPECT_THAT(logged, Contains("well_behaved: from a shell"));
}

TEST_F(PythonPassTest, FailuresNameThePassTheCauseAndTheLocation) {
  JOINTER_SLOW_TEST();
  JOINTER_ADD(":raises", ":crashes", ":leaves", ":writes_garbage");
  EXPECT_THAT(failure("raises"),
              AllOf(StartsWith("raises: raised ValueError: the sky"), HasSubstr("passes.py:")));
  EXPECT_THAT(logged, Contains(HasSubstr("Traceback")));
  EXPECT_THAT(failure("crashes"), AllOf(HasSubstr("without an answer"), HasSubstr("signal 11")));
  EXPECT_THAT(logged, Contains("crashes: last words"));
  EXPECT_THAT(failure("leaves"), HasSubstr("without an answer: exit code 3"));
  EXPECT_THAT(failure("writes_garbage"), HasSubstr("an invalid message"));
}

TEST_F(PythonPassTest, InvalidGraphsAreRefused) {
  JOINTER_SLOW_TEST();
  JOINTER_ADD(":breaks_order", ":returns_garbage", ":calls_python");
  EXPECT_THAT(failure("breaks_order"), AllOf(StartsWith("breaks_order: "), HasSubstr("c")));
  EXPECT_THAT(failure("returns_garbage"),
              AllOf(StartsWith("returns_garbage: "), HasSubstr("list")));
  EXPECT_THAT(failure("calls_python"), AllOf(StartsWith("calls_python: "), HasSubstr("print")));
}

TEST_F(PythonPassTest, LimitsOfMemoryAndTimeAreEnforced) {
  JOINTER_ADD(":raises");
  registry = {};
  options.limits.memory_bytes = std::int64_t{1200} << 20;
  add_unasked("eats");
  options.limits = {.deadline = milliseconds(500)};
  add_unasked("loops");
  EXPECT_EQ(failure("eats"), "eats: exceeded the memory limit of 1.17 GiB");
  EXPECT_EQ(failure("loops"), "loops: did not end within 0.5 s");
}

TEST_F(PythonPassTest, ALoopCanBeCancelled) {
  JOINTER_SLOW_TEST();
  JOINTER_ADD(":loops");
  const milliseconds latency = runs_on_after_cancel("loops");
  RecordProperty("latency_ms", static_cast<int>(latency.count()));
  // The promised tenth of a second is measured with a small host (host_process_test.cpp): releasing
  // torch's memory may take longer on a busy machine.
  EXPECT_LT(latency, milliseconds(1000));
}

TEST_F(PythonPassTest, MissingFunctionsAreRefused) {
  JOINTER_SLOW_TEST();
  JOINTER_ADD(":raises");
  const std::vector<std::string> specs{"mine=" + (folder / "passes.py:well_behaved"),
                                       folder / "passes.py", folder / "passes.py:nothing"};
  const auto added = add_python_passes(registry, specs, options);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind, Error::Kind::usage);
  EXPECT_THAT(added.error().message, AllOf(HasSubstr(specs[2]), HasSubstr("no function nothing")));
  // The functions before it were added.
  ASSERT_NE(registry.find("mine"), nullptr);
  EXPECT_NE(registry.find("well_behaved"), nullptr);
  const PipelineRun ran = run("mine{node=b}");
  ASSERT_EQ(ran.steps.size(), 1U) << ran.error->message;
  EXPECT_EQ(order_of(*ran.steps[0].graph), "x b a s w c output");
  const auto again = add_python_passes(registry, std::vector{folder / "passes.py:raises"}, options);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("there is already a pass raises"));
}

}  // namespace
}  // namespace jointer::test

// Tests the request to a host.

#include "plugins/hosted/hosted_pass.h"

#include <nlohmann/json.hpp>

#include "tests/plugins/fixture.h"

namespace jointer::test {
namespace {

using testing::StartsWith;

// A host that logs its request.
class HostedPassRequest : public HostedPassTest {
 protected:
  std::string costs() {
    HostedPass hosted;
    hosted.info.name = "logs";
    hosted.program = [] {
      return ProgramCommand{
          {"/bin/sh", "-c",
           R"(cat >&2; echo '{"event":"ready","protocol":1,"host":"sh"}'; echo '{"event":"done"}')"},
          {}};
    };
    logged.clear();
    PassContext of(context);
    EXPECT_FALSE(run_hosted(hosted, options, graph, OrderedJson::object(), of));
    constexpr std::string_view kName = "logs: ";
    if (logged.size() != 1 || !logged[0].starts_with(kName)) {
      ADD_FAILURE() << "the host logged " << logged.size() << " lines";
      return {};
    }
    return write_json(parse_tree(logged[0].substr(kName.size())).value_or(OrderedJson())["costs"]);
  }
};

// A graph for a GPU that runs on the CPU.
TEST_F(HostedPassRequest, CostsAreThoseOfTheDeviceThatRuns) {
  graph = *parse_literal("x: f32[64,64] = input\na: f32[64,64] = aten.mm(x, x)\nreturn [a]");
  context.analysis.memory.runs_on = DeviceType::cpu;
  context.analysis.estimator.device = "cpu";
  const std::string expected = costs();
  EXPECT_THAT(expected, StartsWith(R"({"a":)"));
  context.analysis.estimator.device.clear();
  EXPECT_EQ(costs(), expected);
  context.analysis.memory.runs_on.reset();
  EXPECT_NE(costs(), expected);
}

}  // namespace
}  // namespace jointer::test

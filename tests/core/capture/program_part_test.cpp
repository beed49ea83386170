#include "core/capture/program_part.h"

#include <gtest/gtest.h>

#include "core/capture/compile_artifacts.h"
#include "core/capture/tied_kernels.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

TEST(ProgramPart, KernelsHaveTheKindsOfTheCompilation) {
  const CompileArtifacts artifacts =
      must(read_compile_artifacts(source_path("tests/core/capture/artifacts/triton_2_15.log")));
  ASSERT_EQ(artifacts.programs.size(), 1U);
  const CompiledProgram& program = artifacts.programs.front();
  const Graph graph = parse("x: f32[4] = input\nreturn [x]");
  const CompiledPart part =
      part_of_program(graph, program, PartId(0), tie_kernels(program, graph, PartId(0)));
  ASSERT_EQ(part.scheduled.kernels.size(), program.kernels.size());
  for (std::size_t i = 0; i < program.kernels.size(); ++i)
    EXPECT_EQ(kernels::to_string(part.scheduled.kernels[i].kind),
              to_string(program.kernels[i].kind))
        << program.kernels[i].name;
}

}  // namespace
}  // namespace jointer::test

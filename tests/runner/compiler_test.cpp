// Answers of the compiler process, for which a shell script stands in.

#include "app/runner/backends/compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

class CompilerAnswer : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv("JOINTER_PYTHON"); }

  // Runs a compiler that answers with one line.
  Result<std::vector<runner::CompiledPackage>> answer(const std::string& line) {
    const std::string program = folder_ / "python";
    std::ofstream(program) << "#!/bin/sh\ncat <<'END'\n" << line << "\nEND\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("JOINTER_PYTHON", program.c_str(), 1);
    return runner::run_compiler({.graph = "g", .method = "inductor", .on = "cpu"},
                                {.progress = [](const std::string&, std::int64_t, std::int64_t) {},
                                 .note = [](const std::string&) {}});
  }

  TemporaryFolder folder_;
};

TEST_F(CompilerAnswer, ListsPackages) {
  const auto packages =
      answer(R"({"event":"compiled","packages":[{"package":"p.pt2","phase":"joint","inputs":)"
             R"([{"name":"x","kind":"tensor"}],"outputs":[],"compile_seconds":2}]})");
  ASSERT_TRUE(packages) << packages.error().message;
  ASSERT_EQ(packages->size(), 1U);
  EXPECT_EQ(packages->front().path, "p.pt2");
  EXPECT_EQ(packages->front().inputs.size(), 1U);
}

TEST_F(CompilerAnswer, IsAnErrorIfItCannotBeRead) {
  for (const auto& [line, problem] : {
           std::pair(R"({"event":"compiled","packages":"p.pt2"})", "packages"),
           std::pair(R"({"event":"compiled"})", "packages"),
           std::pair(R"({"event":"compiled","packages":[{"package":3}]})", "package"),
           std::pair(R"({"event":"compiled","packages":[{"phase":"joint"}]})", "package"),
           std::pair(R"({"event":"compiled","packages":[{"package":"p","inputs":["x"]}]})",
                     "inputs"),
       }) {
    const auto packages = answer(line);
    ASSERT_FALSE(packages) << line;
    EXPECT_THAT(packages.error().message, HasSubstr("invalid answer from the compiler process"))
        << line;
    EXPECT_THAT(packages.error().message, HasSubstr(problem)) << line;
  }
}

}  // namespace
}  // namespace jointer::test

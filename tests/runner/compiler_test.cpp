// Answers of the compiler process, for which a shell script stands in.

#include "app/runner/backends/compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

class CompilerAnswer : public testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("JOINTER_PYTHON");
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }

  // Runs a compiler that answers with one line.
  Result<std::vector<runner::CompiledPackage>> answer(const std::string& line) {
    return run("cat <<'END'\n" + line + "\nEND\n");
  }
  // Runs a shell script as the compiler of the rank on this GPU, or on the CPU.
  Result<std::vector<runner::CompiledPackage>> run(const std::string& script,
                                                   std::optional<int> gpu = std::nullopt) {
    const std::string program = folder_ / "python";
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("JOINTER_PYTHON", program.c_str(), 1);
    return runner::run_compiler({.graph = "g", .method = "inductor", .on = "cpu", .gpu = gpu},
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

TEST_F(CompilerAnswer, ComesFromTheGpuOfTheRank) {
  const auto devices = [&](std::optional<int> gpu) {
    const auto answer =
        run(R"(echo "{\"event\":\"failed\",\"text\":\"sees ${CUDA_VISIBLE_DEVICES-all}\"}")", gpu);
    return answer ? std::string("a package") : answer.error().message;
  };
  EXPECT_EQ(devices(std::nullopt), "sees all");
  EXPECT_EQ(devices(1), "sees 1");
  ::setenv("CUDA_VISIBLE_DEVICES", "3,5", 1);
  EXPECT_EQ(devices(std::nullopt), "sees 3,5");
  EXPECT_EQ(devices(0), "sees 3");
  EXPECT_EQ(devices(1), "sees 5");
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

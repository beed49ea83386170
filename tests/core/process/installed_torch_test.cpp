// The version of torch that a program named by JOINTER_PYTHON reports, and the programs that report
// none.

#include "core/process/installed_torch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/base/bytes.h"
#include "tests/support/must.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

class InstalledTorch : public testing::Test {
 protected:
  // A shell script that stands in for Python.
  InstalledTorch() : program_(folder_ / "python") {}
  [[nodiscard]] Result<std::string> ask(const std::string& script) const {
    EXPECT_TRUE(write_bytes(program_, "#!/bin/sh\n" + script + "\n"));
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
    return installed_torch({.command = {program_}, .environment = {}});
  }
  [[nodiscard]] std::string problem(const std::string& script) const {
    const auto version = ask(script);
    return version ? "none" : version.error().message;
  }

  TemporaryFolder folder_;
  std::string program_;
};

TEST_F(InstalledTorch, IsTheVersionThatPythonPrints) {
  EXPECT_EQ(must(ask("echo hello; echo torch 2.15.0+cu132")), "2.15.0+cu132");
}

TEST_F(InstalledTorch, MessagesSayHowTheProgramFailed) {
  const std::string advice = "; set JOINTER_PYTHON to a Python with torch";
  EXPECT_EQ(problem("echo no module named os >&2; exit 1"),
            program_ + " failed (exit code 1): no module named os" + advice);
  EXPECT_EQ(problem("exit 3"), program_ + " failed (exit code 3)" + advice);
  EXPECT_EQ(problem("echo hello; echo a warning >&2"),
            program_ + " did not print its version of torch, so it may not be Python" + advice);
  EXPECT_EQ(problem("echo 'torch '"),
            "torch is not installed for " + program_ + "; install it with `" + program_ +
                " -m pip install torch`, or set JOINTER_PYTHON to a Python that has it");
}

}  // namespace
}  // namespace jointer::test

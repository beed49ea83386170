// A workspace keeps how the estimates were computed.

#include "views/session/workspace/workspace_options.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

TEST(WorkspaceOptionsOfAnAnalysis, KeepTheExecution) {
  AnalysisOptions options;
  EXPECT_EQ(to_workspace(options).execution, "");
  options.execution = Execution::cudagraph;
  const WorkspaceOptions saved = to_workspace(options);
  EXPECT_EQ(saved.execution, "cudagraph");
  EXPECT_EQ(with_workspace({}, saved).execution, Execution::cudagraph);
  // An execution of a newer version is ignored.
  EXPECT_EQ(with_workspace(options,
                           {.device = "", .estimator = "", .optimizer = "", .execution = "other"})
                .execution,
            Execution::eager);
}

}  // namespace
}  // namespace jointer::views

#include "views/session/edit/metrics.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace jointer::views {
namespace {

TEST(MetricsTest, OptionsAreTheSameIfAllAre) {
  const AnalysisOptions options;
  EXPECT_TRUE(same_options(options, AnalysisOptions()));
  const std::vector<std::function<void(AnalysisOptions&)>> changes{
      [](AnalysisOptions& of) { of.estimator.name = "kernels"; },
      [](AnalysisOptions& of) { of.estimator.device = "a100"; },
      [](AnalysisOptions& of) { of.estimator.gpus_per_node = 4; },
      [](AnalysisOptions& of) { of.estimator.costs = "costs.sqlite"; },
      [](AnalysisOptions& of) { of.memory.rules = MemoryRules::torch; },
      [](AnalysisOptions& of) { of.memory.optimizer = OptimizerState::adamw; },
      [](AnalysisOptions& of) { of.memory.runs_on = DeviceType::cuda; },
      [](AnalysisOptions& of) { of.memory.rounds_sizes = false; },
      [](AnalysisOptions& of) { of.memory.collectives = CollectiveLibrary::gloo; },
      [](AnalysisOptions& of) { of.simulation.one_communication_stream = true; },
      [](AnalysisOptions& of) { of.execution = Execution::inductor; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    AnalysisOptions other;
    changes[i](other);
    EXPECT_FALSE(same_options(options, other)) << "change " << i;
  }
}

}  // namespace
}  // namespace jointer::views

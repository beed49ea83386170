#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/cost/node_flops.h"
#include "core/cost/throughput.h"
#include "core/graph/graph.h"
#include "core/graph/module_tree.h"
#include "core/schedule/caching_allocator.h"
#include "core/schedule/execution.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"

namespace jointer {

struct AnalysisOptions {
  MemoryOptions memory;
  // If it names no device, its device is one of type memory.runs_on or, if that is not set, of the
  // type of the graph's main device.
  EstimatorRequest estimator;
  SimulationOptions simulation;
  Execution execution = Execution::eager;  // see `analyze_step` in core/compiled/compiled_step.h
};

struct CompiledStep;  // core/compiled/compiled_step.h

// The costs and the memory of a graph, from which its analysis follows.
struct AnalysisBasis {
  AnalysisOptions options;
  std::string estimator;  // Estimator::description_of
  DeviceDescription device;
  ModuleTree modules;
  MemoryTimeline memory;
  // Indexed by node id. In a compiled step, one call of each kernel, usually the first, has the
  // kernel's time, and its other calls have none (core/compiled/compiled_calls.cpp).
  std::vector<NodeCost> costs;
  TransferCosts transfers;   // costs of copies to and from the host
  std::vector<Flops> flops;  // indexed by node id
  GraphFlops total_flops;
  ModelFacts model;
  // The kernels of a compiled step, and the costs of its calls if they ran operator by operator;
  // null and empty if the graph does run operator by operator.
  std::shared_ptr<const CompiledStep> compiled = {};
  std::vector<NodeCost> operator_costs = {};

  // The costs of running operator by operator, whatever the execution.
  [[nodiscard]] std::span<const NodeCost> costs_of_operators() const {
    return compiled == nullptr ? costs : operator_costs;
  }
};

// Everything that is computed from a graph under one set of options, for the desktop and for
// exports. Holds no reference to the graph, but is valid only until the graph changes.
struct Analysis : AnalysisBasis {
  // Simulates the allocator and the step. `ordered`: the graph in the order in which it runs.
  Analysis(AnalysisBasis basis, const Graph& ordered);

  ReservedProfile reserved;
  Simulation simulation;
  Throughput throughput;
};

// The estimator of the calls of this graph, on the device that `options` implies. Errors: same as
// `make_estimator`.
Result<std::unique_ptr<Estimator>> estimator_for(const Graph& graph,
                                                 const AnalysisOptions& options);

// The basis and the analysis of a graph that runs operator by operator, whatever
// `options.execution` is. Errors: same as `make_estimator`.
Result<AnalysisBasis> analysis_basis(const Graph& graph, const AnalysisOptions& options = {});
Result<Analysis> analyze(const Graph& graph, const AnalysisOptions& options = {});

}  // namespace jointer

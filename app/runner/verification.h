#pragma once

// Compares the outputs of a graph with those of the unedited graph, and with expected ones.

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/runner/failure.h"
#include "app/runner/platform.h"
#include "app/runner/program/program.h"
#include "app/runner/support/reporter.h"
#include "core/bench/request.h"

namespace jointer::runner {

class Verification {
 public:
  using Outputs = std::vector<at::Tensor>;
  // Sets the inputs of the next step.
  using Feed = std::function<Done()>;
  // Runs a step. Returns copies of its outputs, on the host.
  using Run = std::function<Or<Outputs>()>;

  // `rank` replaces `{rank}` in the path of the expected outputs.
  Verification(const BenchmarkRequest& request, int rank, at::Device device, Reporter& reporter);

  // Gives cuBLAS workspaces with which it is deterministic. Must be called before cuBLAS is first
  // used.
  static void fix_workspaces();
  // Until ordinary_order(), sums are computed in a fixed order, so that two runs with the same
  // operators differ only if their graphs differ. Must be called after the process groups are made:
  // a group that torch makes in this state never uses NVLink SHARP, not even in measured steps.
  void fixed_order() const;
  static void ordinary_order();

  // Returns the outputs of a step whose inputs are set. If an operator has no kernel with a fixed
  // order, runs the step twice without a fixed order for it, and measures how much the outputs
  // differ.
  Or<Outputs> outputs_of(const Run& run, const Feed& feed);
  // Sets the outputs of the unedited graph, `graph`.
  void set_baseline(const Graph& graph, Outputs outputs);
  // Compares with the baseline and the expected outputs, if they are given, and reports the
  // differences. Error (load): the file of expected outputs cannot be read, or names an output that
  // the graph lacks.
  Done compare(const Graph& graph, const Program& program, const Outputs& outputs);

 private:
  // The allowed differences due to code that a backend compiled, and to sums of the values of other
  // ranks; 0 if there are none.
  double bound_for(const Graph& graph) const;
  double bound_of_sums(const Graph& graph) const;
  Or<Outputs> expected(std::size_t count) const;

  const BenchmarkRequest& request_;
  int rank_;
  at::Device device_;
  Reporter& reporter_;
  Outputs baseline_;
  std::optional<std::vector<std::string>> baseline_sums_;  // sums_of_ranks
  // A node whose operator has no deterministic kernel on the device; empty if all operators have
  // one. With such a node, the outputs of two runs of the same graph differ by up to spread_,
  // relative to the output's largest magnitude.
  std::string random_order_;
  double spread_ = 0;
};

}  // namespace jointer::runner

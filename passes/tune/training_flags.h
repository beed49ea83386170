#pragma once

// Expresses a pipeline as settings of torch and torchtitan, with which training runs the same
// passes without Jointer. training_flags.cpp lists the settings.

#include <string>
#include <vector>

#include "core/pass/pipeline_text.h"
#include "core/pass/registry.h"

namespace jointer {

// The form in which training runs a graph.
enum class TrainedAs : std::uint8_t {
  compiled,   // by torch.compile: a joint graph, a pair or a half
  flat_step,  // by graph_trainer: a flat training step
};

// The settings for one pipeline step.
struct StepFlags {
  PipelineStep step;
  // Command-line options of torchtitan, which begin with `--`, or assignments in Python. Empty if
  // torch does this by default, or if there are no such settings.
  std::vector<std::string> settings;
  std::string reason;  // why no settings express the step; empty if they do
};

struct TrainingFlags {
  std::vector<std::string> shared;  // settings that belong to no single step; they come first
  std::vector<StepFlags> steps;     // the enabled ones

  // True if there are steps, and settings express all of them.
  [[nodiscard]] bool are_complete() const;
  // All settings as text to copy: options, then Python. Comments name the steps that the settings
  // do not express, with the reasons.
  [[nodiscard]] std::string text() const;
};

// With these settings, torch runs the passes itself. It uses its own estimates and, for passes on
// the order, the kernels of the compiled graph, so the result can differ from the pipeline's.
// `registry` must contain the built-in passes.
TrainingFlags training_flags(const Pipeline& pipeline, TrainedAs trained_as,
                             const PassRegistry& registry);

}  // namespace jointer

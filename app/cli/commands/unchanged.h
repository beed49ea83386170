#pragma once

// Pipeline steps that left the graph unchanged, and why.

#include <string>

#include "core/pass/pipeline_run.h"

namespace jointer::cli {

// The name of the pass that the pipeline step ran.
std::string pass_of(const StepResult& step);

// True if no node was moved, added, removed or changed, and no new graph was made.
bool is_unchanged(const StepResult& step);

// One line on why a pipeline step changed nothing: the pass's last decision about the whole graph;
// if there is none but the pass made decisions, that nothing is left to do; if it only kept nodes,
// the most frequent reason for that.
std::string why_unchanged(const StepResult& step);

}  // namespace jointer::cli

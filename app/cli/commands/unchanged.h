#pragma once

// Steps of a pipeline that left the graph unchanged, and why.

#include <string>

#include "core/pass/pipeline_run.h"

namespace jointer::cli {

// The name of the pass that the step ran.
std::string pass_of(const StepResult& step);

// True if no node was moved, added, removed or changed, and no new graph was made.
bool is_unchanged(const StepResult& step);

// One line on why a step changed nothing: what the pass says about the whole graph; failing that,
// if the pass made decisions, that nothing is left to do; failing that, why it leaves most nodes
// unchanged.
std::string why_unchanged(const StepResult& step);

}  // namespace jointer::cli

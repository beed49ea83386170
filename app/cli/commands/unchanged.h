#pragma once

// Steps of a pipeline that left the graph unchanged, and why.

#include <string>

#include "core/pass/pipeline_run.h"

namespace jointer::cli {

// The name of the step's pass.
std::string pass_of(const StepResult& step);

// True if no node was moved, added, removed or changed, and no new graph was made.
bool is_unchanged(const StepResult& step);

// Why a step changed nothing, in one line: what the pass says about the whole graph; else, if it
// decided to do something, that nothing is left to do; else why it keeps most nodes as they are.
std::string why_unchanged(const StepResult& step);

}  // namespace jointer::cli

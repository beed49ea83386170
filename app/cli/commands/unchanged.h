#pragma once

// Steps of a pipeline that left the graph as it was, and why.

#include <string>

#include "core/pass/pipeline_run.h"

namespace jointer::cli {

// The name of the step's pass.
std::string pass_of(const StepResult& step);

// No node moved, came, went or was written to, and no new graph was made.
bool is_unchanged(const StepResult& step);

// Of an unchanged step, in one line: what the pass says of the whole graph; else that nothing is
// left to do, where it decided to do something; else why it keeps most nodes as they are.
std::string why_unchanged(const StepResult& step);

}  // namespace jointer::cli

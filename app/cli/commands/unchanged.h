#pragma once

// Pipeline steps that left the graph unchanged, and why.

#include <string>

#include "core/pass/pipeline_run.h"

namespace jointer::cli {

// The name of the pass that the pipeline step ran.
std::string pass_of(const StepResult& step);

// True if no node was moved, added, removed, changed or retagged, and no new graph was made.
bool is_unchanged(const StepResult& step);

// Returns one line on why a pipeline step changed nothing. In order of preference: the pass's last
// decision about the whole graph; that nothing is left to do, if the pass decided to change nodes;
// the most frequent reason for keeping nodes; the pass's last note about the whole graph; that the
// pass found nothing to do.
std::string why_unchanged(const StepResult& step);

}  // namespace jointer::cli

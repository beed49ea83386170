#pragma once

#include <QString>

#include "core/pass/parameter.h"
#include "views/session/pipeline/pipeline_session.h"

namespace jointer::views {

// Texts for pipeline steps, used in lists and summaries.

// For example, "activation_budget=0.5, solver=greedy"; empty without arguments.
QString arguments_text(const PipelineStep& step);
// For example, "41 moved · 12 merged · 7 added · 12 removed" or "no nodes changed".
QString changes_text(const StepResult& result);
// The changes to estimates and nodes, such as "peak −2.30 GiB · exposed −12.0 ms · 41 moved".
QString outcome_text(const StepOutcome& outcome);
// The second line of a step in the list: its error or result, or the summary of its pass.
QString detail_text(const PipelineSession& session, std::size_t place);
// The status in a few words: the duration if the step is done, otherwise, for example, "running,
// 45%".
QString status_line(const PipelineSession& session, std::size_t place);
// For example, "integer, at least 1, default 4".
QString parameter_text(const Parameter& parameter);

}  // namespace jointer::views

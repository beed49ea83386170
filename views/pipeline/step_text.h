#pragma once

#include <QLabel>
#include <QString>

#include "core/pass/parameter.h"
#include "views/pipeline/pipeline_session.h"

namespace jointer::views {

// How steps of pipelines are put in words, alike in the list, the summary and menus.

// "activation_budget=0.5, solver=greedy"; empty where nothing is given.
QString arguments_text(const PipelineStep& step);
// "moved 41 · merged 12 · added 7 · removed 12", or "no node changed".
QString changes_text(const StepResult& result);
// What came of it and what it changed: "peak -2.3 GiB · exposed -12.0 ms · moved 41".
QString outcome_text(const StepOutcome& outcome);
// The second line of a step in the list: what is wrong, how far it is, what it did, or what the
// pass does.
QString detail_text(const PipelineSession& session, std::size_t place);
// The status in a word: how long it took where it is done, "running, 45 %".
QString status_line(const PipelineSession& session, std::size_t place);
// "integer, at least 1, by default 4".
QString parameter_text(const Parameter& parameter);

// What it says, in that colour: a label whose text can be selected takes no palette's.
void set_color(QLabel& label, const QColor& color);

}  // namespace jointer::views

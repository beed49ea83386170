#pragma once

#include "core/pass/pass.h"
#include "passes/tune/tuner.h"

namespace jointer {

Pass auto_tune_pass();

// What a step of the winner is good for, in a sentence: "Without it the step would take 12.3 ms
// more."
std::string gain_text(const TuneStep& step);
// Why a search ended, and after how many candidates.
std::string end_text(const TuneResult& result);

// Runs the winner's steps on the graph, which becomes what they make of it: each with its decisions
// and its edits, as if a pipeline had run them. Error: as the passes.
Result<void> carry_out(Graph& graph, const Pipeline& winner, const PassRegistry& registry,
                       std::int64_t budget, PassContext& context);

}  // namespace jointer

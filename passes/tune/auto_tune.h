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

}  // namespace jointer

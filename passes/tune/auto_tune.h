#pragma once

#include "core/pass/pass.h"
#include "core/pass/registry.h"
#include "passes/tune/tuner.h"

namespace jointer {

// Creates the registry of passes to search. This is a function because the registry itself contains
// auto_tune.
using RegistryMaker = PassRegistry (*)();

Pass auto_tune_pass(RegistryMaker make_registry);

// The gain of one of the winner's pipeline steps, as a sentence: "Without it, the step would take
// 12.3 ms longer."
std::string gain_text(const TuneStep& step);
// Half a sentence that says how a pipeline step changes the estimates. Different numbers never look
// the same.
std::string change_text(const Figures& before, const Figures& after);
// A sentence that says how many candidates a search evaluated, and why it ended early if it did.
std::string end_text(const TuneResult& result);

}  // namespace jointer

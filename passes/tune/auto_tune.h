#pragma once

#include "core/pass/pass.h"
#include "core/pass/registry.h"
#include "passes/tune/tuner.h"

namespace jointer {

// Makes the passes to search among. It is a function because the pass itself is in the registry.
using RegistryMaker = PassRegistry (*)();

Pass auto_tune_pass(RegistryMaker make_registry);

// The gain of a step of the winner, in a sentence: "Without it the step would take 12.3 ms more."
std::string gain_text(const TuneStep& step);
// The reason why a search ended, and its number of candidates, in a sentence.
std::string end_text(const TuneResult& result);

}  // namespace jointer

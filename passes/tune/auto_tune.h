#pragma once

#include "core/pass/pass.h"
#include "core/pass/registry.h"
#include "passes/tune/tuner.h"

namespace jointer {

// Creates the registry of passes to search. It is a function, not a registry, because the registry
// contains auto_tune.
using RegistryMaker = PassRegistry (*)();

Pass auto_tune_pass(RegistryMaker make_registry);

// The gain of one of the winner's pipeline steps, as a sentence: "Without it the step would take
// 12.3 ms more."
std::string gain_text(const TuneStep& step);
// Why a search ended and how many candidates it evaluated, as a sentence.
std::string end_text(const TuneResult& result);

}  // namespace jointer

#pragma once

#include "core/base/json_text.h"
#include "core/schedule/analysis.h"

namespace jointer {

// The estimator, memory rules, simulation options and execution for a pass, to be sent to its host.
// read_analysis_options() restores the same options.
OrderedJson to_json(const AnalysisOptions& options);
// Uses the default for missing members. Error (input): a member is invalid.
Result<AnalysisOptions> read_analysis_options(const OrderedJson& json);

}  // namespace jointer

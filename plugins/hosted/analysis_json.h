#pragma once

#include "core/base/json_text.h"
#include "core/schedule/analysis.h"

namespace jointer {

// Under which estimator and which rules a pass decides, for its host. Texts and numbers; what
// `read_analysis_options` gives is the same again.
OrderedJson to_json(const AnalysisOptions& options);
// Members that are not there are as by default. Error (input): one that is not as it should be.
Result<AnalysisOptions> read_analysis_options(const OrderedJson& json);

}  // namespace jointer

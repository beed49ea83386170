#pragma once

// Parses and writes a pipeline as text:
// `apply_sac{save=[aten.mm,aten.bmm]},sink_waits_iterative{budget=0.05}`.
//
//   pipeline = step { "," step }             may be empty; blanks may separate tokens
//   step     = ["~"] word [ "{" [ name "=" value { "," name "=" value } ] "}" ]
//   value    = none | true | false | number | word | "text as in JSON"
//            | "[" [ value { "," value } ] "]"
//
// Lists are nested at most 16 deep. A `~` before a step disables the step: it is listed but not
// run.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pass_value.h"

namespace jointer {

struct PipelineStep {
  std::string pass;
  std::vector<std::pair<std::string, PassValue>> given;  // arguments, in the order of the text
  bool is_enabled = true;
  friend bool operator==(const PipelineStep&, const PipelineStep&) = default;
};
using Pipeline = std::vector<PipelineStep>;

// True if the pipeline contains this pass, enabled or not, with any parameters.
bool has_pass(const Pipeline& pipeline, std::string_view pass);

// Error (usage): the text is not a pipeline. The message begins with the location: "at the start of
// the pipeline: ..." or "in the pipeline after `apply_sac{save=`, at character 16: ...". On an
// error, sets `*wrong_at` to its byte offset.
Result<Pipeline> parse_pipeline(std::string_view text, std::size_t* wrong_at = nullptr);

std::string to_text(const PipelineStep& step);
std::string to_text(const Pipeline& pipeline);

// The value of an unquoted word: none, a boolean, a number or, for any other word, the word as
// text.
PassValue value_of_word(std::string_view word);

}  // namespace jointer

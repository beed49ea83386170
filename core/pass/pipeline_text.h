#pragma once

// A pipeline as text: `apply_sac{save=[aten.mm,aten.bmm]},sink_waits_iterative{budget=0.05}`.
//
//   pipeline = step { "," step }             may be empty; blanks may stand anywhere between
//   step     = ["~"] word [ "{" [ name "=" value { "," name "=" value } ] "}" ]
//   value    = none | true | false | number | word | "text as in JSON" | "[" [ value { "," value }
//   ] "]"
//
// `~` before a step: it is in the list and is not run.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pass_value.h"

namespace jointer {

struct PipelineStep {
  std::string pass;
  std::vector<std::pair<std::string, PassValue>> given;  // parameters, in the order written
  bool is_enabled = true;
  friend bool operator==(const PipelineStep&, const PipelineStep&) = default;
};
using Pipeline = std::vector<PipelineStep>;

// Error (usage): one sentence with the place: "after `apply_sac{save=`, at character 15: ...".
// `wrong_at`: the place alone, in bytes; left as it is without an error.
Result<Pipeline> parse_pipeline(std::string_view text, std::size_t* wrong_at = nullptr);

std::string to_text(const PipelineStep& step);
std::string to_text(const Pipeline& pipeline);

// What a word without quotes stands for: none, a truth value, a number, else itself.
PassValue value_of_word(std::string_view word);

}  // namespace jointer

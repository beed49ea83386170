// Detects the kind of a policy text by features that only one kind has: the `format` of a recipe,
// messages of the partitioner, or `::` before an operator. Any other text is read as Python that
// names operators. Almost any text about a graph names operators, so other known formats are
// refused first.

#include <algorithm>

#include "core/base/characters.h"
#include "core/capture/fx_text.h"
#include "core/capture/torch_trace.h"
#include "core/policy/import.h"

namespace jointer {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// True if the text starts with `{"key":` or with `[{"key":`.
bool is_json_of_objects(std::string_view text) {
  const auto skip = [&](std::string_view what) {
    text.remove_prefix(std::min(text.find_first_not_of(what), text.size()));
  };
  skip(kBlanks);
  if (text.starts_with('[')) {
    text.remove_prefix(1);
    skip(kBlanks);
  }
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  skip(kBlanks);
  if (!text.starts_with('"')) return false;
  text.remove_prefix(std::min(text.find('"', 1), text.size() - 1) + 1);
  skip(kBlanks);
  return text.starts_with(':');
}

// True if the line starts like the output of torch's loggers: `V1122 12:50:01.000 ...`.
bool is_log_line(std::string_view line) {
  return line.size() > 5 && std::string_view("VDIWEC").find(line[0]) != std::string_view::npos &&
         line[5] == ' ' && is_digits(line.substr(1, 4));
}

Error no_policy(std::string_view what) {
  return input_error(
             "expected a policy, got {}; use an operator set, selectors, a recipe, or a log "
             "from torch's partitioner",
             what)
      .value();
}

}  // namespace

Result<PolicySource> policy_source(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (text.find_first_not_of(kBlanks) == std::string_view::npos)
    return input_error("the text is empty");
  const bool says_saved = has("Min Cut Solution Saved Values");
  if (is_json_of_objects(text)) {
    if (has("\"jointer-recipe\"")) return PolicySource::recipe;
    if (says_saved) return PolicySource::partitioner_log;
    return tl::unexpected(
        no_policy(has("\"jointer-capture\"") || has("\"jointer-pair\"") ? "a capture of a graph"
                  : has("\"by_operator\"") && has("\"saved_count\"")
                      ? "the output of `jointer sac --json` (--export writes its plan as a policy)"
                      : "JSON"));
  }
  if (says_saved || has("Theoretical Per Activation Storage Sizes") ||
      has("Ops banned from re-materialization"))
    return PolicySource::partitioner_log;
  if (is_torch_trace(text))
    return tl::unexpected(no_policy("a TORCH_TRACE log without messages from torch's partitioner"));
  if (is_fx_text(text)) return tl::unexpected(no_policy("the text of a graph"));
  if (is_log_line(text.substr(text.find_first_not_of(kBlanks))))
    return tl::unexpected(no_policy("a log without messages from torch's partitioner"));
  if (has(kNoSelectors)) return PolicySource::selectors;
  const bool is_python = has("torch.ops") || has("torch._higher_order_ops");
  if (has("::") && (!is_python || read_selectors(text))) return PolicySource::selectors;
  return PolicySource::operator_set;
}

}  // namespace jointer

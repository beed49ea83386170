#pragma once

// clang-format off
// What a person types to find nodes, as terms. All of them must hold.
//
//   view_12               part of the name, operator, module or stack
//   "two words"           the same, with the blank in it
//   /mm_\d+$/             the same, as a regular expression
//   op:mm                 operator: a whole part of its name where one has it, else any part of it
//   mod:layers.3          module, in the same way; with all modules below it
//   name: stack: tag: group: role:    part of these
//   phase:fw              or bw, recomputed
//   backward:mm_12        the same and a text, as recipes name the nodes of one half
//   dtype:bf16            of an output
//   shape:8192            a size of an output; shape:8192,7168 is these sizes side by side
//   policy:save  by:person   of a plan: what becomes of a tensor, and who decided it
//   bytes>1MiB  ms>0.1  flops>=1G  exposed>0  users>3  inputs>3  step<100
//   -op:view              not
//   op:mm,bmm             one of these
//
// Case does not matter. A value may be quoted, or a /regular expression/.
// clang-format on

#include <QRegularExpression>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace jointer::views {

enum class SearchField : std::uint8_t {
  anything,
  name,
  op,
  module,
  stack,
  tag,
  group,
  role,
  phase,
  dtype,
  policy,
  decider,
  shape,
  bytes,
  time,  // ms
  flops,
  exposed,
  users,
  inputs,
  step,
};

struct SearchTerm {
  enum class Relation : std::uint8_t { matches, less, at_most, equal, at_least, more };

  SearchField field = SearchField::anything;
  bool is_negated = false;
  // Of texts: one of these, in lower case; or a pattern.
  std::vector<std::string> texts;
  std::optional<QRegularExpression> pattern;
  // Of numbers, in bytes, nanoseconds, FLOPs or counts.
  Relation relation = Relation::matches;
  double number = 0;
  // Of shapes.
  std::vector<std::int64_t> sizes;
};

struct SearchQuery {
  std::vector<SearchTerm> terms;
};

// Error (usage): one sentence.
Result<SearchQuery> parse_search(std::string_view text);

// A line a filter, for tooltips and help: what is typed, what it finds.
std::vector<std::pair<QString, QString>> search_help();

}  // namespace jointer::views

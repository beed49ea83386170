#pragma once

// clang-format off
// The query language for nodes. A query is a list of terms; a node must match all of them.
//
//   view_12               part of the name, operator, module or stack
//   "two words"           the same, including the blank
//   /mm_\d+$/             the same, as a regular expression
//   op:mm                 operator: a dot-separated part of its name; if no operator has this part,
//                         a substring
//   mod:layers.3          module, matched in the same way, including all of its submodules
//   name: stack: tag: group: role:    substring of the node's name, stack and so on
//   phase:fw              or bw, recomputed
//   backward:mm_12        phase and another term, as recipes name the nodes of one half
//   dtype:bf16            dtype of an output: its whole name
//   shape:8192            a dimension of an output; shape:8192,7168 matches adjacent dimensions
//   policy:save  by:user  from a plan: substring of a tensor's policy, or of who decided it
//   bytes>1MiB  ms>0.1  flops>=1G  exposed>0  users>3  inputs>3
//   call<100              number of the call in program order; also step<100
//   -op:view              negation
//   op:mm,bmm             either of these
//
// Matching ignores case. A text may be quoted or, unless it is a phase, be a /regular expression/.
// In tag:, a blank or a hyphen stands for an underscore.
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
  time,  // the filter `ms`
  flops,
  exposed,
  users,
  inputs,
  step,
};

// The values of the filter `phase:`. Recomputed nodes are not a phase, but are searched for in the
// same way.
enum class SearchPhase : std::uint8_t { forward, backward, recomputed };
// Accepts fw, fwd, bw, bwd, and the words forward, backward and recomputed or their beginnings, in
// lower case.
std::optional<SearchPhase> parse_search_phase(std::string_view text);

struct SearchTerm {
  enum class Relation : std::uint8_t { matches, less, at_most, equal, at_least, more };

  SearchField field = SearchField::anything;
  bool is_negated = false;
  // For text fields: the texts to find, in lower case, or a pattern.
  std::vector<std::string> texts;
  std::optional<QRegularExpression> pattern;
  // For numeric fields: bytes, nanoseconds, FLOPs, a count or an index.
  Relation relation = Relation::matches;
  double number = 0;
  // For `shape`: the sizes to find.
  std::vector<std::int64_t> sizes;
};

struct SearchQuery {
  std::vector<SearchTerm> terms;
};

// Error (usage): a term is invalid.
Result<SearchQuery> parse_search(std::string_view text);

// Lines for help and tooltips: an example of a term, and its meaning.
std::vector<std::pair<QString, QString>> search_help();

}  // namespace jointer::views

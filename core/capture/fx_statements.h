#pragma once

// Splits the statements of one `forward` into name, type and expression, without interpreting them.
// Private to core/capture/fx_*.cpp.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/capture/fx_outline.h"

namespace jointer::fx {

struct Placeholder {
  std::string_view name, target;
  std::string_view type;  // empty if the text has none
  std::string_view desc;  // `PlainAOTInput(idx=0)`, or empty
  std::size_t number = 0;
};

// A statement: `name: "type" = expression;  ...`.
struct Statement {
  std::string_view name, type, expression;
  // Set for an in-place change, `x += y;  iadd = x`: the operator's name without its module, and
  // the name of the changed value. For an assignment to an element, also the element's key.
  std::string_view inplace, changed, key;
  std::size_t number = 0;
  std::size_t comment = 0;  // index into Body::comments
};

// An element of a tuple that a statement reads: `getitem_1: "type" = split[1]`.
struct Element {
  std::string_view key;  // as written: `1`, `'output_ptr'`
  std::string_view name, type;
};

struct Body {
  std::vector<Placeholder> placeholders;
  std::vector<Statement> statements;
  // The comments above statements. The first is empty, for statements without a comment above them.
  std::vector<std::string_view> comments;
  Line output;  // the return statement; its text is empty if there is none
  std::unordered_map<std::string_view, std::size_t> makers;             // name -> its statement
  std::unordered_map<std::string_view, std::vector<Element>> elements;  // by the tuple's name
  std::deque<std::string> owned;  // expressions that are not in the file
};

// Fills `makers` and `elements` from the statements.
void index_statements(Body& body);

// Splits the header and the body of a `forward`. Throws TextMistake; `number` is then the line of
// the mistake.
Body parse_statements(const GraphText& graph, std::size_t& number);

}  // namespace jointer::fx

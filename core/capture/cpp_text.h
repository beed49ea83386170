#pragma once

// Splits C++ text that Inductor has generated into statements and calls. Private to core/capture.
// The returned views point into the text.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace jointer::cpp {

// A statement without its semicolon, a comment that is not inside a statement (starts with `//`),
// or the head of a block: `if (is_large)`.
struct Statement {
  std::string_view text;
  std::size_t number = 1;  // line of the text at which it begins
};

// Returns the statements of a function's body, including those in blocks, in order of the text.
// Leaves out blocks that copy a misaligned input, whose heads test its address. Cost: linear.
std::vector<Statement> statements_of(std::string_view body, std::size_t first_number);

// The position of the bracket that closes the one at `open`; nullopt if none does. Brackets in
// strings and comments do not count.
std::optional<std::size_t> closing_bracket(std::string_view text, std::size_t open);

// Splits at commas outside brackets, strings and the arguments of templates that Inductor uses
// (after_template); the parts are trimmed, and a last empty part is left out.
std::vector<std::string_view> split_arguments(std::string_view text);

// `callee(arguments)rest`, in which `callee` is a name with namespaces, members and template
// arguments: `std::move`, `buf0.reset`, `static_cast<float*>`.
struct Call {
  std::string_view callee, arguments, rest;
};
std::optional<Call> call_in(std::string_view text);

// The name at the end of a text: `buf0` in `auto buf0`, `x` in `const float* x`.
std::string_view last_name(std::string_view text);

// The line of the text that contains the position, from 1.
std::size_t line_at(std::string_view text, std::size_t at);

}  // namespace jointer::cpp

#pragma once

// The parts of a wrapper's text. Private to core/capture.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/compiled_kernels.h"

namespace jointer::wrapper {

// The statement of a wrapper in C++ that a line in the form of Python stands for.
struct Origin {
  std::string_view text;
  std::size_t number = 1;  // line of the wrapper
};

// A function of the wrapper: `call`, a partition, a subgraph or `get_args`.
struct Function {
  std::string_view body;
  std::size_t first_number = 1;  // line of the wrapper at which the body starts
  std::vector<Origin> origins;   // by line of `body`, if that was C++ (cpp_wrapper_calls.h)
};

struct Parts {
  std::vector<KernelSource> sources;
  std::map<std::string, std::size_t, std::less<>> source_of;  // index, by name
  std::map<std::string, Function, std::less<>> functions;     // by name
};

// Splits the text. The functions point into `text`.
Parts parts_of(std::string_view text);

// Facts from the comments that Inductor writes above a kernel.
struct KernelComment {
  std::vector<std::string> nodes, source_nodes, operators;
  std::string handle;

  // Adds what one line says.
  void add(std::string_view line);
};

// --- Python expressions ---

// Splits at separators outside of brackets and strings; the parts are trimmed, and a last empty
// part is left out.
std::vector<std::string_view> split_list(std::string_view text, char separator = ',');
// The text without the comment at its end, trimmed.
std::string_view without_comment(std::string_view text);
// The content of a tuple or list, trimmed; the text itself if it does not start with a bracket.
std::string_view inside(std::string_view text);
struct CallText {
  std::string_view callee, arguments, rest;
};
// Splits `callee(arguments)rest`. False if the text is not a call of a dotted name.
bool split_call(std::string_view text, CallText& call);

}  // namespace jointer::wrapper

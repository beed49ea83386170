#pragma once

// Arguments and tensor types as FX prints them, shared by the reader of print_readable text and by
// the graph literals of tests.

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Thrown inside text parsers; it ends at their public functions.
struct TextMistake {
  std::string message;
};

template <class... Args>
[[noreturn]] void text_mistake(fmt::format_string<Args...> format, Args&&... args) {
  throw TextMistake{fmt::format(format, std::forward<Args>(args)...)};
}

// A tensor as text describes it: `f32[512, 256][256, 1]cuda:0`.
struct TensorText {
  DType dtype = DType::float32;
  std::vector<Dim> shape, stride;
  bool has_stride = false;
  std::string device;  // empty where the text has none
};

// Reads one line (or several joined) from left to right. Names are node names of one part.
class PythonText {
 public:
  PythonText(Graph& graph, PartId part, std::string_view text)
      : graph_(graph), part_(part), text_(text) {}

  // Next character that is no blank, 0 at the end.
  char peek();
  bool take(char c);
  bool take(std::string_view token);
  void expect(char c);
  [[nodiscard]] bool at_end() { return peek() == '\0'; }
  // Letters, digits, `_` and `.`; at least one.
  std::string_view word();
  std::string_view rest();
  [[nodiscard]] std::size_t column() const { return at_ + 1; }

  // A number, text, name, list, tuple, dict, slice(...), device(...), torch.float32, bf16, inf.
  // A name must be that of a node before it.
  Argument argument() { return argument(0); }
  // What stands between a call's parentheses, the closing one included.
  struct Call {
    Argument args, kwargs;
    bool has_kwargs = false;
  };
  Call call_arguments();
  // `f32[8, u0][8, 1]cuda:0`, strides and device optional.
  TensorText tensor_type();
  // A quoted text with its escapes resolved.
  std::string quoted();
  std::int64_t integer();

 private:
  Argument argument(int depth);
  Argument number();
  Argument named(int depth);
  Argument sequence(char close, int depth);
  Argument dictionary(int depth);
  std::vector<Dim> dims();

  Graph& graph_;
  PartId part_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace jointer

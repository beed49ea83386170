#pragma once

// Arguments and tensor types as FX prints them, shared by the reader of print_readable text and by
// the graph literals of tests.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Thrown inside text parsers; it ends at their public functions.
struct TextMistake {
  std::string message;
  std::string unknown_name;  // where the mistake is a name that stands for nothing so far
};

template <class... Args>
[[noreturn]] void text_mistake(fmt::format_string<Args...> format, Args&&... args) {
  throw TextMistake{fmt::format(format, std::forward<Args>(args)...), {}};
}

// A tensor as text describes it: `f32[512, 256][256, 1]cuda:0`.
struct TensorText {
  DType dtype = DType::float32;
  std::vector<Dim> shape, stride;
  bool has_stride = false;
  std::string device;  // empty where the text has none
};

// Whether it may be a device: "cpu", "cuda:0", or one of a backend that is not known here.
bool is_device_name(std::string_view name);

// Reads one statement, over one line or several, from left to right. Names are node names of one
// part; `#` starts a comment that ends with its line.
class PythonText {
 public:
  // What may stand where an argument is expected. A literal holds plain values only. FX text also
  // holds symbolic sizes (`2*s0`) and the `repr` of objects that mean nothing here (`<function f>`,
  // `Policy.SAVE`): those become opaque arguments.
  enum class Style : std::uint8_t { literal, fx };

  PythonText(Graph& graph, PartId part, std::string_view text, Style style = Style::literal)
      : graph_(graph), part_(part), text_(text), style_(style) {}

  // Next character that is no blank and in no comment, 0 at the end.
  char peek();
  // The last comment that was passed over, without its `#`, since this was last asked.
  std::string_view take_comment() { return std::exchange(comment_, {}); }
  bool take(char c);
  bool take(std::string_view token);
  void expect(char c);
  [[nodiscard]] bool at_end() { return peek() == '\0'; }
  // Letters, digits, `_` and `.`; at least one.
  std::string_view word();
  std::string_view rest();
  // Back to the start.
  void rewind() { at_ = 0; }
  [[nodiscard]] std::size_t column() const { return at_ + 1; }

  // A number, text, name, list, tuple, dict, slice(...), device(...), torch.float32, bf16, inf.
  // A name must be that of a node before it. An infix operator after it is left alone.
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
  Argument complex_number(std::size_t begin, std::size_t middle);
  Argument element(int depth);
  Argument expression(std::size_t begin);
  Argument opaque(std::size_t begin, std::string_view type);
  void skip_to_delimiter();
  void escape(std::string& text);
  std::vector<Dim> dims();

  Graph& graph_;
  PartId part_;
  std::string_view text_;
  Style style_;
  std::size_t at_ = 0;
  std::string_view comment_;
};

}  // namespace jointer

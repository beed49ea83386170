#pragma once

// Parses arguments and tensor types as FX prints them. Used for print_readable text and for graph
// literals.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/python_cursor.h"

namespace jointer {

// Thrown inside text parsers and caught by their public functions.
struct TextMistake {
  std::string message;
  std::string unknown_name;  // set if the mistake is an unknown name
};

template <class... Args>
[[noreturn]] void text_mistake(fmt::format_string<Args...> format, Args&&... args) {
  throw TextMistake{fmt::format(format, std::forward<Args>(args)...), {}};
}

// A tensor type in its text form: `f32[512, 256][256, 1]cuda:0`.
struct TensorText {
  DType dtype = DType::float32;
  std::vector<Dim> shape, stride;
  bool has_stride = false;
  std::string device;  // empty if the text does not name one
};

// True for device names such as "cpu" and "cuda:0", including those of unknown backends.
bool is_device_name(std::string_view name);

// Reads one statement. Names refer to nodes of one part.
class PythonText : public PythonCursor {
 public:
  // The syntax of arguments. Literals contain only plain values. FX text also contains symbolic
  // sizes (`2*s0`) and the `repr` of unknown objects (`<function f>`, `Policy.SAVE`), which become
  // opaque arguments.
  enum class Style : std::uint8_t { literal, fx };

  PythonText(Graph& graph, PartId part, std::string_view text, Style style = Style::literal)
      : PythonCursor(text), graph_(graph), part_(part), style_(style) {}

  void expect(char c);
  [[nodiscard]] bool at_end() { return peek() == '\0'; }
  // Reads one or more letters, digits, `_` and `.`.
  std::string_view word();
  std::string_view rest();
  [[nodiscard]] std::size_t column() const { return at_ + 1; }

  // Reads a number, string, name, list, tuple, dict, slice(...), device(...), torch.float32, bf16
  // or inf. In a literal, any other name must be that of an earlier node. Does not read a following
  // infix operator.
  Argument argument() { return argument(0); }
  struct Call {
    Argument args, kwargs;
    bool has_kwargs = false;
  };
  // Reads the arguments of a call up to and including the closing parenthesis.
  Call call_arguments();
  // Reads `f32[8, u0][8, 1]cuda:0`; strides and device are optional.
  TensorText tensor_type();
  // Reads a quoted string and resolves its escapes.
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
  Style style_;
};

}  // namespace jointer

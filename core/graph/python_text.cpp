#include "core/graph/python_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace jointer {
namespace {

constexpr int kMostDepth = 64;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<Argument::Kind> torch_constant(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kFormats{"contiguous_format", "preserve_format",
                                                            "channels_last", "channels_last_3d"};
  static constexpr std::array<std::string_view, 8> kLayouts{
      "strided",    "sparse_coo", "sparse_csr", "sparse_csc",
      "sparse_bsr", "sparse_bsc", "_mkldnn",    "jagged"};
  if (parse_dtype(name)) return Argument::Kind::dtype;
  if (std::find(kFormats.begin(), kFormats.end(), name) != kFormats.end())
    return Argument::Kind::memory_format;
  if (std::find(kLayouts.begin(), kLayouts.end(), name) != kLayouts.end())
    return Argument::Kind::layout;
  return std::nullopt;
}

}  // namespace

char PythonText::peek() {
  while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ') ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool PythonText::take(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

bool PythonText::take(std::string_view token) {
  peek();
  if (text_.substr(at_, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

void PythonText::expect(char c) {
  if (!take(c)) text_mistake("`{}` is expected at column {}", c, column());
}

std::string_view PythonText::word() {
  peek();
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  if (begin == at_) text_mistake("a name is expected at column {}", column());
  return text_.substr(begin, at_ - begin);
}

std::string_view PythonText::rest() {
  peek();
  std::string_view text = text_.substr(at_);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  at_ = text_.size();
  return text;
}

std::int64_t PythonText::integer() {
  const Argument n = argument();
  if (n.kind != Argument::Kind::integer) text_mistake("a whole number is expected");
  return n.integer;
}

Argument PythonText::argument(int depth) {
  if (depth > kMostDepth) text_mistake("nested more than {} deep", kMostDepth);
  const char c = peek();
  if (take('[')) return sequence(']', depth);
  if (take('(')) return sequence(')', depth);
  if (take('{')) return dictionary(depth);
  if (c == '\'' || c == '"')
    return Argument::of_text(Argument::Kind::string, graph_.intern(quoted()));
  if (is_digit(c) || c == '-' || c == '.') return number();
  return named(depth);
}

Argument PythonText::number() {
  const bool negative = take('-');
  if (negative && take("inf")) return Argument::of_real(-std::numeric_limits<double>::infinity());
  const std::size_t begin = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const bool exponent_sign =
        (c == '-' || c == '+') && at_ > begin && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
    if (!is_word(c) && !exponent_sign) break;
    ++at_;
  }
  const std::string digits = (negative ? "-" : "") + std::string(text_.substr(begin, at_ - begin));
  const char* const first = digits.data();
  const char* const last = first + digits.size();
  if (digits.find_first_of(".eEj") == std::string::npos) {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(first, last, value);
    if (status == std::errc{} && end == last) return Argument::of_int(value);
    if (status == std::errc::result_out_of_range && digits.size() <= 40)
      return Argument::of_text(Argument::Kind::raw, graph_.intern(digits));
  } else if (digits.back() == 'j') {
    double value = 0;
    const auto [end, status] = std::from_chars(first, last - 1, value);
    if (status == std::errc{} && end == last - 1) {
      const std::array<Argument, 2> parts{Argument::of_real(0), Argument::of_real(value)};
      return graph_.make_children(Argument::Kind::complex, parts);
    }
  } else {
    double value = 0;
    const auto [end, status] = std::from_chars(first, last, value);
    if (status == std::errc{} && end == last) return Argument::of_real(value);
  }
  text_mistake("`{}` is not a number", digits.substr(0, 40));
}

Argument PythonText::named(int depth) {
  const std::string_view name = word();
  if (name == "None") return {};
  if (name == "True" || name == "False") return Argument::of_bool(name == "True");
  if (name == "inf" || name == "nan")
    return Argument::of_real(name == "inf" ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN());
  if (name == "slice" && take('(')) {
    Argument parts = sequence(')', depth);
    if (parts.count != 3) text_mistake("a slice has {} parts", parts.count);
    parts.kind = Argument::Kind::slice;
    return parts;
  }
  if ((name == "device" || name == "torch.device") && take('(')) {
    // device(type='cuda', index=0)
    const Call call = call_arguments();
    std::string device;
    for (const Argument& a : graph_.children(call.args))
      if (a.kind == Argument::Kind::string) device = graph_.text(a.text());
    const auto keywords = graph_.children(call.kwargs);
    for (std::size_t i = 0; i + 1 < keywords.size(); i += 2) {
      const Argument& value = keywords[i + 1];
      if (value.kind == Argument::Kind::string) device = graph_.text(value.text());
      if (value.kind == Argument::Kind::integer) device += ":" + std::to_string(value.integer);
    }
    return Argument::of_text(Argument::Kind::device, graph_.intern(device));
  }
  // A node's name hides everything else.
  if (const NodeId node = graph_.find(part_, name)) return Argument::of_node(node);
  std::string_view constant = name;
  if (constant.starts_with("torch.")) constant.remove_prefix(6);
  if (const auto kind = torch_constant(constant)) {
    if (*kind == Argument::Kind::dtype) constant = to_string(*parse_dtype(constant));
    return Argument::of_text(*kind, graph_.intern(constant));
  }
  if (constant.starts_with("ops.")) {
    constant.remove_prefix(4);
    return Argument::of_text(Argument::Kind::op, graph_.intern(constant));
  }
  text_mistake("`{}` is no node before this one, and nothing else that is known", name);
}

Argument PythonText::sequence(char close, int depth) {
  std::vector<Argument> elements;
  while (!take(close)) {
    if (!elements.empty()) {
      expect(',');
      if (take(close)) break;  // a trailing comma
    }
    elements.push_back(argument(depth + 1));
  }
  return graph_.make_children(close == ']' ? Argument::Kind::list : Argument::Kind::tuple,
                              elements);
}

Argument PythonText::dictionary(int depth) {
  std::vector<Argument> pairs;
  while (!take('}')) {
    if (!pairs.empty()) expect(',');
    const Argument key = argument(depth + 1);
    if (key.kind != Argument::Kind::string) text_mistake("a dictionary's key must be a text");
    expect(':');
    pairs.push_back(key);
    pairs.push_back(argument(depth + 1));
  }
  return graph_.make_children(Argument::Kind::dict, pairs);
}

PythonText::Call PythonText::call_arguments() {
  std::vector<Argument> positional, keywords;
  bool first = true;
  while (!take(')')) {
    if (!first) expect(',');
    first = false;
    // NAME=VALUE, but not NAME==...
    const std::size_t start = (peek(), at_);
    if (std::isalpha(static_cast<unsigned char>(peek())) != 0 || peek() == '_') {
      const std::string_view key = word();
      if (peek() == '=' && text_.substr(at_, 2) != "==") {
        ++at_;
        keywords.push_back(Argument::of_text(Argument::Kind::string, graph_.intern(key)));
        keywords.push_back(argument());
        continue;
      }
      at_ = start;
    }
    positional.push_back(argument());
  }
  return {.args = graph_.make_children(Argument::Kind::list, positional),
          .kwargs = graph_.make_children(Argument::Kind::dict, keywords),
          .has_kwargs = !keywords.empty()};
}

std::string PythonText::quoted() {
  const char quote = peek();
  if (quote != '\'' && quote != '"') text_mistake("a text is expected at column {}", column());
  ++at_;
  std::string text;
  while (at_ < text_.size() && text_[at_] != quote) {
    char c = text_[at_++];
    if (c == '\\' && at_ < text_.size()) {
      const char escaped = text_[at_++];
      switch (escaped) {
        case 'n':
          c = '\n';
          break;
        case 't':
          c = '\t';
          break;
        case 'r':
          c = '\r';
          break;
        case '\\':
        case '\'':
        case '"':
          c = escaped;
          break;
        default:  // \x1b and the like stay as they are
          text += '\\';
          c = escaped;
      }
    }
    text += c;
  }
  if (at_ >= text_.size()) text_mistake("a text is not closed");
  ++at_;
  return text;
}

std::vector<Dim> PythonText::dims() {
  // Expressions hold commas and brackets of their own: Max(1, u0).
  expect('[');
  std::vector<Dim> result;
  if (take(']')) return result;
  std::size_t begin = at_;
  for (int depth = 0; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth > 0 || (c != ',' && c != ']')) continue;
    std::string_view item = text_.substr(begin, at_ - begin);
    while (item.starts_with(' ')) item.remove_prefix(1);
    std::int64_t number = 0;
    const auto [end, status] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (status == std::errc{} && end == item.data() + item.size()) {
      result.push_back({.value = number, .expression = {}});
    } else {
      const auto expression = graph_.intern_expression(part_, item, {});
      if (!expression) text_mistake("{}", expression.error().message);
      result.push_back({.value = 0, .expression = *expression});
    }
    begin = at_ + 1;
    if (c == ']') {
      ++at_;
      return result;
    }
  }
  text_mistake("a shape is not closed");
}

TensorText PythonText::tensor_type() {
  TensorText tensor;
  const std::string_view name = word();
  const auto dtype = parse_dtype(name);
  if (!dtype) text_mistake("unknown dtype `{}`", name);
  tensor.dtype = *dtype;
  tensor.shape = dims();
  if (peek() == '[') {
    tensor.stride = dims();
    tensor.has_stride = true;
    if (tensor.stride.size() != tensor.shape.size())
      text_mistake("{} sizes but {} strides", tensor.shape.size(), tensor.stride.size());
  }
  if (std::isalpha(static_cast<unsigned char>(peek())) != 0) {
    tensor.device = word();
    if (take(':')) tensor.device += ":" + std::string(word());
  }
  return tensor;
}

}  // namespace jointer

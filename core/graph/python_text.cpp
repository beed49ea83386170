#include "core/graph/python_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "core/base/characters.h"
#include "core/base/counted.h"
#include "core/base/number_text.h"
#include "core/base/trimmed.h"
#include "core/base/utf8.h"
#include "core/graph/limits.h"
#include "core/graph/size_function.h"

namespace jointer {
namespace {

std::optional<Argument::Kind> torch_constant(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kFormats{"contiguous_format", "preserve_format",
                                                            "channels_last", "channels_last_3d"};
  static constexpr std::array<std::string_view, 8> kLayouts{
      "strided",    "sparse_coo", "sparse_csr", "sparse_csc",
      "sparse_bsr", "sparse_bsc", "_mkldnn",    "jagged"};
  if (parse_dtype(name)) return Argument::Kind::dtype;
  if (std::ranges::find(kFormats, name) != kFormats.end()) return Argument::Kind::memory_format;
  if (std::ranges::find(kLayouts, name) != kLayouts.end()) return Argument::Kind::layout;
  return std::nullopt;
}

// Appends a code point as UTF-8. Returns false if the number is not a code point.
bool append_utf8(std::string& text, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | (point >> 6));
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3f));
    put(0x80 | ((point >> 6) & 0x3f));
    put(0x80 | (point & 0x3f));
  }
  return true;
}

// True for names that torch gives to symbols: s0, u12, s75, zf3, zuf0.
bool is_symbol(std::string_view name) {
  const auto digits = name.find_first_of("0123456789");
  if (digits == std::string_view::npos || digits == 0 || digits > 3) return false;
  return name.find_first_not_of("0123456789", digits) == std::string_view::npos &&
         name.find_first_not_of("suzf") == digits;
}

}  // namespace

bool is_device_name(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return is_name_character(c) || c == ':'; });
}

void PythonText::expect(char c) {
  if (!take(c)) text_mistake("expected `{}` at column {}", c, column());
}

std::string_view PythonText::word() {
  peek();
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_dotted_name_character(text_[at_])) ++at_;
  if (begin == at_) text_mistake("expected a name at column {}", column());
  return text_.substr(begin, at_ - begin);
}

std::string_view PythonText::rest() {
  peek();
  const std::string_view text = trimmed(text_.substr(at_));
  at_ = text_.size();
  return text;
}

std::int64_t PythonText::integer() {
  peek();
  const std::size_t begin = column();
  const Argument n = argument();
  if (n.kind != Argument::Kind::integer) text_mistake("expected an integer at column {}", begin);
  return n.integer;
}

Argument PythonText::argument(int depth) {
  if (depth > kMaxArgumentDepth)
    text_mistake("the arguments are nested more than {} levels deep", kMaxArgumentDepth);
  const char c = peek();
  if (take('[')) return sequence(']', depth);
  if (take('(')) return sequence(')', depth);
  if (take('{')) return dictionary(depth);
  if (c == '\'' || c == '"')
    return Argument::of_text(Argument::Kind::string, graph_.intern(quoted()));
  const bool fx = style_ == Style::fx;
  if (fx && c == '<') {
    // `<torch.Generator object at 0x7f...>` starts with its type.
    const std::string_view inner = text_.substr(at_ + 1);
    const std::string_view type = inner.substr(0, inner.find(' '));
    const bool tells = inner.substr(type.size()).starts_with(" object");
    return opaque(at_, tells ? type : "object");
  }
  if (fx && c == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != 'i' && text_[at_ + 1] != '.' &&
      !is_digit(text_[at_ + 1]))
    return expression(at_);
  if (fx && take("...")) return opaque(at_ - 3, "ellipsis");
  if (is_digit(c) || c == '-' || c == '.') return number();
  return named(depth);
}

// Reads an argument inside a list or a call, where a symbolic size may be an entire expression.
Argument PythonText::element(int depth) {
  peek();
  const std::size_t begin = at_;
  if (style_ != Style::fx) return argument(depth);
  const Argument read = argument(depth);
  const bool grouped = read.kind == Argument::Kind::tuple && read.count == 1 &&
                       text_[begin] == '(' &&
                       text_.substr(begin, at_ - begin).find(',') == std::string_view::npos;
  constexpr std::string_view kInfix = "+-*/%<>=!&|^";
  const char next = peek();
  if (grouped && graph_.children(read)[0].kind == Argument::Kind::complex)
    return graph_.children(read)[0];
  if (!grouped && (next == '\0' || kInfix.find(next) == std::string_view::npos)) return read;
  at_ = begin;
  return expression(begin);
}

// Skips to the comma or bracket that ends the current element.
void PythonText::skip_to_delimiter() {
  std::string open;  // the open brackets, outermost first
  for (char quote = 0; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (quote != 0) {
      if (c == '\\') ++at_;
      if (c == quote || c == '\n') quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    const bool closes = c == ')' || c == ']' || c == '}';
    // A `<` that is still open here was a comparison, as in `(a < b)`.
    while (closes && open.ends_with('<')) open.pop_back();
    if (open.empty() && (closes || c == ',')) return;
    if (closes) open.pop_back();
    // The `<` of `<=` does not open a bracket, and the `>` of `->`, `>=` and `(a > b)` does not
    // close one.
    const bool compares = text_.substr(at_ + 1, 1) == "=";
    if (c == '(' || c == '[' || c == '{' || (c == '<' && !compares)) open += c;
    if (c == '>' && !compares && open.ends_with('<') && text_[at_ - 1] != '-') open.pop_back();
  }
  at_ = std::min(at_, text_.size());
}

Argument PythonText::expression(std::size_t begin) {
  at_ = begin;
  int depth = 0;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '(' || c == '[') ++depth;
    if (depth == 0 && (c == ')' || c == ']' || c == '}' || c == ',' || c == ';')) break;
    if (c == ')' || c == ']') --depth;
  }
  std::string_view text = text_.substr(begin, at_ - begin);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto id = graph_.intern_expression(part_, text, {});
  if (!id)
    text_mistake("`{}` is not a valid argument: {}", first_characters(text, 60),
                 id.error().message);
  return Argument::of_symbol(*id);
}

Argument PythonText::opaque(std::size_t begin, std::string_view type) {
  at_ = begin;
  skip_to_delimiter();
  const StringId type_id = graph_.intern(type);
  return Argument::of_opaque(type_id, graph_.intern(text_.substr(begin, at_ - begin)));
}

Argument PythonText::number() {
  const bool negative = take('-');
  if (negative && take("inf")) return Argument::of_real(-std::numeric_limits<double>::infinity());
  const std::size_t begin = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const bool exponent_sign =
        (c == '-' || c == '+') && at_ > begin && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
    if (!is_dotted_name_character(c) && !exponent_sign) break;
    ++at_;
  }
  const std::size_t start = negative ? text_.rfind('-', begin) : begin;
  if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-') && start > 0 &&
      text_[start - 1] == '(')
    if (const Argument value = complex_number(start, at_); value.kind != Argument::Kind::none)
      return value;
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
    if (const auto value = number_of<double>(std::string_view(first, last - 1))) {
      const std::array<Argument, 2> parts{Argument::of_real(0), Argument::of_real(*value)};
      return graph_.make_children(Argument::Kind::complex, parts);
    }
  } else if (const auto value = number_of<double>(digits)) {
    return Argument::of_real(*value);
  }
  text_mistake("`{}` is not a number", first_characters(digits, 40));
}

// Reads the `1+2j` of Python's `(1+2j)`; the imaginary part starts at `middle`. Returns none if the
// text is not a complex number.
Argument PythonText::complex_number(std::size_t begin, std::size_t middle) {
  const std::size_t end = text_.find(')', middle);
  if (end == std::string_view::npos || text_[end - 1] != 'j') return {};
  const auto half = [](std::string_view text) -> std::optional<double> {
    if (text.starts_with('+')) text.remove_prefix(1);
    return number_of<double>(text);
  };
  const auto re = half(text_.substr(begin, middle - begin));
  const auto im = half(text_.substr(middle, end - 1 - middle));
  if (!re || !im) return {};
  at_ = end;
  const std::array<Argument, 2> parts{Argument::of_real(*re), Argument::of_real(*im)};
  return graph_.make_children(Argument::Kind::complex, parts);
}

Argument PythonText::named(int depth) {
  const std::size_t begin = (peek(), at_);
  const std::string_view name = word();
  if (name == "None") return {};
  if (name == "True" || name == "False") return Argument::of_bool(name == "True");
  if (name == "inf" || name == "nan")
    return Argument::of_real(name == "inf" ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN());
  if (name == "slice" && take('(')) {
    Argument parts = sequence(')', depth);
    if (parts.count != 3) text_mistake("a slice has {} instead of 3", counted(parts.count, "part"));
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
    if (!is_device_name(device)) text_mistake("`{}` is not a device", first_characters(device, 40));
    return Argument::of_text(Argument::Kind::device, graph_.intern(device));
  }
  // Node names take precedence.
  if (const NodeId node = graph_.find(part_, name)) return Argument::of_node(node);
  std::string_view constant = name;
  if (constant.starts_with("torch.")) constant.remove_prefix(6);
  if (const auto kind = torch_constant(constant)) {
    if (*kind == Argument::Kind::dtype) constant = to_string(*parse_dtype(constant));
    return Argument::of_text(*kind, graph_.intern(constant));
  }
  if (constant.starts_with("ops.")) {
    constant.remove_prefix(4);
    if (constant.starts_with("higher_order.")) constant.remove_prefix(13);
    return Argument::of_text(Argument::Kind::op, graph_.intern(constant));
  }
  if (style_ == Style::fx) {
    if (is_symbol(name) || (at_ < text_.size() && text_[at_] == '(' && is_size_function(name)))
      return expression(begin);
    if (name == "Ellipsis") return opaque(begin, "ellipsis");
    if (at_ < text_.size() && text_[at_] == '(') return opaque(begin, name);
    if (const auto dot = name.rfind('.'); dot != std::string_view::npos && dot > 0)
      return opaque(begin, name.substr(0, dot));
  }
  throw TextMistake{fmt::format("`{}` is neither an earlier node nor a known name", name),
                    std::string(name)};
}

Argument PythonText::sequence(char close, int depth) {
  std::vector<Argument> elements;
  while (!take(close)) {
    if (!elements.empty()) {
      expect(',');
      if (take(close)) break;  // a trailing comma
    }
    elements.push_back(element(depth + 1));
  }
  return graph_.make_children(close == ']' ? Argument::Kind::list : Argument::Kind::tuple,
                              elements);
}

Argument PythonText::dictionary(int depth) {
  std::vector<Argument> pairs;
  while (!take('}')) {
    if (!pairs.empty()) expect(',');
    peek();
    const std::size_t key_column = column();
    Argument key = argument(depth + 1);
    // The capture format allows only strings as keys.
    if (key.kind == Argument::Kind::integer && style_ == Style::fx)
      key = Argument::of_text(Argument::Kind::string, graph_.intern(std::to_string(key.integer)));
    if (key.kind != Argument::Kind::string)
      text_mistake("the dictionary key at column {} is not a string", key_column);
    expect(':');
    pairs.push_back(key);
    pairs.push_back(element(depth + 1));
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
    if (is_name_start(peek())) {
      const std::string_view key = word();
      if (peek() == '=' && text_.substr(at_, 2) != "==") {
        ++at_;
        keywords.push_back(Argument::of_text(Argument::Kind::string, graph_.intern(key)));
        keywords.push_back(element(1));
        continue;
      }
      at_ = start;
    }
    positional.push_back(element(1));
  }
  return {.args = graph_.make_children(Argument::Kind::list, positional),
          .kwargs = graph_.make_children(Argument::Kind::dict, keywords),
          .has_kwargs = !keywords.empty()};
}

std::string PythonText::quoted() {
  const char quote = peek();
  if (quote != '\'' && quote != '"') text_mistake("expected a string at column {}", column());
  const std::size_t begin = column();
  ++at_;
  std::string text;
  while (at_ < text_.size() && text_[at_] != quote) {
    const char c = text_[at_++];
    if (c == '\\' && at_ < text_.size()) {
      escape(text);
      continue;
    }
    text += c;
  }
  if (at_ >= text_.size()) text_mistake("the string at column {} lacks its closing quote", begin);
  ++at_;
  return text;
}

// Resolves an escape sequence of Python's `repr` whose backslash has already been read.
void PythonText::escape(std::string& text) {
  const char kind = text_[at_++];
  constexpr std::string_view kSimple = "ntr\\'\"0abfv";
  constexpr std::string_view kWide = "xuU";
  if (const auto wide = kWide.find(kind); wide != std::string_view::npos) {
    const std::size_t digits = std::size_t{2} << wide;
    std::uint32_t point = 0;
    const char* const first = text_.data() + at_;
    if (text_.size() - at_ >= digits) {
      const auto [end, status] = std::from_chars(first, first + digits, point, 16);
      if (status == std::errc{} && end == first + digits && append_utf8(text, point)) {
        at_ += digits;
        return;
      }
    }
  } else if (const auto simple = kSimple.find(kind); simple != std::string_view::npos) {
    text += std::string_view("\n\t\r\\'\"\0\a\b\f\v", kSimple.size())[simple];
    return;
  }
  text += '\\';
  text += kind;
}

std::vector<Dim> PythonText::dims() {
  // Sizes may be expressions with commas and parentheses: Max(1, u0).
  expect('[');
  const std::size_t shape_column = column() - 1;
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
    if (const auto number = number_of<std::int64_t>(item)) {
      result.push_back({.value = *number});
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
  text_mistake("the shape at column {} lacks its closing `]`", shape_column);
}

TensorText PythonText::tensor_type() {
  TensorText tensor;
  const std::string_view name = word();
  const auto dtype = parse_dtype(name);
  if (!dtype) text_mistake("unknown dtype `{}`", name);
  tensor.dtype = *dtype;
  tensor.shape = dims();
  if (tensor.shape.size() > kMaxRank)
    text_mistake("a tensor has {} dimensions, but at most {} are supported", tensor.shape.size(),
                 kMaxRank);
  if (peek() == '[') {
    tensor.stride = dims();
    tensor.has_stride = true;
    if (tensor.stride.size() != tensor.shape.size())
      text_mistake("a tensor has {} but {}", counted(tensor.shape.size(), "size"),
                   counted(tensor.stride.size(), "stride"));
  }
  if (is_letter(peek())) {
    tensor.device = word();
    if (take(':')) tensor.device += ":" + std::string(word());
  }
  return tensor;
}

}  // namespace jointer

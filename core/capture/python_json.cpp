#include "core/capture/python_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/characters.h"
#include "core/base/json_text.h"
#include "core/base/number_text.h"

namespace jointer {
namespace {

constexpr int kMaxDepth = 32;

class PythonReader {
 public:
  explicit PythonReader(std::string_view text) : text_(text) {}

  std::optional<OrderedJson> whole() {
    auto json = value(0);
    if (peek() != '\0') return std::nullopt;
    return json;
  }

 private:
  char peek() {
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  std::optional<OrderedJson> value(int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    const char c = peek();
    if (c == '\'' || c == '"') return text();
    if (take('{')) return dictionary(depth);
    if (take('[')) return list(']', depth);
    if (take('(')) return list(')', depth);
    if (c == '-' || is_dotted_name_character(c)) return named(depth);
    // Text such as <class 'torch.nn.Linear'>, up to the end of the element.
    const std::size_t begin = at_;
    int open = 0;
    for (; at_ < text_.size(); ++at_) {
      const char at = text_[at_];
      if (open == 0 && (at == ',' || at == ')' || at == ']' || at == '}')) break;
      if (at == '<' || at == '(' || at == '[') ++open;
      if (at == '>' || at == ')' || at == ']') --open;
    }
    if (at_ == begin) return std::nullopt;
    return OrderedJson(text_.substr(begin, at_ - begin));
  }

  std::optional<OrderedJson> text() {
    const char quote = text_[at_++];
    std::string result;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        const char escaped = text_[at_];
        result += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
      } else {
        result += text_[at_];
      }
      ++at_;
    }
    if (at_ >= text_.size()) return std::nullopt;
    ++at_;
    return OrderedJson(std::move(result));
  }

  std::optional<OrderedJson> list(char close, int depth) {
    OrderedJson result = OrderedJson::array();
    while (!take(close)) {
      if (!result.empty() && !take(',')) return std::nullopt;
      if (take(close)) break;
      auto element = value(depth + 1);
      if (!element) return std::nullopt;
      result.push_back(*std::move(element));
    }
    return result;
  }

  std::optional<OrderedJson> dictionary(int depth) {
    OrderedJson result = OrderedJson::object();
    while (!take('}')) {
      if (!result.empty() && !take(',')) return std::nullopt;
      if (take('}')) break;
      const auto key = value(depth + 1);
      if (!key || !take(':')) return std::nullopt;
      auto element = value(depth + 1);
      if (!element) return std::nullopt;
      result[key->is_string() ? key->get<std::string>() : key->dump()] = *std::move(element);
    }
    return result;
  }

  std::optional<OrderedJson> named(int depth) {
    const std::size_t begin = at_;
    if (text_[at_] == '-' || text_[at_] == '+') ++at_;
    while (at_ < text_.size() && is_dotted_name_character(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "None") return OrderedJson(nullptr);
    if (word == "True" || word == "False") return OrderedJson(word == "True");
    if (const auto integer = number_of<std::int64_t>(word)) return OrderedJson(*integer);
    if (const auto real = number_of<double>(word); real && std::isfinite(*real))
      return OrderedJson(*real);
    if (!take('(')) return OrderedJson(word);
    // A dataclass: NAME(field=value, ...). Unnamed fields are numbered.
    OrderedJson result = {{"type", word}};
    while (!take(')')) {
      if (result.size() > 1 && !take(',')) return std::nullopt;
      if (take(')')) break;
      peek();
      const std::size_t field = at_;
      while (at_ < text_.size() && is_dotted_name_character(text_[at_])) ++at_;
      std::string key(text_.substr(field, at_ - field));
      if (key.empty() || !take('=')) {
        at_ = field;
        key = std::to_string(result.size() - 1);
      }
      auto element = value(depth + 1);
      if (!element) return std::nullopt;
      result[key] = *std::move(element);
    }
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string python_to_json(std::string_view text) {
  const auto json = PythonReader(text).whole();
  return json ? write_json(*json) : std::string();
}

}  // namespace jointer

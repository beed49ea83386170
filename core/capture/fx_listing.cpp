#include "core/capture/fx_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/base/characters.h"
#include "core/base/trimmed.h"
#include "core/base/utf8.h"
#include "core/graph/limits.h"
#include "core/graph/python_text.h"
#include "core/ops/operator_table.h"

namespace jointer::fx {
namespace {

bool is_device(std::string_view text) {
  const std::string_view type = text.substr(0, text.find(':'));
  const std::string_view index = text.size() > type.size() ? text.substr(type.size() + 1) : "0";
  return (type == "cpu" || type == "cuda" || type == "meta" || type == "xpu" || type == "mps") &&
         index.find_first_not_of("0123456789") == std::string_view::npos;
}

// True for a number, a constant, a symbolic size or the `repr` of an object: a listing prints these
// as Python code does.
bool is_plain_code(std::string_view text) {
  if (text == "None" || text == "True" || text == "False" || text == "inf" || text == "-inf" ||
      text == "nan")
    return true;
  if (text.starts_with("torch.") || text.starts_with("slice(") || text.starts_with('<'))
    return true;
  const auto digit = text.find_first_of("0123456789");
  if (digit == std::string_view::npos) return false;
  // Digits, letters of symbols (s0, u12) and operators.
  return std::ranges::all_of(text, [](char c) {
    return is_digit(c) || std::string_view("suzfej+-*/%.() ").find(c) != std::string_view::npos;
  });
}

// True if the text is not empty and contains only letters, digits and the characters in `more`.
bool is_word(std::string_view text, std::string_view more) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || is_digit(c) || more.find(c) != std::string_view::npos;
  });
}

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// Reads arguments such as `(%a, [4, 2], sum)`, guided by the types in a schema.
class Arguments {
 public:
  explicit Arguments(std::string_view text) : text_(text) {}

  // Reads the elements between brackets. Element i has the type `type_of(i)`.
  template <class TypeOf>
  std::vector<std::string> list(char open, char close, TypeOf type_of, int depth) {
    if (depth > kMaxArgumentDepth)
      text_mistake("the arguments are nested more than {} levels deep", kMaxArgumentDepth);
    std::vector<std::string> elements;
    expect(open);
    while (!take(close)) {
      if (!elements.empty()) {
        expect(',');
        if (take(close)) break;
      }
      elements.push_back(value(type_of(elements.size()), depth + 1));
    }
    return elements;
  }

  // Converts `{device: cpu}` to `device = device('cpu')`, one string per pair.
  std::vector<std::string> keywords(const OperatorInfo& op) {
    std::vector<std::string> pairs;
    expect('{');
    while (!take('}')) {
      if (!pairs.empty()) expect(',');
      const std::string_view key = until(":");
      expect(':');
      const int index = op.argument_index(key);
      const std::string_view type =
          index < 0 ? std::string_view{} : op.arguments[static_cast<std::size_t>(index)].type;
      pairs.push_back(fmt::format("{} = {}", key, value(type, 0)));
    }
    return pairs;
  }

  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool take(char c) { return take(std::string_view(&c, 1)); }
  void expect(char c) {
    if (!take(c)) text_mistake("expected `{}` at column {}; is the text truncated?", c, at_ + 1);
  }
  std::string_view until(std::string_view ends) {
    skip();
    const std::size_t begin = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (depth == 0 && ends.find(c) != std::string_view::npos) break;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
    }
    return trimmed(text_.substr(begin, at_ - begin));
  }

 private:
  void skip() {
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ') ++at_;
  }

  std::string value(std::string_view type, int depth) {
    skip();
    if (take('%')) return std::string(until(",)]}"));
    const char open = at_ < text_.size() ? text_[at_] : '\0';
    if (open == '[' || open == '(') {
      const char close = open == '[' ? ']' : ')';
      const std::string_view element = type.substr(0, type.find('['));
      const auto elements = list(
          open, close, [&](std::size_t) { return element; }, depth);
      const bool single = open == '(' && elements.size() == 1;
      return fmt::format("{}{}{}{}", open, fmt::join(elements, ", "), single ? "," : "", close);
    }
    if (open == '{') return dictionary(depth);
    const std::string_view text = until(",)]}");
    // `Any` is the type of a process group, which is given by name unless a node computes it.
    const bool is_text = type.starts_with("str") || type.starts_with("Any");
    if (text == "None") return "None";
    if (is_text) return quoted(text);
    if (type.starts_with("Device") || (type.empty() && is_device(text)))
      return fmt::format("device({})", quoted(text));
    return is_plain_code(text) ? std::string(text) : quoted(text);
  }

  std::string dictionary(int depth) {
    if (depth > kMaxArgumentDepth)
      text_mistake("the arguments are nested more than {} levels deep", kMaxArgumentDepth);
    std::vector<std::string> pairs;
    expect('{');
    while (!take('}')) {
      if (!pairs.empty()) expect(',');
      const std::string_view key = until(":");
      expect(':');
      pairs.push_back(fmt::format("{}: {}", quoted(key), value({}, depth + 1)));
    }
    return fmt::format("{{{}}}", fmt::join(pairs, ", "));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Describes the operator, including the types of its arguments.
OperatorInfo schema_of(std::string_view target) {
  if (target.starts_with("torch.ops.")) target.remove_prefix(10);
  return describe_operator(target);
}

class ListingTaker {
 public:
  ListingTaker(const GraphText& graph, std::size_t& number) : graph_(graph), number_(number) {}

  Body run() {
    body_.comments.emplace_back();
    for (const Line& line : graph_.body) {
      number_ = line.number;
      if (line.text.starts_with("return"))
        body_.output = line;
      else if (!line.is_comment())
        node(line.text);
    }
    number_ = graph_.head.number;
    index_statements(body_);
    return std::move(body_);
  }

 private:
  // Parses %NAME : TYPE [num_users=N] = OP[target=TARGET](args = (...), kwargs = {...})
  void node(std::string_view text) {
    if (!text.starts_with('%'))
      text_mistake("`{}` is not a node in a graph listing", first_characters(text, 40));
    const std::string_view name = text.substr(1, text.find_first_of(" :") - 1);
    const auto equals = text.find(" = ");
    const auto open = text.find("[target=", equals);
    if (name.empty() || equals == std::string_view::npos || open == std::string_view::npos)
      text_mistake("node {} has no operation; is the text truncated?", name);
    std::string_view type;
    if (const auto quote = text.find('"'); quote < equals) {
      const auto end = text.find('"', quote + 1);
      if (end < equals) type = text.substr(quote + 1, end - quote - 1);
    }
    if (!is_word(name, "_")) text_mistake("`{}` is not a node name", first_characters(name, 40));
    const std::string_view op = trimmed(text.substr(equals + 3, open - equals - 3));
    Arguments rest(text.substr(open + std::string_view("[target=").size()));
    const std::string_view target = rest.until("]");
    rest.expect(']');
    if (!is_word(target, "_.*"))
      text_mistake("node {}: `{}` is not a target", name, first_characters(target, 40));
    if (op == "placeholder") {
      body_.placeholders.push_back(
          {.name = name, .target = target, .type = type, .number = number_});
      return;
    }
    body_.owned.push_back(op == "get_attr" ? fmt::format("self.{}", target)
                                           : call(op, target, rest));
    body_.statements.push_back(
        {.name = name, .type = type, .expression = body_.owned.back(), .number = number_});
  }

  static std::string call(std::string_view op, std::string_view target, Arguments& rest) {
    const OperatorInfo schema = schema_of(target);
    rest.expect('(');
    if (!rest.take("args =")) text_mistake("expected `args` after the target");
    std::vector<std::string> args = rest.list(
        '(', ')',
        [&](std::size_t i) {
          return i < schema.arguments.size() ? schema.arguments[i].type : std::string_view{};
        },
        0);
    rest.expect(',');
    if (!rest.take("kwargs =")) text_mistake("expected `kwargs` after the arguments");
    const std::vector<std::string> keywords = rest.keywords(schema);
    rest.expect(')');
    if (target.ends_with("operator.getitem") && args.size() == 2)
      return fmt::format("{}[{}]", args[0], args[1]);
    std::string function(target);
    if (op == "call_method" && !args.empty()) {
      function = fmt::format("{}.{}", args.front(), target);
      args.erase(args.begin());
    } else if (op == "call_module") {
      function = fmt::format("self.{}", target);
    } else if (op != "call_function") {
      text_mistake("unknown operation `{}`", first_characters(op, 40));
    }
    args.insert(args.end(), keywords.begin(), keywords.end());
    return fmt::format("{}({})", function, fmt::join(args, ", "));
  }

  const GraphText& graph_;
  std::size_t& number_;
  Body body_;
};

}  // namespace

Body parse_listing(const GraphText& graph, std::size_t& number) {
  return ListingTaker(graph, number).run();
}

}  // namespace jointer::fx

#include "core/capture/fx_statements.h"

#include <utility>

#include "core/base/characters.h"
#include "core/base/counted.h"
#include "core/base/trimmed.h"
#include "core/base/utf8.h"
#include "core/graph/python_operators.h"
#include "core/graph/python_text.h"

namespace jointer::fx {
namespace {

// Scans a statement for its parts without interpreting them.
class Cursor : public PythonCursor {
 public:
  using PythonCursor::PythonCursor;

  // Consumes a name without dots; empty if there is none.
  std::string_view name() {
    peek();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  // Consumes the text before the first character of `ends` that is outside brackets and quotes.
  std::string_view until(std::string_view ends) {
    peek();
    const std::size_t begin = at_;
    int depth = 0;
    for (char quote = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote != 0) {
        if (c == '\\') ++at_;
        if (c == quote || c == '\n') quote = 0;
        continue;
      }
      if (depth == 0 && ends.find(c) != std::string_view::npos) break;
      if (c == '\'' || c == '"') quote = c;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
    }
    at_ = std::min(at_, text_.size());
    return trimmed(text_.substr(begin, at_ - begin));
  }
  // Consumes a type such as `"f32[8]"` and returns it without quotes; empty for an annotation that
  // is not quoted.
  std::string_view type(std::string_view ends) {
    if (peek() != '"') {
      until(ends);
      return {};
    }
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find('"', begin);
    if (end == std::string_view::npos) text_mistake("the quotes around a type are not closed");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }
  std::string_view rest() { return trimmed(text_.substr(std::min(at_, text_.size()))); }
  std::string_view take_comment() { return trimmed(PythonCursor::take_comment()); }
};

class Taker {
 public:
  Taker(const GraphText& graph, std::size_t& number) : graph_(graph), number_(number) {}

  Body run() {
    body_.comments.emplace_back();
    number_ = graph_.head.number;
    parameters();
    for (const Line& line : graph_.body) {
      number_ = line.number;
      if (line.is_comment())
        comment(line);
      else if (body_.output.text.empty())
        statement(line);
    }
    number_ = graph_.head.number;
    rename_placeholders();
    describe_placeholders();
    index_statements(body_);
    return std::move(body_);
  }

 private:
  void parameters() {
    Cursor head(graph_.head.text);
    head.take("def");
    head.name();
    if (!head.take('(')) text_mistake("expected `(` after `forward`");
    while (!head.take(')')) {
      head.take_comment();
      while (head.take('*')) {
      }
      const std::string_view name = head.name();
      if (name.empty())
        text_mistake("the parameter list of `forward` is not closed; is the text truncated?");
      std::string_view type;
      if (head.take(':')) type = head.type(",=)");
      if (head.take('=')) head.until(",)");
      const bool more = head.take(',');
      head.peek();
      if (name != "self") {
        body_.placeholders.push_back(
            {.name = name, .target = name, .type = type, .number = number_});
        body_.placeholders.back().desc = head.take_comment();
      }
      if (!more && head.peek() != ')') text_mistake("expected `,` after the parameter {}", name);
    }
  }

  void comment(const Line& line) { body_.comments.push_back(trimmed(line.text)); }

  void statement(const Line& line) {
    if (starts_with_word(line.text, "return")) {
      body_.output = line;
      return;
    }
    if (line.text == "pass") return;
    Cursor cursor(line.text);
    const std::string_view name = cursor.name();
    if (name.empty())
      text_mistake("`{}` is not a statement of an FX graph", first_characters(line.text, 40));
    if (cursor.take(':')) {
      const std::string_view type = cursor.type("=;");
      if (!cursor.take('=')) {
        declarations(name, type, cursor);
        return;
      }
      add({.name = name, .type = type, .expression = cursor.rest()});
      return;
    }
    const char next = cursor.peek();
    if (next == ',') {
      flatten(name, cursor);
    } else if (next == '=' && !cursor.take("==")) {
      cursor.take('=');
      assign(name, cursor);
    } else if (next == '[') {
      change_element(name, cursor);
    } else if (next == '.' || next == '(') {
      bare_call(line);
    } else {
      change(name, cursor, line);
    }
  }

  void assign(std::string_view name, Cursor& cursor) {
    const std::string_view expression = cursor.rest();
    // A boxed `forward` takes its arguments as one list and unpacks them.
    if (expression.starts_with("iter(args_list)")) {
      body_.placeholders.clear();
    } else if (expression.starts_with("next(args_iter)")) {
      body_.placeholders.push_back({.name = name, .target = name, .number = number_});
    } else if (!name.starts_with("_rf")) {  // `_rf` names ranges of record_function
      add({.name = name, .expression = expression});
    }
  }

  // Reads `a: "f32[8]"; b: "f32[8]"; `, the types of the placeholders that tree_flatten_spec
  // unpacks.
  void declarations(std::string_view name, std::string_view type, Cursor& cursor) {
    for (;;) {
      cursor.peek();
      declared_[name] = {type, {}};
      if (!cursor.take(';')) break;
      const std::string_view next = cursor.name();
      if (next.empty()) break;
      if (!cursor.take(':')) text_mistake("expected `:` after {}", next);
      name = next;
      type = cursor.type(";");
    }
    declared_[name].second = cursor.take_comment();
    if (cursor.peek() != '\0') text_mistake("unexpected text after the type of {}", name);
  }

  // Reads `a, b, = fx_pytree.tree_flatten_spec(...)`, the placeholders of a `forward` that takes
  // pytrees.
  void flatten(std::string_view first, Cursor& cursor) {
    std::vector<std::string_view> names{first};
    while (cursor.take(',')) {
      const std::string_view name = cursor.name();
      if (name.empty()) break;
      names.push_back(name);
    }
    if (!cursor.take('=')) text_mistake("expected `=` after {}", counted(names.size(), "name"));
    const std::string_view expression = cursor.rest();
    if (expression.starts_with("pytree.tree_leaves")) return;
    if (!expression.starts_with("fx_pytree.tree_flatten_spec") &&
        !expression.starts_with("self._in_shuffle_graph"))
      text_mistake("in an FX graph, only tree_flatten_spec may be assigned to several names");
    body_.placeholders.clear();
    for (const std::string_view name : names)
      body_.placeholders.push_back({.name = name, .target = name, .number = number_});
  }

  // Reads `x += y;  iadd: "f32[8]" = x`.
  void change(std::string_view changed, Cursor& cursor, const Line& line) {
    for (const auto& [symbol, op] : kInplaceOperators) {
      if (!cursor.take(symbol)) continue;
      const std::string_view value = cursor.until(";");
      add_change(op, changed, value, cursor);
      return;
    }
    text_mistake("`{}` is not a statement of an FX graph", first_characters(line.text, 40));
  }

  // Reads `x[i] = v;  setitem = x`.
  void change_element(std::string_view changed, Cursor& cursor) {
    cursor.take('[');
    const std::string_view key = cursor.until("]");
    if (!cursor.take(']') || !cursor.take('='))
      text_mistake("expected an assignment to an element of {}", changed);
    const std::string_view value = cursor.until(";");
    add_change("setitem", changed, value, cursor);
    body_.statements.back().key = key;
  }

  void add_change(std::string_view op, std::string_view changed, std::string_view value,
                  Cursor& cursor) {
    if (!cursor.take(';'))
      text_mistake("the in-place change of {} is not assigned to a name", changed);
    const std::string_view name = cursor.name();
    std::string_view type;
    if (cursor.take(':')) type = cursor.type("=");
    if (name.empty() || !cursor.take('='))
      text_mistake("the in-place change of {} is not assigned to a name", changed);
    add({.name = name, .type = type, .expression = value, .inplace = op, .changed = changed});
  }

  static void bare_call(const Line& line) {
    if (line.text.starts_with("args_list.clear()") || line.text.starts_with("_rf")) return;
    text_mistake("the value of `{}` is not assigned to a name", first_characters(line.text, 40));
  }

  void add(Statement statement) {
    statement.number = number_;
    statement.comment = body_.comments.size() - 1;
    body_.statements.push_back(statement);
  }

  // After `x_1 = x`, the node is named x_1 and its target is the parameter x.
  void rename_placeholders() {
    std::unordered_map<std::string_view, std::size_t> by_target;
    for (std::size_t i = 0; i < body_.placeholders.size(); ++i)
      by_target.emplace(body_.placeholders[i].target, i);
    std::erase_if(body_.statements, [&](const Statement& s) {
      if (!s.inplace.empty()) return false;
      const auto it = by_target.find(s.expression.substr(0, s.expression.find(';')));
      if (it == by_target.end()) return false;
      body_.placeholders[it->second].name = s.name;
      return true;
    });
  }

  void describe_placeholders() {
    for (Placeholder& p : body_.placeholders) {
      const auto declared = declared_.find(p.target);
      if (declared == declared_.end()) continue;
      p.type = declared->second.first;
      p.desc = declared->second.second;
    }
  }

  const GraphText& graph_;
  std::size_t& number_;
  Body body_;
  std::unordered_map<std::string_view, std::pair<std::string_view, std::string_view>> declared_;
};

}  // namespace

void index_statements(Body& body) {
  for (std::size_t i = 0; i < body.statements.size(); ++i) {
    const Statement& s = body.statements[i];
    body.makers.emplace(s.name, i);
    if (!s.inplace.empty()) continue;
    Cursor cursor(s.expression);
    const std::string_view tuple = cursor.name();
    if (tuple.empty() || !cursor.take('[')) continue;
    body.elements[tuple].push_back({.key = cursor.until("]"), .name = s.name, .type = s.type});
  }
}

Body parse_statements(const GraphText& graph, std::size_t& number) {
  return Taker(graph, number).run();
}

}  // namespace jointer::fx

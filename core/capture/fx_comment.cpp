#include "core/capture/fx_comment.h"

#include <fmt/core.h>

#include "core/base/number_text.h"
#include "core/capture/python_json.h"

namespace jointer::fx {
namespace {

// Newer versions of torch write this above backward calls, followed by the forward call's source
// line.
constexpr std::string_view kBackwardOf = "Backward of forward node: ";

bool take(std::string_view& text, std::string_view token) {
  if (!text.starts_with(token)) return false;
  text.remove_prefix(token.size());
  return true;
}

void skip_blanks(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

std::string_view take_word(std::string_view& text) {
  skip_blanks(text);
  const std::string_view word = text.substr(0, text.find_first_of(" ,"));
  text.remove_prefix(word.size());
  return word;
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  return number_of<std::int64_t>(take_word(text));
}

// Consumes and returns the dictionary at the start of the text. Ignores brackets inside quotes.
std::string_view take_dictionary(std::string_view& text) {
  int depth = 0;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == '\\') ++at;
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      const std::string_view whole = text.substr(0, at + 1);
      text.remove_prefix(at + 1);
      return whole;
    }
  }
  return {};
}

// Reformats `m.py:12 in forward, code: x + y` as a traceback.
std::string traceback(std::string_view text) {
  const auto in = text.find(" in ");
  const auto code = text.find(", code: ");
  if (in == std::string_view::npos || code == std::string_view::npos || code < in) return {};
  const std::string_view place = text.substr(0, in);
  const auto colon = place.rfind(':');
  if (colon == std::string_view::npos) return {};
  return fmt::format("  File \"{}\", line {}, in {}\n    {}", place.substr(0, colon),
                     place.substr(colon + 1), text.substr(in + 4, code - in - 4),
                     text.substr(code + 8));
}

// Consumes one part of a comment that torch wrote; returns false if there is none.
bool take_part(std::string_view& text, Comment& comment) {
  skip_blanks(text);
  if (take(text, "Annotation: ")) {
    const std::string_view dictionary = take_dictionary(text);
    comment.custom = python_to_json(dictionary);
    return !dictionary.empty();
  }
  if (take(text, "ac_graph_id: ")) {
    comment.ac_graph_id = take_number(text);
    if (take(text, " - "))
      comment.policy = parse_memory_policy(take_word(text)).value_or(MemoryPolicy::none);
    return true;
  }
  if (take(text, "recompute: ")) {
    comment.policy = parse_memory_policy(take_word(text)).value_or(MemoryPolicy::none);
    return true;
  }
  if (take(text, kBackwardOf)) {
    comment.autograd_backward = true;
    return true;
  }
  if (take(text, "File: ")) {
    comment.stack = traceback(text);
    text = {};
    return true;
  }
  if (text.starts_with("No stacktrace found")) {
    text = {};
    return true;
  }
  return false;
}

// Reads the known keys in text such as `seq_nr: 5, partitioner_tag: is_backward`.
void read_additional(std::string_view text, Comment& comment) {
  while (!text.empty()) {
    skip_blanks(text);
    if (take(text, "seq_nr:")) {
      comment.seq_nr = take_number(text);
    } else if (take(text, "partitioner_tag:")) {
      comment.partitioner_tag = take_word(text);
    } else if (take(text, "autograd_backward:")) {
      comment.autograd_backward = take_word(text) == "True";
    }
    const auto next = text.find(", ");
    text = next == std::string_view::npos ? std::string_view{} : text.substr(next + 2);
  }
}

}  // namespace

bool is_of_backward(std::string_view text) {
  return text.find(kBackwardOf) != std::string_view::npos;
}

Comment parse_comment(std::string_view text) {
  Comment comment;
  take(text, "#");
  std::string_view rest = text;
  while (take_part(rest, comment)) comment.is_known = true;
  if (comment.is_known) return comment;
  // Additional metadata ends at the next `#`.
  const auto second = text.find(" #");
  if (second == std::string_view::npos) return comment;
  rest = text.substr(second + 2);
  while (take_part(rest, comment)) comment.is_known = true;
  if (comment.is_known) read_additional(text.substr(0, second), comment);
  return comment;
}

}  // namespace jointer::fx

// Reads selectors in the form of torchtitan's full_recompute_save_ops, separated by `|` or one per
// line. Lines that begin with `#` are comments. As in Python, operators may begin with
// `torch.ops.`.

#include <algorithm>

#include "core/base/take_part.h"
#include "core/base/trimmed.h"
#include "core/base/utf8.h"
#include "core/policy/import.h"
#include "core/policy/python_operator.h"

namespace jointer {
namespace {

// Joins the lines of the text with bars, without doubling bars at line ends.
std::string on_one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::string_view part = trimmed(take_part(text, '\n'));
    if (part.empty() || part.starts_with('#')) continue;
    if (!line.empty() && !line.ends_with('|') && !part.starts_with('|')) line += '|';
    line += part;
  }
  return line;
}

}  // namespace

Result<std::vector<std::string>> read_selectors(std::string_view text) {
  std::vector<std::string> selectors;
  const std::string line = on_one_line(text);
  if (line.empty() && text.find(kNoSelectors) != std::string_view::npos) return selectors;
  std::string_view rest = line;
  // The selectors may be quoted as for a shell.
  if (rest.size() >= 2 && (rest.front() == '\'' || rest.front() == '"') &&
      rest.back() == rest.front())
    rest = trimmed(rest.substr(1, rest.size() - 2));
  while (true) {
    const std::size_t bar = rest.find('|');
    const std::string_view selector = trimmed(rest.substr(0, bar));
    const std::size_t separator = selector.rfind("::");
    std::string captured = captured_operator(selector);
    if (separator == std::string_view::npos || captured.ends_with("::") ||
        selector.find_first_of(" \t\r,;(){}='\"") != std::string_view::npos)
      return input_error(
          "`{}` is not a selector; write FQN_PATTERN::operator, as in layers.*.attention::aten.mm, "
          "one per line or separated by |",
          first_characters(selector, 80));
    selectors.push_back(std::move(captured));
    if (bar == std::string_view::npos) return selectors;
    rest.remove_prefix(bar + 1);
  }
}

}  // namespace jointer

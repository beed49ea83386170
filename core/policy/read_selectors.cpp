#include "core/policy/import.h"

namespace jointer {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

}  // namespace

Result<std::vector<std::string>> read_selectors(std::string_view text) {
  text = trimmed(text);
  // As a shell's command line has it.
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
      text.back() == text.front())
    text = trimmed(text.substr(1, text.size() - 2));
  std::vector<std::string> selectors;
  while (true) {
    const std::size_t bar = text.find('|');
    const std::string_view selector = trimmed(text.substr(0, bar));
    const std::size_t separator = selector.rfind("::");
    if (separator == std::string_view::npos || separator + 2 == selector.size() ||
        selector.find_first_of(" \t\r\n") != std::string_view::npos)
      return input_error(
          "`{}` is no selector: FQN_PATTERN::operator, as in layers.*.attention::aten.mm",
          selector.substr(0, 80));
    selectors.emplace_back(selector);
    if (bar == std::string_view::npos) return selectors;
    text.remove_prefix(bar + 1);
  }
}

}  // namespace jointer

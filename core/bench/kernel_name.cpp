#include "core/bench/kernel_name.h"

#include "core/base/trimmed.h"

namespace jointer {

std::string_view short_kernel_name(std::string_view name) {
  constexpr std::string_view kReturnType = "void ", kUnnamed = "(anonymous namespace)";
  std::size_t begin = name.starts_with(kReturnType) ? kReturnType.size() : 0, end = name.size();
  int depth = 0;  // of brackets
  for (std::size_t i = begin; i < name.size(); ++i) {
    const char c = name[i];
    if (depth == 0 && name.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
    } else if (depth == 0 && c == '(') {
      end = i;
      break;
    } else if (c == '<' || c == '(' || c == '{') {
      ++depth;
    } else if ((c == '>' && !name.substr(0, i).ends_with('-')) || c == ')' || c == '}') {
      if (depth > 0) --depth;
    } else if (depth == 0 && name.substr(i).starts_with("::")) {
      begin = i + 2;
    }
  }
  const std::string_view part = trimmed(name.substr(begin, end - begin));
  return part.empty() ? name : part;
}

}  // namespace jointer

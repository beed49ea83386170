#include "core/policy/python_operator.h"

namespace jointer {

std::string python_operator(std::string_view name) {
  return std::string(name.find('.') == std::string_view::npos ? "torch.ops.higher_order."
                                                              : "torch.ops.")
      .append(name);
}

std::string captured_operator(std::string_view python) {
  const std::size_t separator = python.rfind("::");
  const std::size_t begin = separator == std::string_view::npos ? 0 : separator + 2;
  std::string_view op = python.substr(begin);
  for (const std::string_view prefix :
       {"torch.ops.higher_order.", "torch._higher_order_ops.", "torch.ops."})
    if (op.starts_with(prefix)) {
      op.remove_prefix(prefix.size());
      break;
    }
  return std::string(python.substr(0, begin)).append(op);
}

}  // namespace jointer

#include "core/kernels/call_arguments.h"

namespace jointer::kernels {

const Argument* CallArguments::find(std::string_view name) const {
  const Argument* found = graph_.argument(node_, name);
  return found == nullptr || found->kind == Argument::Kind::none ? nullptr : found;
}

FxId CallArguments::of(const Argument& argument) const {
  return argument_value(env_, argument);
}

bool CallArguments::has(std::string_view name) const {
  return find(name) != nullptr;
}

FxId CallArguments::tensor(std::string_view name) const {
  const Argument* found = find(name);
  return found == nullptr ? -1 : of(*found);
}

FxIds CallArguments::tensors(std::string_view name) const {
  FxIds result;
  if (const Argument* found = find(name))
    for (const Argument& each : graph_.children(*found)) result.push_back(of(each));
  return result;
}

std::int64_t CallArguments::integer(std::string_view name, std::int64_t default_value) const {
  const Argument* found = find(name);
  return found == nullptr ? default_value : arguments_.integer(*found);
}

double CallArguments::real(std::string_view name, double default_value) const {
  const Argument* found = find(name);
  return found == nullptr ? default_value : arguments_.real(*found);
}

Sizes CallArguments::integers(std::string_view name) const {
  const Argument* found = find(name);
  return found == nullptr ? Sizes{} : arguments_.integers(*found);
}

Numbers CallArguments::reals(std::string_view name) const {
  Numbers result;
  if (const Argument* found = find(name))
    for (const Argument& each : graph_.children(*found)) result.push_back(arguments_.real(each));
  return result;
}

std::string_view CallArguments::text(std::string_view name) const {
  const Argument* found = find(name);
  return found == nullptr || found->kind != Argument::Kind::string ? std::string_view()
                                                                   : graph_.text(found->text());
}

FxTensor CallArguments::result(std::size_t which) const {
  return captured_tensor(graph_, graph_.tensors(node_)[which]);
}

}  // namespace jointer::kernels

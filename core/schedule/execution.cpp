#include "core/schedule/execution.h"

#include "core/base/name_table.h"

namespace jointer {
namespace {

constexpr NameTable<Execution, 4> kExecutions{{{"eager", Execution::eager},
                                               {"regional", Execution::regional},
                                               {"inductor", Execution::inductor},
                                               {"cudagraph", Execution::cudagraph}}};

}  // namespace

std::string_view to_string(Execution execution) {
  return name_in(kExecutions, execution);
}

std::optional<Execution> execution_named(std::string_view name) {
  return value_in(kExecutions, name);
}

}  // namespace jointer

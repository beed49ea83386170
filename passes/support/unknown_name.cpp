#include "passes/support/unknown_name.h"

#include "core/base/nearest_name.h"

namespace jointer {

tl::unexpected<Error> unknown_name(std::string_view parameter, std::string_view kind,
                                   std::string_view name, std::span<const std::string_view> known) {
  return fail(Error::Kind::usage, "{}: expected a {} in the graph, got `{}`; the graph has {}",
              parameter, kind, name, known.empty() ? "none" : some_names(name, known));
}

}  // namespace jointer

#include "app/runner/gpu/pinning.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace jointer::runner {

PinningChoice choose_pinning(const Cpus& near, const Cpus& allowed, const Cpus& online) {
  if (near.empty() || allowed.empty() || online.empty()) return {};
  if (!std::ranges::includes(allowed, online))
    return {.cpus = {},
            .fact = fmt::format("not pinned: this process may use only CPUs {}", to_text(allowed))};
  Cpus cpus;
  std::ranges::set_intersection(near, allowed, std::back_inserter(cpus));
  if (cpus.empty() || std::ranges::includes(cpus, online)) return {};
  const std::string text = to_text(cpus);
  return {.cpus = std::move(cpus),
          .note = fmt::format("the rank's threads run on the CPUs nearest to its GPU, {}; "
                              "--no-pinning allows all CPUs",
                              text)};
}

}  // namespace jointer::runner

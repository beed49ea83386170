#pragma once

#include <cstdint>
#include <memory>

#include "core/bench/result.h"

namespace jointer::views {

// A result with an id that is unique in its document.
struct BenchmarkRow {
  std::uint64_t id = 0;
  std::shared_ptr<const BenchmarkResult> result;
};

}  // namespace jointer::views

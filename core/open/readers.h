#pragma once

#include <span>

#include "core/capture/graph_reader.h"

namespace jointer {

// All readers, in the order in which they are tried.
std::span<const GraphReader* const> graph_readers();

}  // namespace jointer

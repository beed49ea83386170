#pragma once

// The version of torch that made a graph. What upstream changed is done as the graph's own torch
// does it; a graph that names no version is of the newest.

#include <compare>
#include <optional>
#include <string_view>

#include "core/graph/part.h"

namespace jointer {

class Graph;

struct TorchVersion {
  int major = 0, minor = 0;
  friend auto operator<=>(const TorchVersion&, const TorchVersion&) = default;
};

inline constexpr TorchVersion kNewestTorch{2, 15};

// "2.13.0+cu130"; nothing if the text does not begin with two numbers.
std::optional<TorchVersion> parse_torch_version(std::string_view text);

// Of the graph's first part.
TorchVersion torch_version_of(const Graph& graph);

// Whether a graph was captured with this torch or a later one.
bool is_of_torch(const Part& part, int major, int minor);

}  // namespace jointer

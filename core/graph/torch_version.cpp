#include "core/graph/torch_version.h"

#include <charconv>

#include "core/graph/graph.h"

namespace jointer {
namespace {

TorchVersion version_of(const Part& part) {
  return parse_torch_version(part.torch_version).value_or(kNewestTorch);
}

}  // namespace

std::optional<TorchVersion> parse_torch_version(std::string_view text) {
  TorchVersion version;
  const char* const end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, version.major);
  if (error != std::errc() || dot == end || *dot != '.') return std::nullopt;
  if (std::from_chars(dot + 1, end, version.minor).ec != std::errc()) return std::nullopt;
  return version;
}

TorchVersion torch_version_of(const Graph& graph) {
  return graph.part_count() == 0 ? kNewestTorch : version_of(graph.part(PartId(0)));
}

bool is_of_torch(const Part& part, int major, int minor) {
  return version_of(part) >= TorchVersion{major, minor};
}

}  // namespace jointer

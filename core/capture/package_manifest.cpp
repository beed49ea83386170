#include "core/capture/package_manifest.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/environment.h"
#include "core/base/json_text.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPackageEnd = ".pt2";
constexpr std::uintmax_t kMaxManifest = std::uintmax_t{64} << 20;

std::string text_at(const OrderedJson& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::map<std::string, std::vector<std::string>, std::less<>> origins_in(const OrderedJson& json) {
  std::map<std::string, std::vector<std::string>, std::less<>> origins;
  const auto it = json.find("origins");
  if (it == json.end() || !it->is_object()) return origins;
  for (const auto& [node, names] : it->items())
    if (names.is_array())
      for (const OrderedJson& name : names)
        if (name.is_string()) origins[node].push_back(name.get<std::string>());
  return origins;
}

}  // namespace

std::optional<CaptureKind> PackageManifest::half() const {
  if (phase == "forward") return CaptureKind::forward;
  if (phase == "backward") return CaptureKind::backward;
  return std::nullopt;
}

std::string PackageManifest::title() const {
  return fmt::format("{}, {}{}", graph, phase, region ? fmt::format(", region {}", *region) : "");
}

std::optional<PackageManifest> read_package_manifest(const std::string& path) {
  const std::string file = fs::path(path).replace_extension(".json").string();
  std::error_code missing;
  if (const auto size = fs::file_size(file, missing); missing || size > kMaxManifest)
    return std::nullopt;
  const auto bytes = read_bytes(file);
  if (!bytes) return std::nullopt;
  const auto json = parse_tree(bytes->view());
  if (!json || !json->is_object() || text_at(*json, "format") != "jointer-compiled")
    return std::nullopt;
  PackageManifest manifest;
  manifest.graph = text_at(*json, "graph");
  manifest.hash = text_at(*json, "hash");
  manifest.torch = text_at(*json, "torch");
  manifest.phase = text_at(*json, "phase");
  if (const auto region = json->find("region"); region != json->end()) {
    if (region->is_number_integer()) manifest.region = region->get<std::int64_t>();
    manifest.phase = text_at(*json, "of");
  }
  manifest.origins = origins_in(*json);
  return manifest;
}

std::string compiled_cache_folder() {
  std::string named = environment_variable("JOINTER_COMPILED");
  return named.empty() ? cache_folder() + "/compiled" : named;
}

std::vector<std::string> cached_packages(const std::string& folder, std::string_view hash) {
  struct Package {
    fs::file_time_type time;
    std::string path;
    bool is_region;
  };
  std::vector<Package> packages;
  std::error_code status;
  for (fs::directory_iterator it(folder, status), last; !status && it != last;
       it.increment(status)) {
    const std::string path = it->path().string();
    if (!path.ends_with(kPackageEnd)) continue;
    const auto manifest = read_package_manifest(path);
    if (!manifest || manifest->hash != hash) continue;
    std::error_code unreadable;
    packages.push_back({fs::last_write_time(path, unreadable), path, manifest->region.has_value()});
  }
  std::ranges::sort(packages, [](const Package& a, const Package& b) {
    if (a.is_region != b.is_region) return b.is_region;
    return std::pair(b.time, a.path) < std::pair(a.time, b.path);
  });
  std::vector<std::string> paths;
  for (Package& each : packages) {
    if (!each.is_region) return {std::move(each.path)};
    paths.push_back(std::move(each.path));
  }
  return paths;
}

}  // namespace jointer

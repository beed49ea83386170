#pragma once

// The files that `python -m jointer compile` writes next to its packages, and its cache
// (docs/running.md).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/part.h"

namespace jointer {

// The facts in a manifest about the compiled graph. A field that the file lacks is empty.
struct PackageManifest {
  std::string graph;                   // its name
  std::string hash;                    // graph_hash
  std::string torch;                   // "2.15.0+cu132"
  std::string phase;                   // of a region: that of its graph
  std::optional<std::int64_t> region;  // number of the region
  // By node of the compiled graph, after Inductor's passes: the nodes of the captured graph that
  // the node computes. The two graphs may use the same name for different nodes.
  std::map<std::string, std::vector<std::string>, std::less<>> origins;

  [[nodiscard]] std::optional<CaptureKind> half() const;
  // A title such as "llama, forward, region 2".
  [[nodiscard]] std::string title() const;
};

// Reads the manifest of the package at `path`: the file with the same name, but `.json` at its end.
// nullopt if there is none, or it cannot be read or is not a manifest.
std::optional<PackageManifest> read_package_manifest(const std::string& path);

// The folder that JOINTER_COMPILED names or, if it is not set, `compiled` in cache_folder().
std::string compiled_cache_folder();

// Returns the paths of packages in `folder` that were compiled from the graph with this hash
// (graph_hash): the newest one of the whole graph or, if there is none, those of its regions,
// newest first. Empty if there are none or the folder cannot be read. Reads the manifest of each
// package in the folder.
std::vector<std::string> cached_packages(const std::string& folder, std::string_view hash);

}  // namespace jointer

#pragma once

// Layouts by Graphviz's `dot`, which runs in a child process: it can be missing, crash, take for
// ever, or say anything.

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/layout/layout.h"

namespace jointer {

struct DotOptions {
  std::string program = "dot";              // looked for on PATH if it has no slash
  std::chrono::milliseconds deadline{120};  // for all graphs together
};

// Where `dot` has taken more than a moment, it has taken minutes: 500 nodes and up are not its.
inline constexpr std::uint32_t kMostDotNodes = 150;

// One layout a graph, all by one process. Error (run): no such program, it failed or was killed at
// its deadline, or what it said is no layout of these graphs.
Result<std::vector<Layout>> dot_layouts(std::span<const LayoutGraph> graphs,
                                        const LayoutStyle& style = {},
                                        const DotOptions& options = {});

// What `dot` is given for these graphs, and a layout from the lines of its `plain` output.
std::string dot_text(std::span<const LayoutGraph> graphs, const LayoutStyle& style);
Result<std::vector<Layout>> read_dot_plain(std::span<const LayoutGraph> graphs,
                                           const LayoutStyle& style,
                                           std::span<const std::string> lines);

}  // namespace jointer

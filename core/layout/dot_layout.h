#pragma once

// Lays out graphs with Graphviz's `dot` in a child process, which may be missing, crash, hang, or
// print anything.

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/layout/layout.h"

namespace jointer {

struct DotOptions {
  std::string program = "dot";              // looked up on PATH if it contains no slash
  std::chrono::milliseconds deadline{120};  // for all graphs together
};

// The maximum number of nodes for which `dot` is used. `dot` either finishes almost instantly or
// takes minutes; for about 500 nodes or more, it always takes minutes.
inline constexpr std::uint32_t kMaxDotNodes = 150;

// Returns one layout per graph; a single process computes all of them. Error (run): the program
// does not exist, fails, is killed at its deadline, or prints anything other than layouts of these
// graphs in which boxes lie apart and edges go down. `style.max_in_rank` has no effect.
Result<std::vector<Layout>> dot_layouts(std::span<const LayoutGraph> graphs,
                                        const LayoutStyle& style = {},
                                        const DotOptions& options = {});

// dot_text returns the input of `dot` for these graphs; read_dot_plain parses the layouts from its
// `plain` output.
std::string dot_text(std::span<const LayoutGraph> graphs, const LayoutStyle& style);
Result<std::vector<Layout>> read_dot_plain(std::span<const LayoutGraph> graphs,
                                           const LayoutStyle& style,
                                           std::span<const std::string> lines);

}  // namespace jointer

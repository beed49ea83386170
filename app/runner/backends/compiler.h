#pragma once

// Runs the compiler, `python -m jointer compile`, in a child process.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace jointer::runner {

struct CompilerRequest {
  std::string graph, backward;  // of this rank
  std::string method;           // "inductor", "regional"
  std::string on;               // "cpu", "cuda"
  std::string marked;           // selectors, separated by `;`
  std::string assumptions;
  std::string artifacts;
  std::string torch;  // version that will load the packages
  int rank = 0;
  // The CUDA device of the rank, which is the only one that the compiler sees; std::nullopt on the
  // CPU.
  std::optional<int> gpu;
};

// An input or output of a package.
struct PackageValue {
  std::string name;  // the node's
  bool is_number = false;
};

struct CompiledPackage {
  std::string path;
  std::string phase;  // "joint", "forward", "backward", "region"
  std::string of;     // of a region: the phase of its graph
  std::string torch;  // version that compiled it
  std::vector<PackageValue> inputs, outputs;
  std::vector<std::string> replaces;  // of a region: nodes
  bool from_cache = false;
  double seconds = 0;
};

struct CompilerListener {
  std::function<void(const std::string& stage, std::int64_t done, std::int64_t total)> progress;
  std::function<void(const std::string& text)> note;
};

// Error (run): Python is not found (python_program), or the compiler fails, or its answer cannot be
// read; the message is on one line.
Result<std::vector<CompiledPackage>> run_compiler(const CompilerRequest& request,
                                                  const CompilerListener& listener);

}  // namespace jointer::runner

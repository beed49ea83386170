#include "core/bench/nsys.h"

#include <fmt/core.h>

namespace jointer {
namespace {

// nsys replaces sequences that start with a percent sign in the name of a report.
std::string without_sequences(std::string_view folder) {
  std::string text;
  for (const char c : folder) {
    text += c;
    if (c == '%') text += c;
  }
  return text;
}

}  // namespace

std::string nsys_report(std::string_view folder, std::string_view rank) {
  return fmt::format("{}{}rank{}", folder, folder.ends_with('/') ? "" : "/", rank);
}

std::vector<std::string> nsys_arguments(const BenchmarkRequest& request, std::string_view rank) {
  std::vector<std::string> arguments{
      "profile", "--trace=cuda,nvtx",
      // Sampling the host's call stacks needs privileges, and slows the host down.
      "--sample=none", "--cpuctxsw=none", "--capture-range=cudaProfilerApi",
      // By default, nsys ends the program when the range ends.
      "--capture-range-end=stop", "--wait=primary", "--force-overwrite=true"};
  // By default, a CUDA graph is recorded as one block.
  if (request.backend == Backend::cudagraph || request.recorded)
    arguments.emplace_back("--cuda-graph-trace=node");
  arguments.push_back("--output=" + nsys_report(without_sequences(request.nsys), rank));
  return arguments;
}

}  // namespace jointer

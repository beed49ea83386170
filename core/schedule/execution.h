#pragma once

// How a graph is executed. Executions differ in the kernels that run, their order, the time that
// the CPU takes for them, and the buffers that exist.

#include <cstdint>
#include <optional>
#include <string_view>

namespace jointer {

enum class Execution : std::uint8_t {
  eager,      // operator by operator
  regional,   // Inductor compiles the calls that are marked for it; the others run one by one
  inductor,   // Inductor compiles the graph, or each half of a pair
  cudagraph,  // the same, captured as a CUDA graph, which the CPU launches once
};

// "eager", "regional", "inductor", "cudagraph".
std::string_view to_string(Execution execution);
// nullopt if there is no execution of this name.
std::optional<Execution> execution_named(std::string_view name);

}  // namespace jointer

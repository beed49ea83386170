// Wrappers that Inductor writes, and TORCH_TRACE logs with them.

#include "core/capture/output_code.h"

#include "core/capture/compile_artifacts.h"
#include "core/capture/compiled_memory.h"
#include "core/capture/torch_trace.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jointer;
  const std::string_view text = fuzz::as_text(data, size);
  if (is_torch_trace(text)) {
    for (const CompiledProgram& program : read_trace_artifacts("input", text).programs)
      compiled_memory(program);
    return 0;
  }
  is_output_code(text);
  auto program = read_output_code("input", std::string(text));
  if (!program) return 0;
  assign_nodes(*program);
  compiled_memory(*program);
  return 0;
}

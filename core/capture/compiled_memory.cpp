#include "core/capture/compiled_memory.h"

#include "core/base/checked.h"

namespace jointer {
namespace {

// Source: torch._inductor.utils.is_nonfreeable_buffers.
bool is_kept_by_caller(std::string_view input) {
  for (const std::string_view start :
       {"primals_", "arg", "fwd_rng_state", "bwd_rng_state", "tangents"})
    if (input.starts_with(start)) return true;
  return false;
}

}  // namespace

CompiledMemory compiled_memory(const CompiledProgram& program) {
  CompiledMemory memory;
  std::int64_t live = 0;
  for (const BufferBlock& block : program.blocks) {
    const std::int64_t bytes = block.bytes().value_or(0);
    if (!block.bytes()) ++memory.unknown_blocks;
    if (block.is_dtype_assumed) ++memory.assumed_blocks;
    if (block.is_input) memory.input_bytes = saturating_add(memory.input_bytes, bytes);
  }
  live = memory.peak_bytes = memory.input_bytes;
  std::size_t kernel = 0;
  bool peak_waits_for_kernel = false;  // the peak was reached by allocations of the next kernel
  for (const CompiledEvent& event : program.events) {
    switch (event.kind) {
      case CompiledEvent::Kind::allocate:
        live = saturating_add(live, program.blocks[event.index].bytes().value_or(0));
        if (live > memory.peak_bytes) {
          memory.peak_bytes = live;
          peak_waits_for_kernel = true;
        }
        break;
      case CompiledEvent::Kind::release: {
        const BufferBlock& block = program.blocks[event.index];
        if (!block.is_output && !(block.is_input && is_kept_by_caller(block.name)))
          live = saturating_add(live, -block.bytes().value_or(0));
        break;
      }
      case CompiledEvent::Kind::run:
        kernel = event.index;
        if (peak_waits_for_kernel) memory.peak_kernel = kernel;
        peak_waits_for_kernel = false;
        break;
      case CompiledEvent::Kind::reuse:
        break;
    }
  }
  return memory;
}

}  // namespace jointer

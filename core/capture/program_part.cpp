#include "core/capture/program_part.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/capture/compiled_memory.h"
#include "core/graph/torch_version.h"

namespace jointer {
namespace {

using kernels::BufferId;

kernels::Kernel::Kind kind_of(CompiledKind kind) {
  using Kind = kernels::Kernel::Kind;
  switch (kind) {
    case CompiledKind::pointwise:
      return Kind::pointwise;
    case CompiledKind::foreach:
      return Kind::foreach_;
    case CompiledKind::reduction:
      return Kind::reduction;
    case CompiledKind::mix_order_reduction:
      return Kind::mix_order_reduction;
    case CompiledKind::matrix_template:
      return Kind::template_;
    case CompiledKind::external:
      return Kind::external;
    case CompiledKind::collective:
      return Kind::collective;
    case CompiledKind::wait:
      return Kind::wait;
    case CompiledKind::view:
      return Kind::view;
  }
  return Kind::nop;
}

// Appends to `bytes` the blocks that a kernel reads or writes. Returns the sum of their bytes.
std::int64_t add_uses(const CompiledKernel& kernel, bool CompiledUse::*is_used,
                      std::vector<kernels::BufferBytes>& bytes) {
  std::int64_t sum = 0;
  for (const CompiledUse* use : distinct_uses(kernel, is_used)) {
    bytes.push_back({static_cast<BufferId>(use->block), use->bytes.value_or(0)});
    sum = saturating_add(sum, use->bytes.value_or(0));
  }
  return sum;
}

class PartOfProgram {
 public:
  PartOfProgram(const Graph& graph, const CompiledProgram& program, PartId id)
      : graph_(graph), program_(program) {
    part_.part = id;
    part_.torch = parse_torch_version(program_.torch_version).value_or(torch_version_of(graph_));
  }

  CompiledPart run(TiedKernels ties) {
    add_buffers();
    add_kernels(std::move(ties));
    add_lives();
    part_.scheduled.peak = compiled_memory(program_).peak_bytes;
    return std::move(part_);
  }

 private:
  void add_buffers() {
    for (const BufferBlock& block : program_.blocks) {
      kernels::Buffer& buffer = part_.ir.buffers.emplace_back();
      buffer.name = block.name;
      buffer.bytes = block.bytes().value_or(0);
      buffer.is_input = block.is_input;
      buffer.is_output = block.is_output;
    }
  }

  void add_kernels(TiedKernels ties) {
    const bool is_on_gpu = graph_.main_device() != DeviceType::cpu;
    for (std::size_t i = 0; i < program_.kernels.size(); ++i) {
      const auto id = static_cast<kernels::OpId>(i);
      const CompiledKernel& compiled = program_.kernels[i];
      kernels::Kernel& kernel = part_.scheduled.kernels.emplace_back();
      kernel.kind = kind_of(compiled.kind);
      kernel.ops = {id};
      kernel.nodes = std::move(ties.nodes[i]);
      kernel.bytes_read = add_uses(compiled, &CompiledUse::is_read, kernel.reads);
      kernel.bytes_written = add_uses(compiled, &CompiledUse::is_written, kernel.writes);
      kernel.bytes = saturating_add(kernel.bytes_read, kernel.bytes_written);
      kernel.is_on_gpu = is_on_gpu;
      part_.scheduled.kernel_of.push_back(id);
      kernels::Op& op = part_.ir.ops.emplace_back();
      op.target = compiled.name;
      op.nodes = kernel.nodes;
      for (const kernels::BufferBytes& each : kernel.writes) op.outputs.push_back(each.buffer);
      for (const kernels::BufferBytes& each : kernel.reads)
        part_.ir.buffers[static_cast<std::size_t>(each.buffer)].users.push_back({.op = id});
      for (const kernels::BufferBytes& each : kernel.writes) {
        kernels::Buffer& buffer = part_.ir.buffers[static_cast<std::size_t>(each.buffer)];
        if (buffer.op < 0 && !buffer.is_input) buffer.op = id;
      }
    }
  }

  // Finds the first kernel after the allocation of each block, and the last one before its release.
  void add_lives() {
    std::vector<kernels::BufferLife>& lives = part_.scheduled.lives;
    for (std::size_t i = 0; i < program_.blocks.size(); ++i) {
      const std::int64_t bytes = part_.ir.buffers[i].bytes;
      const bool is_input = program_.blocks[i].is_input;
      lives.push_back({static_cast<BufferId>(i), is_input ? 0 : bytes, bytes, 0, -1});
    }
    std::int32_t next = 0;  // the kernel that runs next
    for (const CompiledEvent& event : program_.events) {
      switch (event.kind) {
        case CompiledEvent::Kind::allocate:
          lives[event.index].first = next;
          break;
        case CompiledEvent::Kind::release:
          if (!program_.blocks[event.index].is_output)
            lives[event.index].last = std::max(next - 1, 0);
          break;
        case CompiledEvent::Kind::run:
          next = static_cast<std::int32_t>(event.index) + 1;
          break;
        case CompiledEvent::Kind::reuse:
          break;
      }
    }
  }

  const Graph& graph_;
  const CompiledProgram& program_;
  CompiledPart part_;
};

}  // namespace

CompiledPart part_of_program(const Graph& graph, const CompiledProgram& program, PartId part,
                             TiedKernels ties) {
  return PartOfProgram(graph, program, part).run(std::move(ties));
}

}  // namespace jointer

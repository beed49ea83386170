#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/graphs.h"
#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::test {

struct HandMadeKernel {
  kernels::Kernel::Kind kind = kernels::Kernel::Kind::pointwise;
  std::vector<std::string> nodes;
  std::int64_t read = 0, written = 0;  // bytes
  bool is_on_gpu = true;
};

// One op and one buffer per kernel. Kernel N computes the op N, reads the buffer of the kernel
// before it, writes its own buffer, "bufN", and frees the buffer that it has read.
inline views::CompiledPart hand_made_part(const Graph& graph,
                                          const std::vector<HandMadeKernel>& given) {
  views::CompiledPart part;
  part.part = PartId(0);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    kernels::Kernel& kernel = part.scheduled.kernels.emplace_back();
    kernel.kind = given[i].kind;
    kernel.ops = {id};
    for (const std::string& name : given[i].nodes) kernel.nodes.push_back(graph.find(name));
    if (i > 0) kernel.reads.push_back({id - 1, given[i].read});
    kernel.writes.push_back({id, given[i].written});
    kernel.bytes_read = given[i].read;
    kernel.bytes_written = given[i].written;
    kernel.bytes = given[i].read + given[i].written;
    kernel.is_on_gpu = given[i].is_on_gpu;
    part.scheduled.kernel_of.push_back(id);
    const bool is_last = i + 1 == given.size();
    part.scheduled.lives.push_back(
        {id, given[i].written, is_last ? 0 : given[i].written, id, is_last ? -1 : id + 1});
    kernels::Op& op = part.ir.ops.emplace_back();
    op.nodes = kernel.nodes;
    op.outputs = {id};
    kernels::Buffer& buffer = part.ir.buffers.emplace_back();
    buffer.name = "buf" + std::to_string(i);
    buffer.bytes = given[i].written;
    buffer.op = id;
  }
  return part;
}

inline views::SnapshotKernelsPtr hand_made_kernels(const views::SnapshotPtr& snapshot,
                                                   views::CompiledPart part) {
  std::vector<views::CompiledPart> parts;
  parts.push_back(std::move(part));
  return std::make_shared<const views::SnapshotKernels>(snapshot, std::move(parts));
}

// Eight kernels of test::kSmallStep, of which six launch.
inline views::CompiledPart small_step_part(const Graph& graph) {
  using Kind = kernels::Kernel::Kind;
  return hand_made_part(graph, {{Kind::external, {"mm"}, 18'432, 2'048},
                                {Kind::pointwise, {"relu"}, 2'048, 2'048},
                                {Kind::external, {"mm_1"}, 18'432, 2'048},
                                {Kind::pointwise, {"relu_1", "g1"}, 400'000'000, 200'000'000},
                                {Kind::collective, {"ar"}, 2'048, 2'048},
                                {Kind::wait, {"wt"}, 2'048, 0},
                                {Kind::reduction, {"y", "relu_1"}, 4'096, 4},
                                {Kind::view, {"t1"}, 0, 0}});
}

}  // namespace jointer::test

#include "app/runner/program/unfinished_call.h"

#include <fmt/core.h>

namespace jointer::runner {

UnfinishedCall unfinished_call(const Graph& graph, const Program& program,
                               const DeviceProgress::Unfinished& unfinished) {
  const Instruction& instruction = program.instructions[unfinished.instruction];
  const Node& last = graph.node(instruction.node);
  const NodeId start = graph.is_wait(last) ? graph.collective_of_wait(last) : NodeId();
  UnfinishedCall call{.node = std::string(graph.name(start ? start : instruction.node)),
                      .position = instruction.position};
  if (unfinished.after)
    call.text = fmt::format("after {}, ", graph.name(program.instructions[*unfinished.after].node));
  call.text += "the device has not finished ";
  if (!start) {
    call.text += fmt::format("{} or a call before it", call.node);
  } else {
    const Node& node = graph.node(start);
    call.text += graph.target(node);
    if (node.group)
      call.text += fmt::format(" of group {}", graph.text(graph.group(node.group).name));
  }
  return call;
}

}  // namespace jointer::runner

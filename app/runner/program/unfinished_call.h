#pragma once

// The oldest call that a device has not finished, for messages.

#include <cstdint>
#include <string>

#include "app/runner/program/device_progress.h"
#include "app/runner/program/program.h"

namespace jointer::runner {

struct UnfinishedCall {
  std::string node;            // the collective or copy, or the last call in question
  std::uint32_t position = 0;  // of the instruction whose end the device has not reached
  std::string text;            // "after mm_3, the device has not finished ... of group fsdp"
};

UnfinishedCall unfinished_call(const Graph& graph, const Program& program,
                               const DeviceProgress::Unfinished& unfinished);

}  // namespace jointer::runner

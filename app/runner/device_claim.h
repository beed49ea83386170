#pragma once

#include <string_view>

#include "app/runner/device_choice.h"
#include "core/base/result.h"
#include "core/process/file_descriptor.h"

namespace jointer::runner {

// Claims a GPU for this rank if its compute mode allows only one process at a time, so that ranks
// that would share the GPU are refused before they use it. Other programs are not affected.
// `device` identifies the GPU on this machine. The claim ends when the result is closed, or with
// this process. Without a claim, the result is empty: the mode allows several processes, or the
// system refused the socket, in which case CUDA refuses the second process. Error (run): another
// rank has claimed the GPU, or the mode allows no processes.
Result<FileDescriptor> claim_device(std::string_view device, ComputeMode mode);

}  // namespace jointer::runner

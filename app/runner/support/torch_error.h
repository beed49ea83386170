#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/take_part.h"

namespace jointer::runner {

// The first line of torch's message, which says what is wrong. The other lines are details.
inline std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// CUDA's out-of-memory message without the advice at its end.
inline std::string without_advice(std::string_view text) {
  const std::string line = first_line(text);
  return line.substr(0, line.find(" If reserved but unallocated"));
}

// All lines of a message as one line, for libraries whose first line does not state the cause
// (NCCL).
inline std::string in_one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::string_view part = take_part(text, '\n');
    if (!part.empty()) line += (line.empty() ? "" : "; ") + std::string(part);
  }
  return line;
}

inline std::string summary(const c10::Error& error) {
  return first_line(std::string_view(error.what_without_backtrace()));
}

// cudaErrorMemoryAllocation.
inline constexpr std::int32_t kDriverIsOutOfMemory = 2;

// True if an allocation of the driver failed, such as pinned memory or the code of a kernel. Unlike
// after other errors of the device, earlier calls have succeeded.
inline bool is_out_of_memory(const c10::AcceleratorError& error) {
  return error.get_error_code() == kDriverIsOutOfMemory;
}

// NCCL reports an error of CUDA, perhaps that of an earlier kernel, as its own error, with a
// message such as "Cuda failure 2 'out of memory'".
inline bool is_cuda_failure(const c10::DistError& error) {
  return std::string_view(error.what_without_backtrace()).find("Cuda failure") !=
         std::string_view::npos;
}
inline bool is_out_of_memory(const c10::DistError& error) {
  return is_cuda_failure(error) &&
         std::string_view(error.what_without_backtrace()).find("'out of memory'") !=
             std::string_view::npos;
}

}  // namespace jointer::runner

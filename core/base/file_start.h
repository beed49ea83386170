#pragma once

// Reads the start of a file, to detect its format without reading the whole file.

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace jointer {

// Returns the first `size` bytes of the file or, if it is zstd or gzip, of its decompressed
// content; fewer if there are fewer, or if the compressed data ends too early.
// Error (input): the file cannot be read, or its start is damaged.
Result<std::string> read_start(const std::string& path, std::size_t size);

}  // namespace jointer

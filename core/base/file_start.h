#pragma once

// Reads the start of a file, to detect its format without reading the whole file.

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace jointer {

// Returns the first `size` bytes, or fewer if the file is shorter. Decompresses zstd and gzip.
// Error (input): the file cannot be read, or its start is damaged.
Result<std::string> read_start(const std::string& path, std::size_t size);

}  // namespace jointer

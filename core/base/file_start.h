#pragma once

// Reads the start of a file, to find out what the file is without reading all of it.

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace jointer {

// The first `size` bytes, or fewer if the file is shorter. Decompresses zstd and gzip. Error (input):
// the file cannot be read, or its start is damaged.
Result<std::string> read_start(const std::string& path, std::size_t size);

}  // namespace jointer

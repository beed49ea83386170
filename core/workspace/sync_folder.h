#pragma once

#include <string>

#include "core/base/result.h"

namespace jointer {

// Writes a folder's entries to disk, so that files created or renamed in it survive a power
// failure. Does nothing if the folder cannot be opened, or if its file system cannot sync folders.
// Error (run): the folder cannot be written to disk.
Result<void> sync_folder(const std::string& folder);

}  // namespace jointer

#pragma once

#include <string>

#include "core/base/result.h"

namespace jointer {

// Writes a folder's entries to disk, so that files that were created or renamed in it survive a
// power failure. A folder that cannot be opened
// is left as it is. Error (run): the disk failed.
Result<void> sync_folder(const std::string& folder);

}  // namespace jointer

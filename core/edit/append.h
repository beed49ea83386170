#pragma once

#include "core/edit/edit.h"

namespace jointer {

// Appends the changes and notes of `more`, which apply after those of `edit`. The title and author
// of `edit` do not change.
inline void append(Edit& edit, const Edit& more) {
  edit.changes.insert(edit.changes.end(), more.changes.begin(), more.changes.end());
  edit.notes.insert(edit.notes.end(), more.notes.begin(), more.notes.end());
}

}  // namespace jointer

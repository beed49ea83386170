#pragma once

#include "core/edit/edit.h"

namespace jointer {

// Appends the changes and notes of `more`, which is applied after `edit`. The title and the author
// of `edit` stay.
inline void append(Edit& edit, const Edit& more) {
  edit.changes.insert(edit.changes.end(), more.changes.begin(), more.changes.end());
  edit.notes.insert(edit.notes.end(), more.notes.begin(), more.notes.end());
}

}  // namespace jointer

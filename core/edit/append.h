#pragma once

#include "core/edit/edit.h"

namespace jointer {

// Appends the changes and the notes of `more` to those of `edit`. Ignores the other members of
// `more`.
inline void append(Edit& edit, const Edit& more) {
  edit.changes.insert(edit.changes.end(), more.changes.begin(), more.changes.end());
  edit.notes.insert(edit.notes.end(), more.notes.begin(), more.notes.end());
}

}  // namespace jointer

#pragma once

#include "core/edit/edit.h"

namespace jointer {

// One edit of two that follow each other: what `more` changes and says comes last. Title and author
// stay those of `edit`.
inline void append(Edit& edit, const Edit& more) {
  edit.changes.insert(edit.changes.end(), more.changes.begin(), more.changes.end());
  edit.notes.insert(edit.notes.end(), more.notes.begin(), more.notes.end());
}

}  // namespace jointer

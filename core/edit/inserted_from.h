#pragma once

#include <string>

#include "core/edit/change.h"

namespace jointer {

// The nodes that an insertion was made from, named as in edits: in a pair, with the prefix of
// `before`. Empty if it names none.
struct InsertedFrom {
  std::string copy;  // the node whose call it copies
  std::string like;
};
InsertedFrom inserted_from(const InsertNode& insert);

}  // namespace jointer

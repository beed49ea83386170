#pragma once

#include <string>

#include "core/edit/change.h"

namespace jointer {

// The node whose call an insertion copies, named as in edits: in a pair, with the prefix of
// `before`. Empty if it copies none.
std::string copied_node(const InsertNode& insert);
// The same for the node that an insertion is `like`.
std::string model_node(const InsertNode& insert);

}  // namespace jointer

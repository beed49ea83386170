#pragma once

#include <string_view>

#include "views/session/document/document.h"

namespace jointer::test {

// A snapshot of a graph literal; the test fails if the literal is invalid.
views::SnapshotPtr snapshot_of(std::string_view literal);

// A small step, forward and backward: two layers, each a product with a parameter and a relu, then
// a collective with its wait.
extern const std::string_view kSmallStep;

}  // namespace jointer::test

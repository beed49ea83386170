#pragma once

#include <string_view>

#include "views/session/document/document.h"

namespace jointer::test {

// A snapshot of a graph literal; the test fails if the literal is invalid.
views::SnapshotPtr snapshot_of(std::string_view literal);

// A small transformer step: two identical layers with a parameter each, a collective with its wait,
// forward and backward.
extern const std::string_view kSmallStep;

}  // namespace jointer::test

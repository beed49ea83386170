#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/capture/native_writer.h"
#include "core/edit/edit.h"
#include "core/graph/validate.h"

namespace jointer::test {

// Expects that the edit applies, leaves a sound graph, and that its inverse restores the graph.
inline void must_apply(Graph& graph, const Edit& edit) {
  const std::string before = write_native(graph);
  auto inverse = apply(graph, edit);
  ASSERT_TRUE(inverse) << inverse.error().message;
  auto sound = validate(graph);
  ASSERT_TRUE(sound) << sound.error().message;
  const std::string after = write_native(graph);
  auto redo = apply(graph, *inverse);
  ASSERT_TRUE(redo) << redo.error().message;
  EXPECT_EQ(write_native(graph), before);
  auto undo = apply(graph, *redo);
  ASSERT_TRUE(undo) << undo.error().message;
  EXPECT_EQ(write_native(graph), after);
}

}  // namespace jointer::test

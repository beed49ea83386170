#include "views/session/edit/edit_history.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

EditStep titled(const char* title) {
  EditStep step;
  step.title = QString::fromLatin1(title);
  return step;
}

TEST(StepStack, IsEmptyAtFirst) {
  const StepStack steps;
  EXPECT_EQ(steps.count(), 0);
  EXPECT_EQ(steps.place(), 0);
  EXPECT_EQ(steps.undoable(), nullptr);
  EXPECT_EQ(steps.redoable(), nullptr);
}

TEST(StepStack, NamesTheStepsOnBothSidesOfThePosition) {
  StepStack steps;
  steps.push(titled("a"));
  steps.push(titled("b"));
  EXPECT_EQ(steps.undoable()->title, "b");
  EXPECT_EQ(steps.redoable(), nullptr);
  steps.go_to(1);
  EXPECT_EQ(steps.undoable()->title, "a");
  EXPECT_EQ(steps.redoable()->title, "b");
  steps.go_to(0);
  EXPECT_EQ(steps.undoable(), nullptr);
  EXPECT_EQ(steps.redoable()->title, "a");
}

TEST(StepStack, RemovesUndoneStepsWhenOneIsAdded) {
  StepStack steps;
  for (const char* title : {"a", "b", "c"}) steps.push(titled(title));
  steps.go_to(1);
  steps.push(titled("d"));
  EXPECT_EQ(steps.count(), 2);
  EXPECT_EQ(steps.place(), 2);
  EXPECT_EQ(steps.step(0).title, "a");
  EXPECT_EQ(steps.step(1).title, "d");
}

TEST(StepStack, LimitsPositionsToItsSteps) {
  std::vector<EditStep> two;
  two.push_back(titled("a"));
  two.push_back(titled("b"));
  StepStack steps(std::move(two), 7);
  EXPECT_EQ(steps.place(), 2);
  steps.go_to(-1);
  EXPECT_EQ(steps.place(), 0);
}

}  // namespace
}  // namespace jointer::views

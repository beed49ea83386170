// Tests the edited pipeline without a window.

#include "views/session/pipeline/pipeline_draft.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <QSignalSpy>

#include "core/pass/pipeline_file.h"

namespace jointer::views {
namespace {

class Draft : public testing::Test {
 protected:
  void set(std::string_view text) { draft.set_pipeline(*parse_step_lines(text)); }
  [[nodiscard]] std::string text() const { return to_text(draft.pipeline()); }
  [[nodiscard]] quint64 id(std::size_t place) const { return draft.steps()[place].id; }

  PipelineDraft draft;
};

TEST_F(Draft, StepsKeepTheirIdsWhileTheyMoveAndChange) {
  set("a,b{k=1},c");
  const quint64 a = id(0), b = id(1), c = id(2);
  draft.move(0, 3);
  EXPECT_EQ(text(), "b{k=1},c,a");
  EXPECT_EQ(draft.find(a), 2U);
  draft.set_argument(0, "k", 2);
  EXPECT_EQ(draft.find(b), 0U);
  // Editing the text keeps ids too: for equal steps, then for steps with the same pass.
  set("c,new,b{k=3},a");
  EXPECT_EQ(id(0), c);
  EXPECT_EQ(id(2), b);
  EXPECT_EQ(id(3), a);
  EXPECT_NE(id(1), 0U);
  EXPECT_FALSE(draft.find(999));
}

TEST_F(Draft, MovesIntoAGap) {
  set("a,b,c");
  draft.move(0, 0);
  draft.move(0, 1);
  draft.move(7, 0);
  draft.move(0, 9);
  EXPECT_EQ(text(), "a,b,c");
  draft.move(2, 0);
  EXPECT_EQ(text(), "c,a,b");
  draft.move(0, 2);
  EXPECT_EQ(text(), "a,c,b");
}

TEST_F(Draft, UndoesSuccessiveChangesTogether) {
  set("a,b");
  draft.set_argument(0, "k", 1);
  draft.set_argument(0, "k", 12);
  draft.set_argument(0, "k", 123);
  draft.enable(1, false);
  EXPECT_EQ(text(), "a{k=123},~b");
  draft.undo();
  EXPECT_EQ(text(), "a{k=123},b");
  draft.undo();
  EXPECT_EQ(text(), "a,b");
  draft.undo();
  EXPECT_EQ(text(), "");
  EXPECT_FALSE(draft.can_undo());
}

TEST_F(Draft, SignalsOnlyRealChanges) {
  set("a{k=1}");
  QSignalSpy changed(&draft, &PipelineDraft::changed);
  set("a{k=1}");
  draft.enable(0, true);
  draft.set_argument(0, "k", 1);
  draft.set_argument(0, "other", std::nullopt);
  draft.remove(5);
  EXPECT_EQ(changed.count(), 0);
  draft.set_argument(0, "k", std::nullopt);
  EXPECT_EQ(changed.count(), 1);
  EXPECT_EQ(text(), "a");
}

TEST_F(Draft, StoresTheSourcesOfPasses) {
  set("a,~mine{x=\"two words\"}");
  draft.set_source("mine", "Python: /x/mine.py");
  draft.set_source("gone", "Python: /x/gone.py");
  const WorkspacePipeline kept = draft.saved();
  EXPECT_EQ(kept.sources.size(), 1U) << "only of passes in the list";
  PipelineDraft again;
  again.restore(kept);
  EXPECT_EQ(again.pipeline(), draft.pipeline());
  EXPECT_EQ(again.source_of("mine"), "Python: /x/mine.py");
  EXPECT_FALSE(again.can_undo());
  EXPECT_EQ(again.saved(), kept);
}

TEST_F(Draft, AChangeAfterARestoreIsUndoneAlone) {
  set("a");
  draft.set_argument(0, "k", 1);
  draft.restore(draft.saved());
  EXPECT_FALSE(draft.can_undo());
  draft.set_argument(0, "k", 12);
  ASSERT_TRUE(draft.can_undo());
  draft.undo();
  EXPECT_EQ(text(), "a{k=1}");
}

RC_GTEST_PROP(DraftProperty, EveryChangeCanBeUndone, (const std::vector<std::uint8_t>& changes)) {
  PipelineDraft draft;
  std::vector<Pipeline> states{draft.pipeline()};
  for (const std::uint8_t change : changes) {
    const std::size_t place = change % (draft.size() + 1);
    switch (change % 5) {
      case 0:
      case 1:
        draft.insert(place, {.pass = fmt::format("p{}", change)});
        break;
      case 2:
        draft.remove(place);
        break;
      case 3:
        draft.move(place, (change / 7) % (draft.size() + 1));
        break;
      default:
        draft.duplicate(place);
        break;
    }
    if (draft.pipeline() != states.back()) states.push_back(draft.pipeline());
    std::set<quint64> ids;
    for (const DraftStep& each : draft.steps()) RC_ASSERT(ids.insert(each.id).second);
    RC_ASSERT(*parse_step_lines(draft.text().toStdString()) == draft.pipeline());
  }
  while (draft.can_undo()) {
    const Pipeline now = draft.pipeline();
    while (!states.empty() && states.back() == now) states.pop_back();
    draft.undo();
    // Equal steps may have swapped.
    if (draft.pipeline() != now) RC_ASSERT(draft.pipeline() == states.back());
  }
  RC_ASSERT(draft.empty());
}

}  // namespace
}  // namespace jointer::views

#include "views/palette/palette_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QTest>

#include "tests/support/patience.h"
#include "tests/support/snapshots.h"
#include "views/palette/keys_help.h"

namespace jointer::views {
namespace {

class PaletteModelTest : public ::testing::Test {
 protected:
  PaletteModelTest() {
    off_.setEnabled(false);
    model_.set_actions({&open_, &fit_, &off_});
    model_.set_document(&document_);
  }

  [[nodiscard]] std::vector<std::string> titles(const QString& text) {
    model_.set_text(text);
    std::vector<std::string> result;
    for (int i = 0; i < model_.rowCount(); ++i)
      result.push_back(model_.index(i).data().toString().toStdString());
    return result;
  }

  QAction open_{"&Open…"}, fit_{"Fit"}, off_{"Fit selection"};
  Document document_{{}, test::snapshot_of(test::kSmallStep)};
  PaletteModel model_;
  QAbstractItemModelTester tester_{&model_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(PaletteModelTest, OffersAllActionsForNoText) {
  EXPECT_THAT(titles(""), ::testing::ElementsAre("Open", "Fit", "Fit selection"));
  EXPECT_EQ(model_.flags(model_.index(2)), Qt::NoItemFlags) << "it is disabled";
}

TEST_F(PaletteModelTest, AddsModulesAndNodesIfFewActionsMatch) {
  const auto rows = titles("relu");
  EXPECT_THAT(rows, ::testing::ElementsAre("relu", "relu_1"));
  EXPECT_EQ(model_.action(0), nullptr);
  EXPECT_EQ(model_.nodes(0), std::vector{document_.graph().find("relu")});
}

TEST_F(PaletteModelTest, SearchesOnlyNodesAfterAnAtSign) {
  EXPECT_TRUE(titles("@fit").empty());
  EXPECT_EQ(titles("@layers.0").front(), "layers.0");
  EXPECT_EQ(model_.nodes(0).size(), 4U) << "a module selects all its nodes";
}

// A background edit can end while the palette is open.
TEST_F(PaletteModelTest, LeavesOutNodesThatHaveBeenRemoved) {
  const NodeId removed = document_.graph().find("relu_1");
  ASSERT_EQ(titles("@relu_1").front(), "relu_1");
  ASSERT_EQ(model_.nodes(0), std::vector{removed});
  document_.add_job([](const DocumentState& state) -> Result<DocumentState> {
    return DocumentState{test::snapshot_of("x: f32[8] = input\nreturn [x]"), state.baseline};
  });
  ASSERT_TRUE(QTest::qWaitFor([&] { return !document_.has(removed); }, test::kPatienceMs));
  EXPECT_TRUE(model_.nodes(0).empty());
}

TEST_F(PaletteModelTest, SkipsDeletedActions) {
  auto* gone = new QAction("Vanish");
  model_.set_actions({gone, &fit_});
  delete gone;
  EXPECT_THAT(titles(""), ::testing::ElementsAre("Fit"));
}

TEST(KeysOf, ListsActionsWithShortcuts) {
  QAction open("&Open…"), bare("Bare");
  open.setShortcut(QKeySequence("Ctrl+O"));
  const KeysGroup group = keys_of("File", {&open, &bare});
  ASSERT_EQ(group.rows.size(), 1);
  EXPECT_EQ(group.rows.front().what, "Open");
  EXPECT_EQ(group.rows.front().keys, "Ctrl+O");
}

}  // namespace
}  // namespace jointer::views

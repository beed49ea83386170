#include "views/pipeline/catalog_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "passes/built_in.h"

namespace jointer::views {
namespace {

class Catalog : public testing::Test {
 protected:
  Catalog() { model.set_passes(registry, {}); }
  [[nodiscard]] QStringList headings() const {
    QStringList found;
    for (int row = 0; row < model.rowCount(); ++row)
      if (model.index(row).data(CatalogModel::heading_role).toBool())
        found << model.index(row).data().toString();
    return found;
  }

  std::shared_ptr<const PassRegistry> registry =
      std::make_shared<const PassRegistry>(built_in_passes());
  CatalogModel model;
  QAbstractItemModelTester tester{&model, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(Catalog, HasEveryPassUnderItsStage) {
  std::size_t passes = 0;
  for (int row = 0; row < model.rowCount(); ++row) passes += model.pass(row).isEmpty() ? 0U : 1U;
  EXPECT_EQ(passes, registry->passes().size());
  EXPECT_EQ(headings().first(), "joint");
  EXPECT_EQ(headings().last(), QString::fromStdString(std::string(to_string(kPassStages.back()))));
  QString stage;
  for (int row = 0; row < model.rowCount(); ++row) {
    if (model.pass(row).isEmpty()) {
      EXPECT_FALSE(model.flags(model.index(row)).testFlag(Qt::ItemIsSelectable));
      stage = model.index(row).data().toString();
    } else {
      const Pass* pass = registry->find(model.pass(row).toStdString());
      EXPECT_EQ(stage.toStdString(), to_string(pass->info.stage));
      EXPECT_FALSE(model.index(row).data(CatalogModel::summary_role).toString().isEmpty());
    }
  }
}

TEST_F(Catalog, ANameMatchRanksBeforeASummaryMatch) {
  model.set_text("sinkwaitsit");
  EXPECT_EQ(model.pass(model.first_pass()), "sink_waits_iterative");
  model.set_text("Moves waits later, one at a time");
  ASSERT_GE(model.first_pass(), 0);
  EXPECT_EQ(model.pass(model.first_pass()), "sink_waits_iterative");
  model.set_text("nothing answers this");
  EXPECT_EQ(model.first_pass(), -1);
  EXPECT_EQ(headings(), QStringList{"No match."});
  EXPECT_EQ(model.rowCount(), 1);
  model.set_text({});
  EXPECT_FALSE(headings().contains("No match."));
}

TEST_F(Catalog, ListsPluginsThatCouldNotBeLoaded) {
  model.set_passes(registry, {"/x: built with another compiler; rebuild the plugin"});
  EXPECT_EQ(headings().last(), "Not loaded");
  const QModelIndex last = model.index(model.rowCount() - 1);
  EXPECT_TRUE(last.data(CatalogModel::problem_role).toBool());
  EXPECT_TRUE(model.pass(last.row()).isEmpty());
}

}  // namespace
}  // namespace jointer::views

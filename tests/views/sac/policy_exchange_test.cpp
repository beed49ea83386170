#include "views/sac/policy_exchange.h"

#include <gtest/gtest.h>

#include <QWidget>

#include "tests/support/held_pool.h"
#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/document/document.h"

namespace jointer::views {
namespace {

// The command palette also offers exports and imports while the SAC pane has no plan to show.
TEST(PolicyExchange, SaysWhyThereIsNoPlan) {
  test::HeldPool pool;
  Document document(OpenRequest{.path = "/tmp/graph.json"},
                    test::snapshot_of(test::layered_joint(4)));
  QWidget window;
  PolicyExchange exchange(document.sac(), &window);
  QString said;
  QObject::connect(&exchange, &PolicyExchange::message, &exchange,
                   [&said](const QString& sentence) { said = sentence; });
  exchange.copy(PolicyFormat::selectors);
  EXPECT_TRUE(said.startsWith("The plan has not been computed.")) << said.toStdString();
  document.sac().start();
  exchange.copy(PolicyFormat::selectors);
  EXPECT_TRUE(said.startsWith("The plan is still being computed;")) << said.toStdString();
  document.sac().cancel();
  exchange.take({});
  EXPECT_TRUE(said.startsWith("The plan has not been computed.")) << said.toStdString();
}

}  // namespace
}  // namespace jointer::views

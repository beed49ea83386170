// Tests that a ladder follows the plan of its document.

#include "views/graph/ladder_model.h"

#include <gtest/gtest.h>

#include "tests/support/held_pool.h"
#include "tests/support/snapshots.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/sac_session.h"

namespace jointer::views {
namespace {

// min_cut refuses the write in place; the default partitioner accepts it.
class LadderOfAPlanTest : public testing::Test {
 protected:
  [[nodiscard]] std::int64_t bytes(RungState state) const {
    std::int64_t sum = 0;
    for (const LadderRow& row : model.ladder().rows())
      if (row.parent < 0) sum += row.saved[static_cast<std::size_t>(state)];
    return sum;
  }

  test::HeldPool pool;
  Document document{OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(R"(
    x: f32[64] = input
    dy: f32[64] = tangent
    a: f32[64] = aten.cos(x)
    b: f32[64] = aten.add_.Tensor(a, 1)
    c: f32[64] = aten.silu(b)
    g: f32[64] = aten.silu_backward(dy, b)  {backward}
    return [c, g]
  )")};
  LadderModel model{document, 900};
};

TEST_F(LadderOfAPlanTest, ForgetsAPlanThatNoLongerExists) {
  const std::int64_t undecided = bytes(RungState::automatic);
  ASSERT_GT(undecided, 0);
  document.sac().start();
  pool.run_all();
  ASSERT_FALSE(document.sac().state()) << "min_cut must refuse this graph";
  SolveSettings settings;
  settings.partitioner = Partitioner::default_partition;
  document.sac().solve(settings);
  pool.run_all();
  ASSERT_TRUE(document.sac().state()) << document.sac().problem().toStdString();
  EXPECT_EQ(bytes(RungState::automatic), 0);
  EXPECT_GT(bytes(RungState::save), 0);
  document.editing().undo();
  pool.run_all();
  ASSERT_FALSE(document.sac().state());
  EXPECT_EQ(bytes(RungState::automatic), undecided);
  EXPECT_EQ(bytes(RungState::save), 0);
}

}  // namespace
}  // namespace jointer::views

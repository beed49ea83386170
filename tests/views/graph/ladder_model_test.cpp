// Tests that a ladder follows the plan of its document.

#include "views/graph/ladder_model.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/held_pool.h"
#include "tests/support/joints.h"
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
  Document document{OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::kWriteInPlace)};
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

// `a` is tagged, and all that the backward reads of `c` is a view.
constexpr char kTaggedStep[] = R"(
    kind train_step
    x: f32[64] = input
    dy: f32[8,8] = input
    a: f32[64] = aten.cos(x)                   {m MUST_RECOMPUTE}
    b: f32[64] = aten.silu(a)                  {m}
    c: f32[64] = aten.tanh(b)                  {m}
    d: f32[8,8] = aten.view(c, [8, 8])       {n}
    e: f32[8,8] = aten.mul.Tensor(d, d)        {n}
    g: f32[8,8] = aten.mul.Tensor(dy, d)       {n backward}
    h: f32[64] = aten.view(g, [64])          {m backward}
    i: f32[64] = aten.mul.Tensor(h, b)         {m backward}
    j: f32[64] = aten.silu_backward(i, a)      {m backward}
    return [e, j]
  )";

// The numbers of a flat training step do not change when its SAC session starts.
TEST(LadderOfAStep, ShowsTheSavedBytesOfTheSacSessionFromTheBeginning) {
  test::HeldPool pool;
  Document document{OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(kTaggedStep)};
  LadderModel model{document, 900};
  const auto saved = [&] {
    std::vector<std::pair<std::string, std::int64_t>> rows;
    for (const LadderRow& row : model.ladder().rows())
      if (row.parent < 0)
        rows.emplace_back(row.path, row.saved[static_cast<std::size_t>(RungState::save)]);
    return rows;
  };
  // The tags are applied on a worker thread.
  const auto without_tags = saved();
  pool.run_all();
  const auto before = saved();
  EXPECT_NE(before, without_tags);
  ASSERT_FALSE(document.sac().state());
  document.sac().start();
  pool.run_all();
  const SacStatePtr state = document.sac().state();
  ASSERT_TRUE(state) << document.sac().problem().toStdString();
  EXPECT_EQ(state->applied_tags.refusal, "");
  EXPECT_TRUE(state->applied_tags.any);
  EXPECT_EQ(saved(), before);
  std::int64_t sum = 0;
  for (const auto& [path, bytes] : before) sum += bytes;
  EXPECT_EQ(sum, state->figures.saved_bytes);
  EXPECT_EQ(state->figures.saved_bytes, 2 * 512);  // 256 bytes each, rounded
}

// The graph may change while the tags of the earlier one are being applied.
TEST(LadderOfAStep, DropsThePlanOfAnEarlierGraph) {
  test::HeldPool pool;
  Document document{OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(kTaggedStep)};
  document.editing().apply(
      {.title = "Save a",
       .changes = {SetPolicy{.policy = MemoryPolicy::must_save, .nodes = {std::string("a")}}}});
  pool.run_started();  // the edit arrives once events are processed
  LadderModel model{document, 900};
  int layouts = 0;
  QObject::connect(&model, &LadderModel::layout_changed, &model, [&] { ++layouts; });
  const auto saved = [&] {
    std::int64_t sum = 0;
    for (const LadderRow& row : model.ladder().rows())
      if (row.parent < 0) sum += row.saved[static_cast<std::size_t>(RungState::save)];
    return sum;
  };
  pool.run_all();
  ASSERT_EQ(document.editing().entry_count(), 1);
  EXPECT_EQ(layouts, 1) << "only that of the new graph";
  EXPECT_EQ(saved(), 3 * 512);
  document.editing().undo();
  pool.run_all();
  EXPECT_EQ(saved(), 2 * 512);
}

}  // namespace
}  // namespace jointer::views

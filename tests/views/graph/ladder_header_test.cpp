#include "views/graph/ladder_header.h"

#include <gtest/gtest.h>

#include "tests/support/ladders.h"

namespace jointer::views {
namespace {

// A value the partitioner will decide about counts as saved; one that a plan recomputes does not.
TEST(ChannelTexts, ListSavedRecomputedAndOffloadedSeparately) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  BytesByState saved{};
  EXPECT_TRUE(channel_texts(saved, 0).isEmpty());
  saved[static_cast<std::size_t>(RungState::save)] = 19 * kGib;
  saved[static_cast<std::size_t>(RungState::automatic)] = kGib;
  saved[static_cast<std::size_t>(RungState::recompute)] = 3 * kGib;
  EXPECT_EQ(channel_texts(saved, kGib),
            (QStringList{"saved 20.0 GiB, recomputed 4.00 GiB", "saved 20.0 GiB"}));
  saved[static_cast<std::size_t>(RungState::offload)] = 2 * kGib;
  EXPECT_EQ(channel_texts(saved, 0),
            (QStringList{"saved 20.0 GiB, recomputed 3.00 GiB, offloaded 2.00 GiB",
                         "saved 20.0 GiB, recomputed 3.00 GiB", "saved 20.0 GiB"}));
}

// No word is cut: less important parts are left out, and the card has them.
TEST(LadderHeader, ShowsWholePartsOnly) {
  const SnapshotPtr snapshot = make_snapshot(test::layered_graph(4), {}).value();
  const Ladder ladder(snapshot->graph, snapshot->analysis);
  const LadderExpansion expansion;
  const QFont font;
  const QFontMetrics metrics(font);
  const Theme& theme = Theme::light_theme();
  const LadderColors colors(*snapshot, ladder, LadderColor::plain);
  const LadderMarks marks;
  for (const double width : {1600.0, 700.0, 400.0}) {
    const LadderLayout layout = test::ladder_layout(snapshot->graph, ladder, expansion, width);
    const LadderScene scene{
        *snapshot, ladder, layout, colors, theme, marks, LadderView{.width = width, .height = 400},
        {}};
    const QRect strip(0, 0, static_cast<int>(width), 24);
    for (const LadderHeading& heading : ladder_headings(scene, strip)) {
      ASSERT_FALSE(heading.texts.isEmpty());
      const QString shown = text_that_fits(heading.texts, metrics, heading.area.width());
      EXPECT_LE(metrics.horizontalAdvance(shown), std::max(heading.area.width(), 0));
      EXPECT_TRUE(shown.isEmpty() || heading.texts.contains(shown));
    }
  }
  const QStringList texts{"saved 37.5 GiB, recomputed 4.00 GiB", "saved 37.5 GiB"};
  const int whole = metrics.horizontalAdvance(texts[0]);
  EXPECT_EQ(text_that_fits(texts, metrics, whole), texts[0]);
  EXPECT_EQ(text_that_fits(texts, metrics, whole - 1), texts[1]);
  EXPECT_EQ(text_that_fits(texts, metrics, 10), "");
}

}  // namespace
}  // namespace jointer::views

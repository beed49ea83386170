// Tests of the memory curve's axis: the device's memory, and the positions of labels.

#include <gtest/gtest.h>

#include <QFont>

#include "core/cost/device.h"
#include "core/schedule/device_capacity.h"
#include "tests/support/measured_step.h"
#include "views/session/open/go_to.h"
#include "views/session/text/capacity_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/theme.h"
#include "views/timeline/memory_painter.h"
#include "views/timeline/peak_label.h"
#include "views/timeline/timeline_content.h"
#include "views/timeline/timeline_layout.h"
#include "views/timeline/timeline_legend.h"
#include "views/timeline/timeline_text.h"

namespace jointer::views {
namespace {

// The small step on a device with this memory.
SnapshotPtr on_device(std::int64_t memory_bytes) {
  const SnapshotPtr small = test::snapshot_of(test::kSmallStep);
  Analysis analysis = small->analysis;
  analysis.device.memory_bytes = memory_bytes;
  analysis.device.outside_bytes = 0;
  return snapshot_of(small->graph, std::move(analysis));
}

TEST(MemoryAxis, ContainsTheDevicesMemoryUnlessThatFlattensTheCurve) {
  const std::int64_t peak = on_device(0)->analysis.memory.peak_bytes();
  Document unknown({}, on_device(0));
  TimelineContent without(unknown);
  without.set_show_reserved(false);
  EXPECT_FALSE(without.shows_capacity());
  for (const double ratio : {0.25, 0.99, 1.0, 1.5, 2.9, 3.1, 1000.0}) {
    const auto memory = static_cast<std::int64_t>(ratio * static_cast<double>(peak));
    Document document({}, on_device(memory));
    TimelineContent content(document);
    content.set_show_reserved(false);
    EXPECT_EQ(content.shows_capacity(), ratio < 3) << ratio;
    if (content.shows_capacity()) {
      EXPECT_GT(content.top_bytes(), std::max(memory, peak)) << ratio;
      EXPECT_LT(content.top_bytes(), 4 * peak) << "the curve has at least a quarter of the height";
    } else {
      EXPECT_EQ(content.top_bytes(), without.top_bytes()) << ratio;
    }
  }
}

TEST(MemoryAxis, SaysHowFarThePeakIsOver) {
  DeviceDescription device;
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  EXPECT_EQ(over_capacity_text(237 * kGib, device), "") << "its memory is not known";
  device.memory_bytes = 80 * kGib;
  EXPECT_EQ(over_capacity_text(80 * kGib, device), "");
  EXPECT_EQ(over_capacity_text(237 * kGib, device), "over by 157 GiB");
}

// The driver of an 80 GB card reports about 79.1 GiB, and a context takes about half a GiB.
TEST(MemoryAxis, CapacityLeavesOutWhatIsOutsideTheAllocator) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  for (const char* id : {"a100", "h100"}) {
    const auto device = load_device(id);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ(device->memory_bytes, 80 * kGib) << id;
    EXPECT_GT(*capacity_bytes(*device), 78 * kGib) << id;
    EXPECT_LT(*capacity_bytes(*device), 79 * kGib) << id;
    EXPECT_EQ(over_capacity_text(*capacity_bytes(*device), *device), "") << id;
    EXPECT_EQ(over_capacity_text(*capacity_bytes(*device) + kGib, *device), "over by 1.00 GiB")
        << id;
  }
}

TEST(MemoryAxis, AnArrowPointsToADeviceBeyondTheAxis) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  const QString label = "capacity " + bytes_text(80 * kGib);
  EXPECT_EQ(capacity_text(80 * kGib, {.bottom = 0, .top = 20 * kGib}),
            QStringLiteral("\u2191 ") + label);
  EXPECT_EQ(capacity_text(80 * kGib, {.bottom = 60 * kGib, .top = 100 * kGib}), label);
  EXPECT_EQ(capacity_text(80 * kGib, {.bottom = 90 * kGib, .top = 100 * kGib}),
            QStringLiteral("\u2193 ") + label);
}

TEST(MemoryAxis, LabelsAreAboveTheCurve) {
  const std::vector<LaneKind> lanes{LaneKind::host, LaneKind::estimated, LaneKind::measured,
                                    LaneKind::kernels};
  for (const int height : {40, 100, 240, 400, 900})
    for (const int width : {200, 320, 900, 2400})
      for (const int labels : {1, 2, 3}) {
        const auto layout = TimelineLayout::make({width, height}, lanes, {.memory = 28}, labels, 0);
        ASSERT_EQ(layout.labels.size(), static_cast<std::size_t>(labels));
        int below = layout.ruler.bottom();
        for (const QRect& row : layout.labels) {
          EXPECT_GT(row.top(), below);
          below = row.bottom();
        }
        EXPECT_GT(layout.memory.top(), below);
      }
}

TEST(MemoryAxis, LabelsStayInTheirRow) {
  const QFontMetrics metrics{QFont()};
  const QString text = QStringLiteral("peak 43.3 GiB  over by 3.1 GiB  mm_214");
  for (const int width : {20, 100, 300, 1000}) {
    const QRect row(132, 50, width, 18);
    for (int x = row.left(); x <= row.right(); x += 7) {
      const PeakLabel label = PeakLabel::place(metrics, row, x, text);
      EXPECT_TRUE(row.contains(label.box)) << width << " " << x;
      // The line through the peak does not cross the text if there is space next to it.
      if (width >= 2 * metrics.horizontalAdvance(text) + 60) {
        EXPECT_FALSE(label.box.left() <= x && x <= label.box.right());
        EXPECT_EQ(label.text, text);
      }
    }
  }
}

class AMeasuredAxis : public test::MeasuredSmallStep {
 protected:
  AMeasuredAxis() {
    document.add_import(std::make_shared<Measurement>(all));
    content.set_kind(AxisKind::measured_time);
  }
  [[nodiscard]] QString measured_entry() const {
    for (const LegendEntry& entry : legend_entries(content, Theme::light_theme()))
      if (entry.text.startsWith("measured  ")) return entry.text.mid(10);
    return {};
  }

  Document document{OpenRequest{}, snapshot};
  TimelineContent content{document};
};

// The measurement exceeds the estimate by 64 bytes at every moment.
TEST_F(AMeasuredAxis, LegendAndMarkerHaveTheBytesOfTheSameMoment) {
  for (const AxisKind kind :
       {AxisKind::measured_time, AxisKind::program_order, AxisKind::estimated_time}) {
    content.set_kind(kind);
    for (const char* name : {"mm", "relu", "mm_1"}) {
      go_to(document, node(name));
      const std::size_t moment = document.moment();
      const std::int64_t estimate = snapshot->analysis.memory.profile()[moment];
      EXPECT_EQ(content.measured_bytes(moment), estimate + 64) << name;
      EXPECT_EQ(measured_entry(), bytes_text(estimate + 64)) << name;
      EXPECT_TRUE(moment_text(content, moment).contains("measured " + bytes_text(estimate + 64)));
    }
  }
}

TEST_F(AMeasuredAxis, AMomentWithoutAMeasurementIsEstimated) {
  document.show_measurement(nullptr);
  go_to(document, node("mm"));
  EXPECT_EQ(content.measured_bytes(document.moment()), std::nullopt);
  EXPECT_EQ(measured_entry(), QString());
  EXPECT_FALSE(moment_text(content, document.moment()).contains("measured"));
}

}  // namespace
}  // namespace jointer::views

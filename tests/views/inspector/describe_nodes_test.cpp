#include "views/inspector/describe_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>
#include <algorithm>

#include "tests/support/snapshots.h"
#include "views/session/snapshot/measured_timeline.h"
#include "views/session/text/number_text.h"
#include "views/widgets/inspector_html.h"
#include "views/widgets/source_excerpt.h"

namespace jointer::views {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class InspectorTest : public ::testing::Test {
 protected:
  [[nodiscard]] NodeId node(const char* name) const { return snapshot_->graph.find(name); }
  [[nodiscard]] InspectorContent of(const char* name) const {
    return describe(*snapshot_, node(name));
  }
  // The row with a label, or an empty one.
  static InspectorRow row(const InspectorContent& content, const QString& label) {
    for (const InspectorSection& section : content.sections)
      for (const InspectorRow& r : section.rows)
        if (r.label == label) return r;
    return {};
  }

  SnapshotPtr snapshot_ = test::snapshot_of(test::kSmallStep);
};

TEST_F(InspectorTest, NamesTheLimitOfATimeUnlessItIsUnknown) {
  EXPECT_THAT(row(of("mm"), "time").value.toStdString(), HasSubstr(", bound by "));
  AnalysisOptions options;
  options.estimator.name = "simple{tflops=5,mem_gbs=40}";
  auto snapshot = make_snapshot(Graph(snapshot_->graph), options);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  snapshot_ = *snapshot;
  EXPECT_EQ(snapshot_->analysis.costs[node("mm").index()].limit, NodeCost::Limit::given);
  EXPECT_EQ(row(of("mm"), "time").value,
            time_text(snapshot_->analysis.costs[node("mm").index()].ns));
}

TEST_F(InspectorTest, DescribesATensor) {
  const InspectorContent content = of("mm");
  EXPECT_EQ(content.title, "mm");
  EXPECT_EQ(content.subtitle, "aten.mm.default");
  struct Expected {
    const char *label, *value;
  };
  for (const auto& [label, value] : std::initializer_list<Expected>{
           {"type", "float32"},
           {"shape", "[8, 64]"},
           {"device", "cuda:0"},
           {"output", "2.00 KiB"},
           {"storage", "2.00 KiB, temporary"},
           {"phase", "forward"},
           {"module", "layers.0.wq"},
           {"policy tag", "must save"},
           {"FLOPs", "65.5 kFLOP"},
           {"arguments", "x, w0"},
       })
    EXPECT_EQ(row(content, label).value.toStdString(), value) << label;
}

TEST_F(InspectorTest, CountsTheStoragesThatAreNotShown) {
  const auto count = [](const InspectorContent& content) {
    std::size_t storages = 0;
    for (const InspectorSection& section : content.sections)
      storages += static_cast<std::size_t>(
          std::ranges::count(section.rows, QString("storage"), &InspectorRow::label));
    return storages;
  };
  const SnapshotPtr six = test::snapshot_of(R"(
    x: f32[768] = input
    p: (f32[128], f32[128], f32[128], f32[128], f32[128], f32[128]) = aten.split_copy.Tensor(x, 128)
    p0: f32[128] = p[0]
    p1: f32[128] = p[1]
    p2: f32[128] = p[2]
    p3: f32[128] = p[3]
    p4: f32[128] = p[4]
    p5: f32[128] = p[5]
    return [p0, p1, p2, p3, p4, p5]
  )");
  const InspectorContent content = describe(*six, six->graph.find("p"));
  EXPECT_EQ(count(content), 4U);
  EXPECT_EQ(row(content, "storages not shown").value.toStdString(), "2 more, 3.00 KiB in total");
  EXPECT_EQ(count(of("mm")), 1U);
  EXPECT_TRUE(row(of("mm"), "storages not shown").value.isEmpty());
}

TEST_F(InspectorTest, DistinguishesOutputsFromMessages) {
  const InspectorContent content = of("ar");
  EXPECT_EQ(row(content, "output").note.contains("elements"), true);
  EXPECT_EQ(row(content, "message").note.contains("size of a rank's input or output"), true);
}

TEST_F(InspectorTest, ShowsBothEndsOfAShortTime) {
  for (const auto& [name, label] : {std::pair{"mm", "runs"}, {"ar", "in flight"}}) {
    const QStringList ends = row(of(name), label).value.section(',', 0, 0).split(" to ");
    ASSERT_EQ(ends.size(), 2) << name;
    EXPECT_NE(ends[0], ends[1]) << name;
  }
}

TEST_F(InspectorTest, LinksProducersUsersAndAliases) {
  EXPECT_THAT(row(of("mm"), "inputs (2)").links, ElementsAre(node("x"), node("w0")));
  EXPECT_THAT(row(of("mm"), "users (1)").links, ElementsAre(node("relu")));
  EXPECT_THAT(row(of("t1"), "aliases").links, ElementsAre(node("relu")));
  EXPECT_THAT(row(of("t1"), "allocated by").links, ElementsAre(node("relu")));
}

TEST_F(InspectorTest, ExplainsACollectiveFromEitherEnd) {
  for (const char* end : {"ar", "wt"}) {
    const InspectorContent content = of(end);
    EXPECT_EQ(row(content, "group").value, "tp");
    EXPECT_EQ(row(content, "ranks").value, "2 (0, 1)");
    EXPECT_EQ(row(content, "message").value, "2.00 KiB");
    EXPECT_EQ(row(content, "exposed").provenance, Provenance::estimated);
    EXPECT_FALSE(row(content, "because").value.isEmpty()) << "its wait follows directly";
  }
  EXPECT_THAT(row(of("wt"), "start").links, ElementsAre(node("ar")));
  EXPECT_THAT(row(of("ar"), "wait").links, ElementsAre(node("wt")));
}

// The name of a group is an argument of the call; only its ranks can be missing.
TEST_F(InspectorTest, SaysHowMissingRanksAreDerived) {
  snapshot_ = test::snapshot_of(R"(
    x: f32[64] = input
    g: f32[256] = _c10d_functional.all_gather_into_tensor(x, 4, 'fsdp')
    g_wait: f32[256] = _c10d_functional.wait_tensor(g)
    h: f32[256] = _c10d_functional.all_gather_into_tensor(x, 4, 'fsdp_extra')
    h_wait: f32[256] = _c10d_functional.wait_tensor(h)
    r: f32[64] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    r_wait: f32[64] = _c10d_functional.wait_tensor(r)
    return [g_wait, h_wait, r_wait]
  )");
  const auto ranks = [this](const char* name) { return row(of(name), "ranks"); };
  for (const char* name : {"g", "h", "r"}) {
    EXPECT_EQ(row(of(name), "group").provenance, Provenance::captured) << name;
    EXPECT_EQ(ranks(name).provenance, Provenance::derived) << name;
  }
  EXPECT_EQ(ranks("g").value, "4 (0, 1, 2, 3)");
  EXPECT_THAT(ranks("g").note.toStdString(), HasSubstr("group_size"));
  EXPECT_EQ(ranks("h").value, "4 (0, 1, 2, 3)");
  EXPECT_THAT(ranks("h").note.toStdString(),
              HasSubstr("named after fsdp, so it is assumed to have the same ranks."));
  EXPECT_EQ(ranks("r").value, "unknown");
  EXPECT_THAT(ranks("r").note.toStdString(), StartsWith("The graph does not say"));
  EXPECT_THAT(ranks("r").note.toStdString(), HasSubstr("Estimates assume 2 ranks."));
  snapshot_ = test::snapshot_of(test::kSmallStep);
  EXPECT_EQ(ranks("ar").provenance, Provenance::captured);
}

TEST_F(InspectorTest, MarksEstimates) {
  EXPECT_EQ(row(of("mm"), "time").provenance, Provenance::estimated);
  EXPECT_TRUE(row(of("mm"), "time").note.contains("roofline"));
  EXPECT_EQ(row(of("mm"), "FLOPs").provenance, Provenance::computed);
}

TEST_F(InspectorTest, AddsUpSeveralNodes) {
  const std::vector nodes{node("relu"), node("t1"), node("ar")};
  const InspectorContent content = describe(*snapshot_, nodes);
  EXPECT_EQ(content.title, "3 nodes");
  EXPECT_EQ(row(content, "phase").value, "2 forward, 1 backward");
  EXPECT_EQ(row(content, "outputs").value, "6.00 KiB");
  EXPECT_EQ(row(content, "storages").value, "4.00 KiB in 2") << "t1 is a view of relu";
}

TEST_F(InspectorTest, CountsCollectivesAndCopies) {
  snapshot_ = test::snapshot_of(R"(
    group tp: 0 1
    x: f32[64] = input
    ar: f32[64] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    a: f32[64] = _c10d_functional.wait_tensor(ar)
    device cpu
    off: f32[64] = ao.offload(a)
    host: f32[64] = ao.wait_tensor(off, a)
    device cuda:0
    back: f32[64] = ao.reload(host, 'cuda:0')
    again: f32[64] = ao.wait_tensor(back)
    return [again]
  )");
  const auto communication = [this](const std::vector<NodeId>& nodes, const char* label) {
    return row(describe(*snapshot_, nodes), label).value.section(u',', 0, 0).toStdString();
  };
  EXPECT_EQ(communication({node("ar"), node("a")}, "collectives"), "1");
  EXPECT_EQ(communication({node("off"), node("back")}, "copies"), "2");
  EXPECT_EQ(communication({node("ar"), node("off")}, "collectives"),
            "1 and 1 copy to or from the host");
  EXPECT_EQ(communication({node("ar"), node("off"), node("back")}, "collectives"),
            "1 and 2 copies to or from the host");
}

// The time is that of the block: its nodes were not measured.
TEST_F(InspectorTest, SaysThatACompiledBlockRanInPlaceOfANode) {
  Measurement m{.label = "rank 0, inductor", .device = "A CPU"};
  m.blocks = {{.name = "joint",
               .nodes = {node("mm"), node("relu")},
               .start_ns = 0,
               .end_ns = 50'000,
               .own_ns = 40'000,
               .peak_bytes = 4096}};
  const MeasuredTimeline measured(snapshot_->graph, snapshot_->analysis,
                                  std::make_shared<Measurement>(std::move(m)),
                                  snapshot_->estimated_time.bands());
  const InspectorContent one = describe(*snapshot_, node("mm"), &measured);
  EXPECT_EQ(row(one, "measured").value, "part of compiled joint, 2 nodes");
  EXPECT_THAT(row(one, "measured").note.toStdString(), HasSubstr("not timed individually"));
  EXPECT_THAT(row(one, "block").value.toStdString(), StartsWith("40.0 us (rank 0, inductor)"));
  EXPECT_EQ(row(one, "peak").value, "4.00 KiB");
  EXPECT_EQ(row(describe(*snapshot_, node("mm_1"), &measured), "block").value, "");
  const std::vector several{node("mm"), node("mm_1")};
  const InspectorContent all = describe(*snapshot_, several, &measured);
  EXPECT_THAT(row(all, "compiled").value.toStdString(),
              StartsWith("1 of 2 nodes of joint: 40.0 us"));
  EXPECT_EQ(row(all, "measured").value, "");
}

TEST_F(InspectorTest, ABlockOfOneNodeIsInTheSingular) {
  Measurement m{.label = "rank 0, inductor", .device = "A CPU"};
  m.blocks = {{.name = "joint",
               .nodes = {node("mm")},
               .start_ns = 0,
               .end_ns = 50'000,
               .own_ns = 40'000,
               .peak_bytes = 4096}};
  const MeasuredTimeline measured(snapshot_->graph, snapshot_->analysis,
                                  std::make_shared<Measurement>(std::move(m)),
                                  snapshot_->estimated_time.bands());
  const std::vector several{node("mm"), node("mm_1")};
  EXPECT_THAT(row(describe(*snapshot_, several, &measured), "compiled").value.toStdString(),
              StartsWith("1 of 1 node of joint: 40.0 us"));
}

TEST_F(InspectorTest, LeavesOutAnUnknownDuration) {
  Measurement m{.label = "trace.json"};
  m.nodes = {{node("mm"), 0, 10'000, 10'000}, {node("ar"), 10'000, 20'000, -1}};
  const MeasuredTimeline measured(snapshot_->graph, snapshot_->analysis,
                                  std::make_shared<Measurement>(std::move(m)),
                                  snapshot_->estimated_time.bands());
  const InspectorContent one = describe(*snapshot_, node("ar"), &measured);
  EXPECT_EQ(row(one, "measured").value, "");
  EXPECT_FALSE(row(one, "ran").value.isEmpty());
  const std::vector both{node("mm"), node("ar")};
  const InspectorContent sum = describe(*snapshot_, both, &measured);
  EXPECT_THAT(row(sum, "measured").value.toStdString(), StartsWith("10.0 us"));
  EXPECT_EQ(row(sum, "measured").note, "Only 1 node was measured.");
}

TEST_F(InspectorTest, ShowsSymbolsAsAssumptions) {
  const SnapshotPtr snapshot =
      test::snapshot_of("x: f32[u0,8] = input\na: f32[u0,8] = aten.relu(x)\nreturn [a]");
  const InspectorContent content = describe(*snapshot, snapshot->graph.find("a"));
  EXPECT_EQ(row(content, "shape").value, "[u0=64, 8]");
  EXPECT_EQ(row(content, "shape").provenance, Provenance::assumed);
}

TEST_F(InspectorTest, EscapesTextFromTheCapture) {
  InspectorContent content{.title = "<b>", .subtitle = "a & b"};
  content.sections.push_back(
      {"<i>", {{.label = "<u>", .value = "<script>", .note = "\"quoted\""}}});
  content.stack.push_back({.file = "<f>", .function = "<lambda>", .code = "a < b", .line = 1});
  const QString html = inspector_html(content, snapshot_->graph, Theme::light_theme(), {}, 12)
                           .section("</style>", 1);
  for (const char* raw : {"<b>", "<i>", "<u>", "<script>", "<f>", "<lambda>", "a < b"})
    EXPECT_FALSE(html.contains(raw)) << raw;
}

TEST(InspectorLinks, LeadToNodes) {
  InspectorContent content;
  content.sections.push_back({"section", {{.label = "a"}, {.label = "b"}}});
  content.sections[0].rows[1].all_links = {NodeId(3), NodeId(5)};
  const auto linked = [&](const char* link) {
    return linked_nodes(content, QUrl(QString::fromLatin1(link)));
  };
  EXPECT_THAT(linked("node:7"), ElementsAre(NodeId(7)));
  EXPECT_THAT(linked("nodes:0.1"), ElementsAre(NodeId(3), NodeId(5)));
  EXPECT_THAT(linked("nodes:0.0"), ElementsAre());
  EXPECT_THAT(linked("nodes:0.2"), ElementsAre()) << "the content has changed since";
  EXPECT_THAT(linked("file:0.1"), ElementsAre());
}

TEST(SourceExcerpt, ReadsLinesAroundOne) {
  const QTemporaryDir folder;
  QFile file(folder.filePath("model.py"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  for (int i = 1; i <= 10; ++i) file.write(QByteArray("line ") + QByteArray::number(i) + '\n');
  file.close();
  const auto excerpt = read_excerpt("model.py", 2, {"/nowhere", folder.path()}, 3);
  ASSERT_TRUE(excerpt);
  EXPECT_EQ(excerpt->first, 1);
  EXPECT_EQ(excerpt->lines.join(','), "line 1,line 2,line 3,line 4,line 5");
  EXPECT_TRUE(read_excerpt(file.fileName(), 5, {}));
  EXPECT_FALSE(read_excerpt("model.py", 99, {folder.path()})) << "no such line";
  EXPECT_FALSE(read_excerpt("model.py", 1, {})) << "the working folder is not searched";
}

TEST(SourceExcerpt, ReadsPythonSourceOnly) {
  EXPECT_FALSE(read_excerpt("/etc/passwd", 1, {}));
  EXPECT_FALSE(read_excerpt("/dev/zero", 1, {}));
}

}  // namespace
}  // namespace jointer::views

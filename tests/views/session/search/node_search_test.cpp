#include "views/session/search/node_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/characters.h"
#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NodeSearchTest : public ::testing::Test {
 protected:
  std::vector<std::string> found(std::string_view query) {
    const auto nodes = search_.find(query);
    std::vector<std::string> names;
    if (!nodes) {
      ADD_FAILURE() << nodes.error().message;
      return names;
    }
    for (const NodeId node : *nodes) names.emplace_back(snapshot_->graph.name(node));
    return names;
  }

  SnapshotPtr snapshot_ = test::snapshot_of(test::kSmallStep);
  NodeSearch search_{snapshot_};
};

TEST_F(NodeSearchTest, FindsFreeTextInNamesOperatorsAndModules) {
  EXPECT_THAT(found("gw"), ElementsAre("gw1", "gw0"));
  EXPECT_THAT(found("all_reduce"), ElementsAre("ar"));
  EXPECT_THAT(found("wt"), ElementsAre("wt"));
  EXPECT_THAT(found("NORM"), ElementsAre("ar", "wt", "y", "g1"));
  EXPECT_THAT(found(""), IsEmpty());
}

TEST_F(NodeSearchTest, FindsByFilters) {
  EXPECT_THAT(found("op:mm phase:fw"), ElementsAre("mm", "mm_1"));
  EXPECT_THAT(found("op:mm phase:bw"), ElementsAre("gw1", "gw0"));
  EXPECT_THAT(found("backward:gw"), ElementsAre("gw1", "gw0"));
  EXPECT_THAT(found("Forward:gw"), IsEmpty());
  EXPECT_THAT(found("backward:op:mm"), ElementsAre("gw1", "gw0"));
  EXPECT_THAT(found("mod:layers.0"), ElementsAre("mm", "relu", "t0", "gw0"));
  EXPECT_THAT(found("tag:must_save"), ElementsAre("mm", "mm_1"));
  EXPECT_THAT(found("tag:must-save"), ElementsAre("mm", "mm_1"));
  EXPECT_THAT(found("group:tp"), ElementsAre("ar"));
  EXPECT_THAT(found("exposed>0"), ElementsAre("ar"));
  EXPECT_THAT(found("role:param"), ElementsAre("w0", "w1"));
  EXPECT_THAT(found("shape:64,8"), ElementsAre("t1", "t0"));
  EXPECT_THAT(found("dtype:bf16"), IsEmpty());
  EXPECT_THAT(found("dtype:f32 op:relu"), ElementsAre("relu", "relu_1"));
  EXPECT_THAT(found("bytes>15KiB op:mm"), ElementsAre("gw1", "gw0"));
  EXPECT_THAT(found("step<2"), ElementsAre("mm", "relu"));
  EXPECT_THAT(found("users>2"), ElementsAre("relu_1"));
  EXPECT_THAT(found("op:mm,relu -mod:layers.1 phase:forward"), ElementsAre("mm", "relu"));
}

TEST_F(NodeSearchTest, PrefersWholePartsOfOperatorNames) {
  EXPECT_THAT(found("op:mul"), ElementsAre("y", "g1"));
  EXPECT_THAT(found("op:all_red"), ElementsAre("ar"))
      << "no operator has this name, so any part matches";
  EXPECT_THAT(found("op:aten.mm"), ElementsAre("mm", "mm_1", "gw1", "gw0"));
}

TEST_F(NodeSearchTest, FindsByPattern) {
  EXPECT_THAT(found("/^(mm|relu)_\\d$/"), ElementsAre("mm_1", "relu_1"));
  EXPECT_THAT(found("name:/^g/"), ElementsAre("g1", "gw1", "gw0"));
  EXPECT_THAT(found("name:/[^q]*z/"), IsEmpty()) << "a match must not span two names";
  EXPECT_EQ(found("name:/\\s|x/").size(), 1U);
}

// The search checks shared texts once and scans concatenated ones; checking every node is slow but
// obviously correct.
std::vector<NodeId> naive(const Snapshot& snapshot, const std::string& text) {
  std::vector<NodeId> found;
  for (const NodeId id : snapshot.graph.order()) {
    const Node& n = snapshot.graph.node(id);
    const auto has = [&](std::string_view in) {
      return lowercase(in).find(lowercase(text)) != std::string::npos;
    };
    if (has(snapshot.graph.name(id)) ||
        (n.kind == NodeKind::call && has(snapshot.graph.target(n))) ||
        has(snapshot.analysis.modules.module(snapshot.analysis.modules.of(id)).path))
      found.push_back(id);
  }
  return found;
}

RC_GTEST_PROP(NodeSearchProperties, AgreesWithCheckingEveryNode, ()) {
  static const SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
  static const NodeSearch search(snapshot);
  const auto letters = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<char>>(rc::gen::elementOf(std::string("amrelu.wt01_qG"))));
  const std::string text(letters.begin(), letters.end());
  const auto found = search.find(std::string_view(text));
  RC_ASSERT(found.has_value());
  RC_ASSERT(*found == naive(*snapshot, text));
  // A pattern of plain letters has the same matches.
  std::string pattern;
  for (const char c : text) pattern += c == '.' ? std::string("\\.") : std::string(1, c);
  RC_ASSERT(*search.find(std::string_view("/" + pattern + "/")) == *found);
  // Matches and non-matches together are all nodes.
  RC_ASSERT(search.find(std::string_view("-" + text))->size() + found->size() ==
            snapshot->graph.node_count());
}

TEST_F(NodeSearchTest, RejectsPlanFiltersWithoutAPlan) {
  for (const char* query : {"policy:save", "by:user", "op:mm -policy:save"}) {
    const auto nodes = search_.find(std::string_view(query));
    ASSERT_FALSE(nodes) << query;
    const std::string& why = nodes.error().message;
    EXPECT_NE(why.find("SAC pane"), std::string::npos) << why;
    // Tags cannot replace the plan: the message must not offer them for `by:`.
    EXPECT_NE(why.find("To search the tags of the graph's nodes, use `tag:`."), std::string::npos)
        << why;
  }
}

}  // namespace
}  // namespace jointer::views

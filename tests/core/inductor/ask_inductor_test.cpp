// Inductor is asked: a script stands in for Python with torch.

#include "core/inductor/ask_inductor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/graph/canonical.h"
#include "core/inductor/answer_cache.h"
#include "tests/support/alive.h"
#include "tests/support/fake_inductor.h"
#include "tests/support/graphs.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/must.h"

namespace jointer {
namespace {

using testing::HasSubstr;

class AskInductor : public testing::Test {
 protected:
  [[nodiscard]] Result<OrderedJson> ask(const AskOptions& options = {}) const {
    return ask_inductor(graph, PartId(0), options);
  }
  [[nodiscard]] std::string problem(const AskOptions& options = {}) const {
    const auto answer = ask(options);
    return answer ? std::string() : answer.error().message;
  }

  test::FakeInductor python;
  Graph graph = test::parse(test::kFusedAndProduct);
};

TEST_F(AskInductor, AnswersWithTheKernelsOfTheGraphAndTellsItsStages) {
  std::vector<AskStage> stages;
  double last = 0;
  AskOptions options;
  options.on_progress = [&](const AskProgress& progress) {
    stages.push_back(progress.stage);
    EXPECT_GE(progress.fraction(), last);
    last = progress.fraction();
  };
  const OrderedJson answer = test::must(ask(options));
  EXPECT_EQ(answer["kernels"].size(), 3U);
  EXPECT_EQ(answer["kernels"][0]["nodes"][0].get<std::string>(), "a");
  EXPECT_THAT(stages, testing::ElementsAre(AskStage::load_torch, AskStage::decompose,
                                           AskStage::lower, AskStage::fuse, AskStage::reorder));
  EXPECT_LT(last, 1);
}

TEST_F(AskInductor, AnAnswerIsCached) {
  const OrderedJson first = test::must(ask());
  EXPECT_EQ(test::must(ask()), first);
  EXPECT_EQ(python.runs().size(), 1U);
  test::must(ask({.may_be_cached = false}));
  EXPECT_EQ(python.runs().size(), 2U);
  test::must(ask({.device = "b200"}));
  EXPECT_EQ(python.runs().size(), 3U);
  python.have_torch("2.14.1");
  EXPECT_EQ(test::must(ask())["torch"].get<std::string>(), "2.14.1");
  EXPECT_EQ(python.runs().size(), 4U);
}

TEST_F(AskInductor, OtherSettingsOfInductorAreAskedAgain) {
  test::must(ask());
  python.configure("TORCHINDUCTOR_MAX_FUSION_SIZE", "2");
  test::must(ask());
  test::must(ask());
  EXPECT_EQ(python.runs().size(), 2U);
}

TEST_F(AskInductor, AnotherGraphIsAskedAgain) {
  test::must(ask());
  std::string other(test::kFusedAndProduct);
  other.replace(other.find("aten.exp"), 8, "aten.neg");
  graph = test::parse(other);
  test::must(ask());
  EXPECT_EQ(python.runs().size(), 2U);
  graph = test::parse(test::kFusedAndProduct);
  test::must(ask());
  EXPECT_EQ(python.runs().size(), 2U) << "the first answer is still there";
}

TEST_F(AskInductor, ADamagedCacheIsAskedAgain) {
  test::must(ask());
  for (const auto& file : std::filesystem::directory_iterator(python.cache()))
    std::ofstream(file.path()) << "damaged";
  test::must(ask());
  EXPECT_EQ(python.runs().size(), 2U);
}

TEST_F(AskInductor, AFailedAnswerIsNotCached) {
  python.act("fail");
  EXPECT_THAT(problem(), HasSubstr("node mm cannot be lowered: no such operator"));
  EXPECT_THAT(problem(), HasSubstr("exit code 4"));
  python.act("refuse");
  EXPECT_EQ(ask().error().kind, Error::Kind::input);
  EXPECT_THAT(problem(), HasSubstr("another world; set JOINTER_PYTHON"));
  python.act("babble");
  EXPECT_THAT(problem(), HasSubstr("got `hello`"));
  python.act("answer");
  EXPECT_TRUE(ask().has_value());
}

TEST_F(AskInductor, WithoutTorchItSaysHowToInstallIt) {
  python.have_torch("");
  EXPECT_EQ(ask().error().kind, Error::Kind::run);
  EXPECT_THAT(problem(), HasSubstr("fake_inductor.py -m pip install torch`"));
  EXPECT_TRUE(python.runs().empty());
}

TEST_F(AskInductor, InsistsOnAVersion) {
  EXPECT_THAT(problem({.torch = "2.12"}), HasSubstr("has torch 2.15.0, not 2.12"));
  EXPECT_TRUE(python.runs().empty());
  EXPECT_TRUE(ask({.torch = "2.15"}).has_value());
}

TEST_F(AskInductor, CancellingLeavesNoProcess) {
  python.act("sleep");
  AskOptions options;
  options.is_cancelled = [&] { return !python.runs().empty(); };
  const auto answer = ask(options);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Error::Kind::cancelled);
  ASSERT_EQ(python.runs().size(), 1U);
  std::istringstream ids(python.runs().front());
  int count = 0;
  for (pid_t id = 0; ids >> id; ++count) EXPECT_TRUE(test::dies_soon(id)) << id;
  EXPECT_EQ(count, 2);
}

// The graph's hash does not cover devices.
TEST_F(AskInductor, TheContentOfAGraphCoversMoreThanItsHash) {
  EXPECT_EQ(content_of(test::parse(test::kFusedAndProduct), PartId(0)),
            content_of(graph, PartId(0)));
  const Graph other = test::parse("device cpu\n" + std::string(test::kFusedAndProduct));
  EXPECT_EQ(graph_hash(other), graph_hash(graph));
  EXPECT_NE(content_of(other, PartId(0)), content_of(graph, PartId(0)));
}

TEST(AnswerCache, KeepsTheNewestAnswers) {
  const test::TemporaryFolder folder;
  const AnswerCache cache(folder / "answers");
  EXPECT_FALSE(cache.find("0").has_value());
  for (std::size_t i = 0; i <= AnswerCache::kMaxAnswers; ++i) {
    ASSERT_TRUE(cache.save(std::to_string(i), "{}").has_value());
    // Files that are written within one tick of the clock have the same time.
    const std::filesystem::path file =
        folder.path() / "answers" / (std::to_string(i) + ".json.zst");
    const auto now = std::filesystem::file_time_type::clock::now();
    if (std::filesystem::exists(file))
      std::filesystem::last_write_time(file, now - std::chrono::hours(100 - static_cast<int>(i)));
  }
  EXPECT_TRUE(cache.find("10").has_value());
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& file :
       std::filesystem::directory_iterator(folder.path() / "answers"))
    ++count;
  EXPECT_EQ(count, AnswerCache::kMaxAnswers);
  EXPECT_FALSE(cache.find("0").has_value());
}

}  // namespace
}  // namespace jointer

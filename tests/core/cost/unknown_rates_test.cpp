#include "core/cost/unknown_rates.h"

#include <gtest/gtest.h>

#include "core/cost/device.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

constexpr std::int64_t kStepNs = 1'000'000;

// The reasons for a graph with this `info`.
std::pair<UnknownRate, UnknownRate> reasons(std::string_view text, std::string info) {
  Graph graph = parse(text);
  graph.part(PartId(0)).info = std::move(info);
  const ModelFacts facts = find_model_facts(graph);
  const Throughput rates = throughput(facts, 1, kStepNs, *load_device("h100"));
  EXPECT_EQ(rates.tokens_per_second.has_value(),
            unknown_tokens(graph, facts, rates).sentence.empty());
  EXPECT_EQ(rates.mfu.has_value(), unknown_mfu(graph, facts, rates).sentence.empty());
  return {unknown_tokens(graph, facts, rates), unknown_mfu(graph, facts, rates)};
}

constexpr const char* kInfo =
    R"({"parameters":1000,"embedding_parameters":200,"layers":2,"heads":4,"head_size":8,
        "seq_len":100,"local_batch_size":2})";
constexpr const char* kTokens = "x: i64[2,100] = input\nreturn [x]";

TEST(UnknownRates, AreNoneIfTheCaptureHasAllFacts) {
  const auto [tokens, mfu] = reasons(kTokens, kInfo);
  EXPECT_EQ(tokens.brief, "");
  EXPECT_EQ(mfu.brief, "");
}

TEST(UnknownRates, AHalfHasNone) {
  for (const char* kind : {"forward", "backward"}) {
    const auto [tokens, mfu] = reasons(fmt::format("kind {}\n{}", kind, kTokens), kInfo);
    EXPECT_EQ(tokens.brief, fmt::format("{} only", kind));
    EXPECT_EQ(mfu.brief, tokens.brief);
  }
}

TEST(UnknownRates, NameTheMissingFacts) {
  EXPECT_EQ(reasons("x: f32[4] = input\nreturn [x]", "{}").first.brief, "no token count");
  const auto [tokens, mfu] = reasons(kTokens, R"({"parameters":1000,"embedding_parameters":200,
                                                  "seq_len":100,"heads":4,"head_size":8})");
  EXPECT_EQ(tokens.brief, "");
  EXPECT_EQ(mfu.brief, "model size unknown");
  EXPECT_EQ(mfu.sentence,
            "MFU needs facts about the model that the capture's info lacks: layers. Pass them as "
            "keyword arguments when you capture the graph (docs/capturing.md).");
}

}  // namespace
}  // namespace jointer::test

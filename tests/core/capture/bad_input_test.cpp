// Many damaged captures: each is refused with a one-line error, or gives a sound graph that every
// computation accepts. tests/cli/test_bad_input.py covers the kinds of damage one by one, with real
// processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/graph/complete.h"
#include "core/graph/validate.h"
#include "core/report/export.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string small_capture(std::uint64_t seed = 5) {
  return write_native(random_graph(seed, {.calls = 8}));
}

// Returns true if the capture was refused. Either way it must be handled properly.
bool is_refused(std::string_view text) {
  const auto graph = read_native("file", PaddedBytes(text));
  if (!graph) {
    EXPECT_EQ(graph.error().kind, Error::Kind::input);
    EXPECT_THAT(graph.error().message, StartsWith("file: "));
    return true;
  }
  EXPECT_TRUE(validate(*graph).has_value());
  const auto analysis = analyze(*graph);
  EXPECT_TRUE(analysis.has_value());
  EXPECT_TRUE(nlohmann::json::accept(export_perfetto(*graph, *analysis)));
  const auto again = read_native("again", PaddedBytes(write_native(*graph)));
  EXPECT_TRUE(again.has_value()) << again.error().message;
  return false;
}

TEST(BadInput, TruncatedAnywhere) {
  const std::string text = small_capture();
  ASSERT_FALSE(is_refused(text));
  for (std::size_t size = 0; size < text.size(); ++size)
    ASSERT_TRUE(is_refused(std::string_view(text).substr(0, size))) << size;
}

TEST(BadInput, TruncatedZstdAnywhere) {
  const std::string text = small_capture();
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  ASSERT_EQ(unpack(packed, "file")->view(), text);
  for (std::size_t size = 4; size < packed.size(); ++size) {
    const auto unpacked = unpack(std::string_view(packed).substr(0, size), "file");
    ASSERT_FALSE(unpacked.has_value()) << size;
    EXPECT_THAT(unpacked.error().message, AllOf(StartsWith("file: "), HasSubstr("zstd")));
  }
}

TEST(BadInput, FlippedBits) {
  std::mt19937_64 chance(1);
  std::size_t refused = 0;
  constexpr std::size_t kRounds = 3000;
  const std::string text = small_capture();
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::string damaged = text;
    for (std::uint64_t flips = 1 + chance() % 3; flips > 0; --flips) {
      char& byte = damaged[chance() % damaged.size()];
      byte = static_cast<char>(byte ^ (1 << (chance() % 8)));
    }
    refused += is_refused(damaged) ? 1U : 0U;
  }
  EXPECT_GT(refused, kRounds / 4);
  EXPECT_LT(refused, kRounds);
}

// Values of a capture replaced by its other values: valid JSON with the wrong meaning.
TEST(BadInput, SwappedValues) {
  using Json = nlohmann::ordered_json;
  std::mt19937_64 chance(2);
  const Json document = Json::parse(small_capture(9));
  std::vector<Json::json_pointer> places;
  const Json flat = document.flatten();
  for (const auto& [path, value] : flat.items()) {
    // Every leaf with its container.
    Json::json_pointer place(path);
    for (int up = 0; up < 3 && !place.empty(); ++up, place = place.parent_pointer())
      places.push_back(place);
  }
  const std::vector<Json> strangers{nullptr,
                                    true,
                                    -1,
                                    1e30,
                                    "",
                                    "mm",
                                    Json::array(),
                                    Json::object(),
                                    1ULL << 63,
                                    1.5,
                                    Json::array({1, 2})};
  std::size_t refused = 0;
  constexpr std::size_t kRounds = 1500;
  for (std::size_t round = 0; round < kRounds; ++round) {
    Json changed = document;
    const auto& to = places[chance() % places.size()];
    if (chance() % 2 == 0)
      changed[to] = document[places[chance() % places.size()]];
    else
      changed[to] = strangers[chance() % strangers.size()];
    refused += is_refused(changed.dump()) ? 1U : 0U;
  }
  EXPECT_GT(refused, kRounds / 4);
  EXPECT_LT(refused, kRounds);
}

TEST(BadInput, ExtremeNumbers) {
  using Json = nlohmann::ordered_json;
  const Json document = Json::parse(small_capture(9));
  const Json flat = document.flatten();
  std::size_t refused = 0, tried = 0;
  for (const auto& [path, value] : flat.items()) {
    if (!value.is_number()) continue;
    for (const std::int64_t number :
         {std::int64_t{-1}, std::int64_t{1} << 31, std::int64_t{1} << 40, std::int64_t{1} << 61,
          std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
      Json changed = document;
      changed[Json::json_pointer(path)] = number;
      refused += is_refused(changed.dump()) ? 1U : 0U;
      ++tried;
    }
  }
  EXPECT_GT(refused, tried / 4);
  EXPECT_LT(refused, tried);
}

TEST(BadInput, PairsOfDifferentGraphs) {
  const Graph a = random_graph(11, {.pair = true}), b = random_graph(12, {.pair = true});
  Graph pair;
  ASSERT_TRUE(append_native(pair, "fw", PaddedBytes(write_native(a, PartId(0)))));
  ASSERT_TRUE(append_native(pair, "bw", PaddedBytes(write_native(b, PartId(1)))));
  const auto completed = complete(pair);
  ASSERT_FALSE(completed.has_value());
  EXPECT_THAT(completed.error().message, HasSubstr("does not belong to the forward"));
}

TEST(BadInput, CanBeCancelled) {
  const auto graph = read_native("file", PaddedBytes(small_capture()),
                                 [](double, std::string_view) { return false; });
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().kind, Error::Kind::cancelled);
}

}  // namespace
}  // namespace jointer::test

// Thousands of random edits: a legal edit keeps the graph sound and can be undone exactly, an
// illegal one leaves the graph unchanged, and the difference of the two graphs is an edit that can
// be replayed.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/edit/difference.h"
#include "core/edit/edit.h"
#include "core/edit/replay.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "core/schedule/memory_timeline.h"
#include "tests/support/paths.h"
#include "tests/support/random_edits.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

constexpr int kEdits = 100;

RC_GTEST_PROP(EditProperty, LegalEditsAreSoundAndUndone, (std::uint64_t seed, bool pair)) {
  Graph graph = random_graph(seed, {.calls = 40, .pair = pair});
  Editor editor(graph);
  RandomEdits random(seed, {.reach = 15});
  std::vector<Edit> inverses;
  std::vector<std::string> texts;
  std::string text = write_native(graph);
  for (int i = 0; i < kEdits; ++i) {
    const auto edit = random.next(graph);
    if (!edit) continue;
    auto inverse = editor.apply(*edit);
    const std::string now = write_native(graph);
    if (!inverse) {
      RC_ASSERT(inverse.error().kind == Error::Kind::usage);
      RC_ASSERT(!inverse.error().message.empty());
      RC_ASSERT(inverse.error().message.find('\n') == std::string::npos);
      RC_ASSERT(now == text);
      continue;
    }
    const auto sound = validate(graph);
    if (!sound) RC_FAIL(edit->title + ": " + sound.error().message);
    inverses.push_back(std::move(*inverse));
    texts.push_back(std::exchange(text, now));
  }
  RC_CLASSIFY(inverses.size() >= kEdits / 4, "a quarter is legal");
  while (!inverses.empty()) {
    const auto redo = editor.apply(inverses.back());
    if (!redo) RC_FAIL(inverses.back().title + ": " + redo.error().message);
    RC_ASSERT(write_native(graph) == texts.back());
    inverses.pop_back();
    texts.pop_back();
  }
}

// Erased nodes take no memory and no time, and a graph that is written and read again has the same
// numbers.
RC_GTEST_PROP(EditProperty, FiguresSurviveWritingAndReading, (std::uint64_t seed, bool pair)) {
  Graph graph = random_graph(seed, {.calls = 40, .pair = pair});
  RandomEdits random(seed, {.reach = 15});
  Editor editor(graph);
  for (int i = 0; i < kEdits; ++i)
    if (const auto edit = random.next(graph)) (void)editor.apply(*edit);
  auto again = read_native("edited", PaddedBytes(write_native(graph)));
  if (!again) RC_FAIL(again.error().message);
  RC_ASSERT(graph_hash(*again) == graph_hash(graph));
  RC_ASSERT(std::ranges::equal(MemoryTimeline(graph).profile(), MemoryTimeline(*again).profile()));
}

RC_GTEST_PROP(EditProperty, TheDifferenceLeadsFromOneToTheOther, (std::uint64_t seed, bool pair)) {
  const Graph before = random_graph(seed, {.calls = 40, .pair = pair});
  Graph after = before;
  RandomEdits random(seed, {.reach = 15});
  Editor editor(after);
  for (int i = 0; i < kEdits; ++i)
    if (const auto edit = random.next(after)) (void)editor.apply(*edit);
  const auto edit = difference(before, after);
  if (!edit) RC_FAIL(edit.error().message);
  Graph graph = before;
  const auto inverse = apply(graph, *edit);
  if (!inverse) RC_FAIL(inverse.error().message);
  RC_ASSERT(graph_hash(graph) == graph_hash(after));
  const auto left = compare_graphs(graph, after);
  RC_ASSERT(left.has_value());
  RC_ASSERT(left->empty());
  RC_ASSERT(std::ranges::equal(MemoryTimeline(graph).profile(), MemoryTimeline(after).profile()));
  const auto undone = apply(graph, *inverse);
  if (!undone) RC_FAIL(undone.error().message);
  RC_ASSERT(write_native(graph) == write_native(before));
}

RC_GTEST_PROP(EditProperty, ARecipeReplays, (std::uint64_t seed, bool pair)) {
  const Graph before = random_graph(seed, {.calls = 40, .pair = pair});
  Graph after = before;
  RandomEdits random(seed, {.reach = 15});
  Editor editor(after);
  std::vector<Edit> edits;
  for (int i = 0; i < kEdits; ++i)
    if (const auto edit = random.next(after); edit && editor.apply(*edit)) edits.push_back(*edit);
  const Recipe recipe = make_recipe(before, after, edits, "random");
  const std::string text = write_recipe(recipe);
  const auto read = read_recipe(text);
  if (!read) RC_FAIL(read.error().message);
  RC_ASSERT(*read == recipe);
  RC_ASSERT(write_recipe(*read) == text);
  for (const bool lenient : {false, true}) {
    Graph graph = before;
    const auto replayed = replay(graph, *read, lenient);
    if (!replayed) RC_FAIL(replayed.error().message);
    RC_ASSERT(replayed->done.size() == edits.size());
    RC_ASSERT(replayed->skipped.empty());
    RC_ASSERT(edits.empty() || replayed->ends_as_recorded == true);
    RC_ASSERT(write_native(graph) == write_native(after));
  }
}

// Each half of a pair, edited alone, becomes what it is in the edited pair.
RC_GTEST_PROP(EditProperty, ARecipeOfAPairReplaysOnEachHalf, (std::uint64_t seed)) {
  const Graph before = random_graph(seed, {.calls = 40, .pair = true});
  Graph after = before;
  RandomEdits random(seed, {.reach = 15});
  Editor editor(after);
  std::vector<Edit> edits;
  for (int i = 0; i < kEdits; ++i)
    if (const auto edit = random.next(after); edit && editor.apply(*edit)) edits.push_back(*edit);
  const Recipe recipe = make_recipe(before, after, edits, "random");
  for (const PartId part : {PartId(0), PartId(1)}) {
    auto half = read_native("half", PaddedBytes(write_native(before, part)));
    if (!half) RC_FAIL(half.error().message);
    const auto replayed = replay(*half, recipe);
    if (!replayed) RC_FAIL(replayed.error().message);
    RC_ASSERT(graph_hash(*half) == graph_hash(after, part));
  }
}

class EditCaptures : public ::testing::TestWithParam<std::string> {};

TEST_P(EditCaptures, EditsAreSoundAndUndone) {
  auto opened = open_graph({.path = GetParam()});
  ASSERT_TRUE(opened) << opened.error().message;
  Graph& graph = *opened;
  const std::string text = write_native(graph);
  Editor editor(graph);
  RandomEdits random(7, {.reach = 200});
  std::vector<std::pair<Edit, std::string>> inverses;
  std::string hash = graph_hash(graph);
  const int edits = graph.order().size() > 6000 ? 30 : 120;
  for (int i = 0; i < edits; ++i) {
    const auto edit = random.next(graph);
    if (!edit) continue;
    auto inverse = editor.apply(*edit);
    const std::string now = graph_hash(graph);
    if (!inverse) {
      ASSERT_EQ(now, hash) << edit->title;
      continue;
    }
    const auto sound = validate(graph);
    ASSERT_TRUE(sound) << edit->title << ": " << sound.error().message;
    inverses.emplace_back(std::move(*inverse), std::exchange(hash, now));
  }
  EXPECT_GE(inverses.size(), static_cast<std::size_t>(edits / 10));
  for (; !inverses.empty(); inverses.pop_back()) {
    const auto redo = editor.apply(inverses.back().first);
    ASSERT_TRUE(redo) << redo.error().message;
    ASSERT_EQ(graph_hash(graph), inverses.back().second);
  }
  EXPECT_EQ(write_native(graph), text);
}

std::vector<std::string> captures() {
  std::vector<std::string> paths;
  for (const char* sample : {"llama_debug_tp2_fsdp2.joint", "llama_debug_fsdp2.min_cut",
                             "llama_debug_tp2.joint", "llama_8b_tp2_fsdp2.min_cut"})
    paths.push_back(source_path(std::string("resources/samples/") + sample + ".json.zst"));
  for (const std::string& path : shared_captures())
    if (path.find("deepseek_v3_debug") != std::string::npos ||
        path.find("llama_like_train_step") != std::string::npos)
      paths.push_back(path);
  return paths;
}

INSTANTIATE_TEST_SUITE_P(Captures, EditCaptures, ::testing::ValuesIn(captures()),
                         [](const auto& capture) { return parameter_name(capture); });

}  // namespace
}  // namespace jointer::test

#include "core/graph/canonical.h"

#include <gtest/gtest.h>

#include "core/capture/native_reader.h"
#include "tests/support/graphs.h"
#include "tests/support/paths.h"

#include <fstream>

namespace jointer::test {
namespace {

Graph read(std::string_view json) {
  auto graph = read_native("test", PaddedBytes(json));
  if (!graph) throw std::runtime_error(graph.error().message);
  return *std::move(graph);
}

// The graph in docs/hash.md.
constexpr const char* kExample = R"({"format":"jointer-capture","version":1,"kind":"forward",
  "storages":[12,8],"modules":[],"stacks":[],"nodes":[
  {"name":"x","op":"placeholder","target":"x",
   "val":{"t":{"shape":[2,3],"dtype":"bfloat16","device":"cpu","storage":0}}},
  {"name":"y","op":"call_function","target":"aten.full.default","args":[[2,3.5]],
   "kwargs":{"dtype":{"dtype":"float32"},"device":{"device":"cpu"}},
   "val":{"t":{"shape":[2],"dtype":"float32","device":"cpu","storage":1}}},
  {"name":"z","op":"call_function","target":"aten.split.Tensor","args":[{"n":"x"},1],
   "val":{"list":[{"t":{"shape":[1,3],"dtype":"float32","device":"cpu"}},{"c":null}]}},
  {"name":"w","op":"call_function","target":"aten._assert_scalar.default",
   "args":[{"n":"z"},"say \"no\"\t"],"val":null},
  {"name":"output","op":"output","target":"output","args":[[{"n":"y"},null]],"val":null}]})";

TEST(Canonical, MatchesTheExampleInTheDocs) {
  std::ifstream page(source_path("docs/hash.md"));
  std::string line, shown;
  while (std::getline(page, line) && line != "## An example") continue;
  while (std::getline(page, line) && !line.starts_with("## "))
    if (line.starts_with("    ")) shown += line.substr(4) + "\n";
  ASSERT_FALSE(shown.empty());
  EXPECT_EQ(canonical_text(read(kExample), PartId(0)), shown);
}

TEST(Canonical, HashesTheText) {
  // sha256 of "x x() -> float32[1]\noutput output([%x]) -> None\n"
  const Graph graph = parse("x: f32[1] = input\nreturn [x]");
  ASSERT_EQ(canonical_text(graph, PartId(0)), "x x() -> float32[1]\noutput output([%x]) -> None\n");
  EXPECT_EQ(graph_hash(graph), "5ef6b458ce53d91fe9ad716fd134350eb04331ae17ac2a10a83020f1489f0573");
}

// A symbol of a float is not a size: the graph keeps it as the capture writes it; older captures
// write `symint`.
TEST(Canonical, SymbolsOfFloatsAreWrittenLikeSizes) {
  constexpr std::string_view kNodes = R"({"format":"jointer-capture","version":1,"kind":"forward",
    "storages":[],"modules":[],"stacks":[],"nodes":[
    {"name":"a","op":"placeholder","target":"a","val":{"KEY":"zf16","hint":1e-05}},
    {"name":"b","op":"call_function","target":"_operator.mul","args":[{"KEY":"2*zf16"},{"n":"a"}],
     "val":{"list":[{"hint":null,"KEY":"2*zf16**2"}]}},
    {"name":"output","op":"output","target":"output","args":[[{"n":"b"}]]}]})";
  for (const std::string_view key : {"symfloat", "symint"}) {
    std::string json(kNodes);
    for (auto at = json.find("KEY"); at != std::string::npos; at = json.find("KEY"))
      json.replace(at, 3, key);
    EXPECT_EQ(canonical_text(read(json), PartId(0)),
              "a a() -> sym:zf16\n"
              "b _operator.mul(sym:2*zf16,%a) -> [sym:2*zf16**2]\n"
              "output output([%b]) -> None\n");
  }
}

TEST(Canonical, LeavesOutWhatDoesNotAffectTheComputation) {
  const std::string_view text = R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x) {layers.0 MUST_SAVE}
    return [a]
  )";
  const std::string hash = graph_hash(parse(text));
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string changed(text);
    changed.replace(changed.find(from), from.size(), to);
    return graph_hash(parse(changed));
  };
  EXPECT_EQ(replaced("layers.0", "layers.1"), hash);
  EXPECT_EQ(replaced("MUST_SAVE", "backward"), hash);
  EXPECT_EQ(replaced("= input", "= parameter"), hash);
  EXPECT_NE(replaced("relu", "sigmoid"), hash);
  EXPECT_NE(replaced("f32[4] = input", "f32[5] = input"), hash);
  EXPECT_NE(replaced("f32[4] = aten", "bf16[4] = aten"), hash);
  EXPECT_NE(replaced("[a]", "[x]"), hash);
}

TEST(Canonical, SortsKeywordsAndKeepsDictionaries) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = mine.op.default(x, 2, b=1.5, a={'z': 1, 'y': None}, C=(True,))
    return [a]
  )");
  EXPECT_NE(
      canonical_text(graph, PartId(0))
          .find("a mine.op.default(%x,2,C=(True),a={\"z\":1,\"y\":None},b=f3ff8000000000000)"),
      std::string::npos)
      << canonical_text(graph, PartId(0));
}

}  // namespace
}  // namespace jointer::test

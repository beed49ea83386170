#include "core/edit/node_comparer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/capture/native_reader.h"
#include "core/edit/difference.h"
#include "core/graph/canonical.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A graph whose call `c` returns `value`.
Graph returning(std::string_view value) {
  auto graph = read_native("test", PaddedBytes(fmt::format(
                                       R"({{"format":"jointer-capture","version":1,"kind":"forward",
    "storages":[256,512],"modules":[],"stacks":[],"nodes":[
    {{"name":"x","op":"placeholder","target":"x",
     "val":{{"t":{{"shape":[8,8],"stride":[8,1],"offset":0,"dtype":"float32","device":"cpu",
                 "storage":1}}}}}},
    {{"name":"c","op":"call_function","target":"my.op.default","args":[{{"n":"x"}}],"val":{}}},
    {{"name":"output","op":"output","target":"output","args":[[{{"n":"c"}}]]}}]}})",
                                       value)));
  if (!graph) throw std::runtime_error(graph.error().message);
  return *std::move(graph);
}

std::string tensor(std::string_view stride, std::string_view rest) {
  return fmt::format(R"({{"t":{{"shape":[4,4],"stride":{},"dtype":"float32","storage":1{}}}}})",
                     stride, rest);
}

// As "PART BEFORE -> AFTER". The canonical texts say the same.
std::vector<std::string> differences(std::string_view before, std::string_view after) {
  const Graph a = returning(before), b = returning(after);
  const NodeId was = a.find("c"), is = b.find("c");
  EXPECT_EQ(canonical_call(a, was), canonical_call(b, is));
  std::vector<std::string> texts;
  for (const DetailDifference& each : NodeComparer(a, b).detail_differences(was, is))
    texts.push_back(fmt::format("{} {} -> {}", each.part, each.before, each.after));
  EXPECT_EQ(texts.empty(), compare_graphs(a, b)->empty());
  return texts;
}

TEST(NodeComparer, NamesThePartsOfATensorThatDiffer) {
  const std::string plain = tensor("[4,1]", R"(,"offset":0,"device":"cpu")");
  EXPECT_THAT(differences(plain, plain), IsEmpty());
  EXPECT_THAT(differences(plain, tensor("[4,1]", R"(,"offset":16,"device":"cpu")")),
              ElementsAre("offset 0 -> 16"));
  EXPECT_THAT(differences(plain, tensor("[1,4]", R"(,"offset":16,"device":"cuda:0")")),
              ElementsAre("stride [4,1] -> [1,4]", "offset 0 -> 16", "device cpu -> cuda:0"));
  EXPECT_THAT(
      differences(plain, tensor("[4,1]", R"(,"offset":0,"device":"cpu","requires_grad":true)")),
      ElementsAre("requires_grad unknown -> True"));
  EXPECT_THAT(differences(tensor("[4,1]", R"(,"conj":false)"), tensor("[4,1]", R"(,"conj":true)")),
              ElementsAre("conj False -> True"));
}

TEST(NodeComparer, AnUnknownOffsetIsNotADifference) {
  EXPECT_THAT(differences(tensor("[4,1]", R"(,"offset":16)"), tensor("[4,1]", "")), IsEmpty());
  EXPECT_THAT(differences(tensor("[4,1]", R"(,"offset":16)"), tensor("[1,4]", "")),
              ElementsAre("stride [4,1] -> [1,4]"));
}

TEST(NodeComparer, CountsTheResultsOfAList) {
  const std::string at_0 = tensor("[8,1]", R"(,"offset":0)"),
                    at_4 = tensor("[8,1]", R"(,"offset":4)");
  EXPECT_THAT(differences(fmt::format(R"({{"list":[{},{},{{"c":1}}]}})", at_0, at_0),
                          fmt::format(R"({{"list":[{},{},{{"c":2}}]}})", at_0, at_4)),
              ElementsAre("result 1: offset 0 -> 4", "result 2: constant 1 -> 2"));
}

TEST(NodeComparer, TheHintOfASymbolIsNotADifference) {
  EXPECT_THAT(differences(R"({"symfloat":"zf0","hint":1.5})", R"({"symfloat":"zf0","hint":2.5})"),
              IsEmpty());
}

}  // namespace
}  // namespace jointer::test

#include "core/pass/pipeline_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/bytes.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

constexpr const char* kText = R"(
# what we run on Llama
apply_sac{save=[aten.mm,     # products
           "layers.*::aten.relu"]}

~sink_waits, raise_comms   # two on a line
sink_waits_iterative{
  budget=0.05
}
)";

PipelineFile read(std::string_view text) {
  auto file = read_pipeline_file(text, "p");
  EXPECT_TRUE(file) << file.error().message;
  return file ? *std::move(file) : PipelineFile();
}

std::string error(std::string_view text) {
  const auto file = read_pipeline_file(text, "p.jointer-passes");
  EXPECT_FALSE(file);
  if (file) return {};
  EXPECT_EQ(file.error().kind, Error::Kind::input);
  return file.error().message;
}

TEST(PipelineFile, TextHasOneStepPerLine) {
  EXPECT_EQ(to_text(read(kText).steps),
            "apply_sac{save=[aten.mm,\"layers.*::aten.relu\"]},~sink_waits,raise_comms,"
            "sink_waits_iterative{budget=0.05}");
  EXPECT_TRUE(read("").steps.empty());
  EXPECT_TRUE(read("# nothing but this").steps.empty());
  EXPECT_EQ(to_text(read(R"(a{b="x # \" y,z\\"},c{d="{"})").steps),
            R"(a{b="x # \" y,z\\"},c{d="{"})")
      << "quotes protect characters that end a step";
}

TEST(PipelineFile, BothFormsRoundTrip) {
  PipelineFile file = read(kText);
  file.name = "llama";
  file.summary = "A pipeline for Llama.";
  EXPECT_EQ(read(write_pipeline_text(file)).steps, file.steps);
  EXPECT_EQ(read(write_pipeline_json(file)), file);
}

TEST(PipelineFile, TheNameOfAFileDecidesItsFormat) {
  const TemporaryFolder folder;
  const PipelineFile file{.name = "llama", .steps = read(kText).steps};
  for (const auto& [name, expected] : {std::pair{"p.json", write_pipeline_json(file)},
                                       std::pair{"p.jointer-passes", write_pipeline_text(file)}}) {
    const std::string path = folder / name;
    ASSERT_TRUE(write_pipeline_file(path, file)) << path;
    EXPECT_EQ(read_bytes(path)->view(), expected);
  }
  EXPECT_FALSE(write_pipeline_file(folder / "missing/p.json", file));
}

// As editors on other systems write them.
TEST(PipelineFile, LineEndsAndByteOrderMarks) {
  const auto with_returns = [](std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
    return out;
  };
  const PipelineFile plain = read(kText);
  const std::string mark = "\xef\xbb\xbf", json = write_pipeline_json(plain);
  EXPECT_EQ(read(with_returns(kText)).steps, plain.steps);
  EXPECT_EQ(read(mark + kText).steps, plain.steps);
  EXPECT_EQ(read(mark + with_returns(kText)).steps, plain.steps);
  EXPECT_EQ(read(mark + with_returns(json)).steps, plain.steps);
  EXPECT_EQ(parse_pipeline("sink_waits\r\n,raise_comms\r\n")->size(), 2U);
  EXPECT_THAT(error("sink_waits\r\nno pass\r\n"), HasSubstr("line 2"));
  const TemporaryFolder folder;
  std::ofstream(folder / "marked.json") << mark << json;
  EXPECT_TRUE(is_pipeline_file(folder / "marked.json"));
}

TEST(PipelineFile, JsonAcceptsObjectsAndStrings) {
  const PipelineFile file = read(R"({"format":"jointer-pipeline","version":1,"mine":[1],"steps":[
    "a{k=1}", {"pass":"b","enabled":false,"parameters":{"x":0.5,"y":["p",null,true,3]}}]})");
  EXPECT_EQ(to_text(file.steps), "a{k=1},~b{x=0.5,y=[p,none,true,3]}");
  EXPECT_THAT(write_pipeline_json(file), HasSubstr("\"mine\"")) << "unknown members are kept";
}

TEST(PipelineFile, ErrorsNameTheLocation) {
  EXPECT_THAT(error("a\n\nb{"), HasSubstr("p.jointer-passes, line 3"));
  EXPECT_THAT(error("{"), HasSubstr("p.jointer-passes"));
  EXPECT_THAT(error("{}"), HasSubstr("not a pipeline"));
  const std::string head = R"({"format":"jointer-pipeline","version":)";
  EXPECT_THAT(error(head + "2,\"steps\":[]}"), HasSubstr("version 2"));
  EXPECT_THAT(error(head + "\"1\",\"steps\":[]}"), HasSubstr("version"));
  EXPECT_THAT(error(head + "1}"), HasSubstr("steps"));
  EXPECT_THAT(error(head + "1,\"steps\":[\"a\",7]}"), HasSubstr("step 2"));
  EXPECT_THAT(error(head + "1,\"steps\":[{\"pass\":\"no word\"}]}"),
              HasSubstr("step 1: `pass`: invalid pass name `no word`"));
  EXPECT_THAT(error(head + "1,\"steps\":[{\"pass\":\"a\",\"parameters\":{\"k\":{}}}]}"),
              HasSubstr("object"));
  EXPECT_THAT(error(head + "1,\"steps\":[\"a,b\"]}"), HasSubstr("expected one step"));
  EXPECT_THAT(
      error(head + "1,\"steps\":[{\"pass\":\"a\",\"parameters\":{\"k\":18446744073709551615}}]}"),
      HasSubstr("too large"));
}

TEST(PipelineFile, ErrorsInStepsNameTheLocation) {
  const std::string good = "a{k=1}, b # why\n\nc{\n  x=[1,\n 2]}\n";
  ASSERT_TRUE(parse_step_lines(good));
  EXPECT_EQ(to_text(*parse_step_lines(good)), "a{k=1},b,c{x=[1,2]}");
  const auto place = [](const std::string& text) {
    std::size_t at = 999;
    const auto steps = parse_step_lines(text, &at);
    EXPECT_FALSE(steps) << text;
    return at;
  };
  EXPECT_EQ(place("a,b{k=}"), 6U);
  EXPECT_EQ(place("a # comment\nb{k}"), 15U);
  EXPECT_EQ(place("a{k=1"), 5U) << "at the end";
  EXPECT_EQ(place("# only\n{"), 7U);
}

TEST(PipelineFile, TheNameOrTheContentDecidesTheForm) {
  const TemporaryFolder folder;
  const auto is_one = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return is_pipeline_file(folder / name);
  };
  EXPECT_TRUE(is_one("p.jointer-passes", "a"));
  EXPECT_TRUE(is_one("p.json", write_pipeline_json({.name = "n"})));
  EXPECT_TRUE(is_one("blank.json", "\r\n \t" + write_pipeline_json({.name = "n"})));
  EXPECT_FALSE(is_one("q.json", R"({"format":"jointer-capture"})"));
  EXPECT_FALSE(is_one("p.txt", "a"));
  EXPECT_FALSE(is_pipeline_file(folder / "none"));
  const std::string packed = folder / "p.json.zst";
  ASSERT_TRUE(write_bytes(packed, write_pipeline_json({.name = "n"})));
  EXPECT_TRUE(is_pipeline_file(packed));
}

}  // namespace
}  // namespace jointer::test

#include "core/capture/measurement_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "tests/support/graphs.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

const std::string kSnapshot = "tests/fuzz/corpus/memory_snapshot/protocol4.pickle";

class MeasurementFile : public testing::Test {
 protected:
  [[nodiscard]] std::string written(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  // Writes gzip.
  [[nodiscard]] std::string packed(const std::string& name, const char* text) const {
    const std::string path = folder_ / name;
    gzFile file = gzopen(path.c_str(), "wb");
    gzputs(file, text);
    gzclose(file);
    return path;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(MeasurementFile, IsDistinguishedFromAGraph) {
  EXPECT_TRUE(is_measurement_file(source_path(kSnapshot)));
  EXPECT_TRUE(is_measurement_file(written(
      "kineto.json", R"({"schemaVersion": 1, "deviceProperties": [], "traceEvents": []})")));
  EXPECT_FALSE(
      is_measurement_file(source_path("resources/samples/llama_debug_tp2_fsdp2.joint.json.zst")));
  EXPECT_FALSE(is_measurement_file(
      written("capture.json", R"({"format":"jointer-capture","version":1,"nodes":[]})")));
  EXPECT_FALSE(is_measurement_file("/nowhere/at/all.json"));
}

TEST_F(MeasurementFile, MayBeCompressedLikeACapture) {
  EXPECT_TRUE(is_measurement_file(packed("trace.json.gz", R"({"traceEvents": []})")));
  EXPECT_FALSE(is_measurement_file(
      packed("capture.json.gz", R"({"format":"jointer-capture","version":1,"nodes":[]})")));
}

TEST_F(MeasurementFile, IsNamedAfterItsFile) {
  const Graph graph = parse("x: f32[4] = input\ny: f32[4] = aten.relu(x)\nreturn [y]");
  const auto snapshot = read_measurement(graph, source_path(kSnapshot));
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(snapshot->label, "protocol4.pickle");
  EXPECT_GT(snapshot->peak_bytes, 0);
  EXPECT_FALSE(snapshot->memory_over_time.empty());
}

TEST_F(MeasurementFile, ErrorsAreOneLine) {
  const Graph graph = parse("x: f32[4] = input\ny: f32[4] = aten.relu(x)\nreturn [y]");
  const auto other = read_measurement(graph, written("other.json", R"({"traceEvents": []})"));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("other.json"));
  EXPECT_FALSE(read_measurement(graph, "/nowhere/at/all.json"));
}

}  // namespace
}  // namespace jointer::test

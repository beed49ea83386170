#include "core/open/open_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "tests/support/graphs.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

class OpenRanks : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name) const {
    const Graph graph = parse("x: f32[2] = input\ny: f32[2] = aten.neg(x)\nreturn [y]\n");
    ASSERT_TRUE(write_bytes(path(name), write_native(graph)).has_value());
  }
  [[nodiscard]] std::string error_of(const std::string& forward,
                                     const std::string& backward) const {
    const auto programs = open_ranks({{.path = path(forward), .backward = path(backward)}});
    return programs ? "no error" : programs.error().message;
  }

  TemporaryFolder folder_;
};

TEST_F(OpenRanks, OpensTheRanksWhoseFilesExist) {
  write("graph_0.json");
  write("graph_2.json");
  const auto programs = open_ranks({{.path = path("graph_{rank}.json")}});
  ASSERT_TRUE(programs) << programs.error().message;
  ASSERT_EQ(programs->size(), 2U);
  EXPECT_EQ(programs->front().rank, 0);
  EXPECT_EQ(programs->back().rank, 2);
}

TEST_F(OpenRanks, ABackwardGraphAloneIsARank) {
  write("backward_1.json");
  EXPECT_THAT(error_of("forward_{rank}.json", "backward_{rank}.json"), HasSubstr("forward_1.json"));
}

TEST_F(OpenRanks, AFileWithoutAPatternIsNotThatOfARank) {
  write("forward.json");
  EXPECT_THAT(error_of("forward.json", "backward_{rank}.json"),
              HasSubstr("backward_{rank}.json: no such file for any rank"));
}

}  // namespace
}  // namespace jointer::test

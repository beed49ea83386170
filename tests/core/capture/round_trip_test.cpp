#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "tests/support/paths.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

class SharedCapture : public testing::TestWithParam<std::string> {};

TEST_P(SharedCapture, LoadsValidatesAndRoundTripsToTheSameDocument) {
  JOINTER_SLOW_IF(is_large_capture(GetParam()));
  const auto bytes = read_bytes(GetParam());
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  const auto graph = read_native(GetParam(), *bytes);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_TRUE(validate(*graph).has_value());
  const std::string written = write_native(*graph);
  // Not just an equal document: the same bytes, for captures written without spaces.
  EXPECT_TRUE(written == bytes->view());
  const auto again = read_native("again", PaddedBytes(written));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(graph_hash(*again), graph_hash(*graph));
}

INSTANTIATE_TEST_SUITE_P(Shared, SharedCapture, testing::ValuesIn(shared_captures()),
                         parameter_name<testing::TestParamInfo<std::string>>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SharedCapture);

}  // namespace
}  // namespace jointer::test

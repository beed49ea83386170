// Arguments of calls in Python and in C++: brackets and commas in strings, comments and templates
// are not separators.

#include "core/capture/bracketed_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/capture/cpp_text.h"
#include "core/capture/output_code_parts.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;

TEST(BracketedText, SplitsArgumentsInPython) {
  EXPECT_THAT(wrapper::split_list("a, (b, c), 'd, (', "), ElementsAre("a", "(b, c)", "'d, ('"));
  EXPECT_THAT(wrapper::split_list("'''it's, (''', b"), ElementsAre("'''it's, ('''", "b"));
}

TEST(BracketedText, SplitsArgumentsInCpp) {
  EXPECT_THAT(cpp::split_arguments("a, std::array<int, 2>{1, 2}, \"b, (\", /* c, ) */ d"),
              ElementsAre("a", "std::array<int, 2>{1, 2}", "\"b, (\"", "/* c, ) */ d"));
}

TEST(BracketedText, ACallEndsAfterItsStrings) {
  wrapper::CallText call;
  ASSERT_TRUE(wrapper::split_call("f('''it's)''', b)[0]", call));
  EXPECT_EQ(call.arguments, "'''it's)''', b");
  EXPECT_EQ(call.rest, "[0]");
  EXPECT_FALSE(wrapper::split_call("f(')'", call));
}

TEST(BracketedText, ParametersOfAKernelInCppMayHaveTemplates) {
  const wrapper::Parts parts = wrapper::parts_of(R"(
cpp_fused_add_0 = async_compile.cpp_pybinding(['const float*', 'float*'], '''
extern "C" void kernel(const std::array<float, 2>& in_ptr0, float* out_ptr0)
{
}
''')
)");
  ASSERT_EQ(parts.sources.size(), 1U);
  EXPECT_THAT(parts.sources[0].parameters, ElementsAre("in_ptr0", "out_ptr0"));
}

}  // namespace
}  // namespace jointer::test

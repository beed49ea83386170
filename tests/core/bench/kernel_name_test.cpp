#include "core/bench/kernel_name.h"

#include <gtest/gtest.h>

namespace jointer::test {
namespace {

TEST(KernelName, StartsAtTheFunction) {
  EXPECT_EQ(short_kernel_name("void at::native::elementwise_kernel<4, at::native::Add<float>, "
                              "std::array<char*, 3ul>>(int, at::native::Add<float>)"),
            "elementwise_kernel<4, at::native::Add<float>, std::array<char*, 3ul>>");
  EXPECT_EQ(short_kernel_name("void at::native::(anonymous namespace)::softmax<float>(float*)"),
            "softmax<float>");
  EXPECT_EQ(short_kernel_name("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclArgs<4096ul>)"),
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(short_kernel_name("void f<g(int)::{lambda(int)#1}>(int)"),
            "f<g(int)::{lambda(int)#1}>");
}

TEST(KernelName, KeepsNamesWithoutParts) {
  EXPECT_EQ(short_kernel_name("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(short_kernel_name("Memcpy DtoD (Device -> Device)"), "Memcpy DtoD");
  EXPECT_EQ(short_kernel_name(""), "");
}

TEST(KernelName, InvalidNamesAreNotEmpty) {
  for (const char* name : {">", "(", "a::", "<<<", "(anonymous namespace)::", "void ", "::"})
    EXPECT_FALSE(short_kernel_name(name).empty()) << name;
}

}  // namespace
}  // namespace jointer::test

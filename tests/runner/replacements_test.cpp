#include "app/runner/kernels/replacements.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <string>

namespace jointer::runner {
namespace {

constexpr std::string_view kOnCpu = "aten._scaled_dot_product_flash_attention_for_cpu.default";
constexpr std::string_view kOnCuda = "aten._scaled_dot_product_flash_attention.default";

TEST(Replacements, WorkInBothDirections) {
  ASSERT_NE(find_replacement(kOnCpu, c10::kCUDA), nullptr);
  EXPECT_EQ(find_replacement(kOnCpu, c10::kCPU), nullptr);
  ASSERT_NE(find_replacement(kOnCuda, c10::kCPU), nullptr);
  EXPECT_EQ(find_replacement(kOnCuda, c10::kCUDA), nullptr);
}

// An operator of the CPU's has no kernel on CUDA; its replacement has one on every device.
TEST(Replacements, SupportCpuAttentionOnEveryDevice) {
  for (const std::string name : {"_scaled_dot_product_flash_attention_for_cpu",
                                 "_scaled_dot_product_flash_attention_for_cpu_backward"}) {
    const auto captured =
        c10::Dispatcher::singleton().findSchemaOrThrow(("aten::" + name).c_str(), "");
    EXPECT_FALSE(captured.hasComputedKernelForDispatchKey(c10::DispatchKey::CUDA)) << name;
    const Replacement* replacement = find_replacement("aten." + name + ".default", c10::kCUDA);
    ASSERT_NE(replacement, nullptr);
    const std::string_view target = replacement->target;
    const auto dot = target.find('.'), end = target.rfind('.');
    const std::string ours = std::string(target.substr(0, dot)) +
                             "::" + std::string(target.substr(dot + 1, end - dot - 1));
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(ours.c_str(), "");
    EXPECT_TRUE(op.hasComputedKernelForDispatchKey(c10::DispatchKey::CUDA)) << ours;
  }
}

}  // namespace
}  // namespace jointer::runner

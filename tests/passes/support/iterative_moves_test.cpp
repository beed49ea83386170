// The parameters of Inductor's iterative passes, which passes on nodes and on kernels share.

#include "passes/support/iterative_moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "passes/kernel_order/kernel_passes.h"
#include "passes/reordering/reordering.h"

namespace jointer::test {
namespace {

// Every parameter of the pass on kernels is also one of the pass on nodes; only the default of
// `unsafe` differs.
void expect_shared(const std::vector<Parameter>& of_kernels, const std::vector<Parameter>& of_nodes,
                   const std::string& unsafe) {
  for (const Parameter& parameter : of_kernels) {
    const auto found = std::ranges::find(of_nodes, parameter.name, &Parameter::name);
    ASSERT_NE(found, of_nodes.end()) << parameter.name;
    EXPECT_EQ(found->type, parameter.type) << parameter.name;
    EXPECT_EQ(found->min, parameter.min) << parameter.name;
    EXPECT_EQ(found->doc, parameter.doc) << parameter.name;
    EXPECT_EQ(found->default_value == parameter.default_value, parameter.name != unsafe)
        << parameter.name;
  }
}

TEST(IterativeMoves, NodesAndKernelsHaveTheSameParameters) {
  expect_shared(reorder_communication_preserving_peak_memory_kernel_pass().parameters,
                reorder_communication_preserving_peak_memory_pass().info.parameters,
                "reorder_iterative_unsafe_collectives_reorder");
  expect_shared(sink_waits_iterative_kernel_pass().parameters,
                sink_waits_iterative_pass().info.parameters,
                "sink_waits_iterative_unsafe_collectives_reorder");
}

TEST(IterativeMoves, DefaultsAreThoseOfTorch) {
  for (const bool is_raise : {true, false}) {
    const auto arguments =
        Arguments::check(is_raise ? raise_parameters(true) : sink_parameters(true), {});
    ASSERT_TRUE(arguments);
    const IterativeOptions options =
        is_raise ? raise_options(*arguments) : sink_options(*arguments);
    EXPECT_FALSE(options.use_times);
    EXPECT_TRUE(options.unsafe);
    EXPECT_FALSE(options.with_collectives);
    EXPECT_DOUBLE_EQ(options.extra_overlap, 0.5);
    EXPECT_DOUBLE_EQ(options.budget, 0.2);
    EXPECT_FALSE(options.max);
    EXPECT_DOUBLE_EQ(options.collective_factor, 2);
    EXPECT_DOUBLE_EQ(options.compute_factor, 1);
  }
}

TEST(IterativeMoves, EachPassReadsItsOwnArguments) {
  const auto raised =
      Arguments::check(raise_parameters(false),
                       {{"reorder_iterative_debug_limit_to_reorder", PassValue(std::int64_t{3})},
                        {"reorder_iterative_group_with_collectives", PassValue(true)}});
  ASSERT_TRUE(raised);
  EXPECT_EQ(raise_options(*raised).max, 3);
  EXPECT_TRUE(raise_options(*raised).with_collectives);
  const auto sunk =
      Arguments::check(sink_parameters(false),
                       {{"sink_waits_iterative_debug_limit_to_sink", PassValue(std::int64_t{4})},
                        {"sink_waits_iterative_swap_with_collectives", PassValue(true)}});
  ASSERT_TRUE(sunk);
  EXPECT_EQ(sink_options(*sunk).max, 4);
  EXPECT_TRUE(sink_options(*sunk).with_collectives);
}

}  // namespace
}  // namespace jointer::test

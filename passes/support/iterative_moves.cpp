#include "passes/support/iterative_moves.h"

#include "passes/support/parameters.h"

namespace jointer {
namespace {

// The names of the parameters that are named differently in the two passes.
struct IterativeNames {
  const char *use_times, *extra_overlap, *budget, *unsafe, *with_collectives, *max;
};

constexpr IterativeNames kRaiseNames{.use_times = "reorder_iterative_use_runtime_estimations",
                                     .extra_overlap = "reorder_iterative_extra_comm_comp_overlap",
                                     .budget = "reorder_iterative_peak_memory_budget",
                                     .unsafe = "reorder_iterative_unsafe_collectives_reorder",
                                     .with_collectives = "reorder_iterative_group_with_collectives",
                                     .max = "reorder_iterative_debug_limit_to_reorder"};
constexpr IterativeNames kSinkNames{
    .use_times = "sink_iterative_use_runtime_estimations",
    .extra_overlap = "sink_iterative_extra_comm_comp_overlap",
    .budget = "sink_iterative_peak_memory_budget",
    .unsafe = "sink_waits_iterative_unsafe_collectives_reorder",
    .with_collectives = "sink_waits_iterative_swap_with_collectives",
    .max = "sink_waits_iterative_debug_limit_to_sink"};
constexpr const char* kCollectiveFactor = "reorder_sink_runtime_estimations_comm_mult";
constexpr const char* kComputeFactor = "reorder_sink_runtime_estimations_non_comm_mult";

// Parameters that both passes declare.
Parameter use_times_parameter(const IterativeNames& names) {
  return flag(names.use_times, false, "Use estimated times: stop once a collective is hidden.");
}

Parameter extra_overlap_parameter(const IterativeNames& names) {
  return number(names.extra_overlap, 0.5,
                "With estimated times, a collective is hidden if overlapping compute exceeds its "
                "time by this fraction.");
}

Parameter budget_parameter(const IterativeNames& names) {
  return number(names.budget, 0.2,
                "Allowed growth of the peak, as a fraction of the original peak.");
}

Parameter unsafe_parameter(const IterativeNames& names, bool default_value) {
  return flag(names.unsafe, default_value,
              "Collectives in the same process group may change their order. Ranks that order them "
              "differently can hang or compute wrong results.");
}

Parameter collective_factor_parameter() {
  return number(kCollectiveFactor, 2.0, "Factor applied to the estimated times of collectives.");
}

Parameter compute_factor_parameter() {
  return number(kComputeFactor, 1.0, "Factor applied to all other estimated times.");
}

IterativeOptions iterative_options(const IterativeNames& names, const Arguments& given) {
  return {.use_times = given.boolean(names.use_times),
          .unsafe = given.boolean(names.unsafe),
          .with_collectives = given.boolean(names.with_collectives),
          .extra_overlap = given.number(names.extra_overlap),
          .budget = given.number(names.budget),
          .max = given.optional_integer(names.max),
          .collective_factor = given.number(kCollectiveFactor),
          .compute_factor = given.number(kComputeFactor)};
}

}  // namespace

std::vector<Parameter> raise_parameters(bool default_of_unsafe) {
  return {use_times_parameter(kRaiseNames),
          extra_overlap_parameter(kRaiseNames),
          budget_parameter(kRaiseNames),
          unsafe_parameter(kRaiseNames, default_of_unsafe),
          flag(kRaiseNames.with_collectives, false,
               "A collective that another collective depends on moves with it."),
          optional_count(
              kRaiseNames.max,
              "Maximum number of collectives to visit, even if they do not move; none: all."),
          collective_factor_parameter(),
          compute_factor_parameter()};
}

std::vector<Parameter> sink_parameters(bool default_of_unsafe) {
  return {use_times_parameter(kSinkNames),
          extra_overlap_parameter(kSinkNames),
          budget_parameter(kSinkNames),
          flag(kSinkNames.with_collectives, false,
               "A wait may move past the start of another collective."),
          unsafe_parameter(kSinkNames, default_of_unsafe),
          optional_count(kSinkNames.max,
                         "Maximum number of waits to visit, even if they do not move; none: all."),
          collective_factor_parameter(),
          compute_factor_parameter()};
}

IterativeOptions raise_options(const Arguments& given) {
  return iterative_options(kRaiseNames, given);
}

IterativeOptions sink_options(const Arguments& given) {
  return iterative_options(kSinkNames, given);
}

}  // namespace jointer

#pragma once

// The targets of the collectives that passes create or look for, and of their wait.

#include <string_view>

namespace jointer {

inline constexpr std::string_view kAllGatherTarget =
    "_c10d_functional.all_gather_into_tensor.default";
inline constexpr std::string_view kAllGatherOutTarget =
    "_c10d_functional.all_gather_into_tensor_out.default";
inline constexpr std::string_view kReduceScatterTarget =
    "_c10d_functional.reduce_scatter_tensor.default";
inline constexpr std::string_view kAllReduceTarget = "_c10d_functional.all_reduce.default";
inline constexpr std::string_view kAllToAllTarget = "_c10d_functional.all_to_all_single.default";
inline constexpr std::string_view kWaitTarget = "_c10d_functional.wait_tensor.default";

}  // namespace jointer

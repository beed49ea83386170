#pragma once

// The operators whose results upstream saves.

#include <span>
#include <string_view>

namespace jointer {

// DEFAULT_SAC_SAVE_OPS in torchtitan's compiler toolkit; used by apply_sac.
std::span<const std::string_view> toolkit_save_ops();

// _get_default_save_ops in current torchtitan; used by the memory policies.
std::span<const std::string_view> titan_save_ops();

}  // namespace jointer

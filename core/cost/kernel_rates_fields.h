#pragma once

// The JSON fields of KernelRates, the member `kernels` of a device description.

#include <tuple>

#include "core/base/json_fields.h"
#include "core/cost/kernel_rates.h"

namespace jointer {

constexpr auto json_fields(const KernelRates::Level* /*of*/) {
  using Level = KernelRates::Level;
  return std::tuple(json_field("bytes", &Level::bytes).required(),
                    json_field("gbps", &Level::gbps).required());
}

constexpr auto json_fields(const KernelRates::Tile* /*of*/) {
  using Tile = KernelRates::Tile;
  return std::tuple(json_field("rows", &Tile::rows).required(),
                    json_field("columns", &Tile::columns).required(),
                    json_field("share", &Tile::share).required());
}

constexpr auto json_fields(const KernelRates::Attention* /*of*/) {
  using Attention = KernelRates::Attention;
  return std::tuple(json_field("head_size", &Attention::head_size).required(),
                    json_field("forward", &Attention::forward).required(),
                    json_field("backward", &Attention::backward).required());
}

constexpr auto json_fields(const KernelRates* /*of*/) {
  return std::tuple(json_field("launch_us", &KernelRates::launch_us).required(),
                    json_field("product_us", &KernelRates::product_us).required(),
                    json_field("latency_us", &KernelRates::latency_us),
                    json_field("block_bytes", &KernelRates::block_bytes),
                    json_field("sector_bytes", &KernelRates::sector_bytes),
                    json_field("coalesced", &KernelRates::coalesced).required(),
                    json_field("strided", &KernelRates::strided).required(),
                    json_field("gathered", &KernelRates::gathered).required(),
                    json_field("scattered", &KernelRates::scattered).required(),
                    json_field("row_reduction", &KernelRates::row_reduction).required(),
                    json_field("column_reduction", &KernelRates::column_reduction).required(),
                    json_field("widening", &KernelRates::widening),
                    json_field("levels", &KernelRates::levels).if_set(),
                    json_field("special_gops", &KernelRates::special_gops),
                    json_field("tiles", &KernelRates::tiles).if_set(),
                    json_field("wave_us", &KernelRates::wave_us),
                    json_field("attention", &KernelRates::attention).if_set(),
                    json_field("cudnn_attention", &KernelRates::cudnn_attention).if_set(),
                    json_field("extra_tokens", &KernelRates::extra_tokens),
                    json_field("extra_causal_tokens", &KernelRates::extra_causal_tokens));
}

}  // namespace jointer

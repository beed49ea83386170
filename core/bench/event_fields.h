#pragma once

// JSON fields that events and benchmark results share.

#include <utility>
#include <vector>

#include "core/base/json_fields.h"
#include "core/bench/event.h"
#include "core/cost/gpu_properties_fields.h"

namespace jointer {

constexpr auto json_fields(const RankStarted* /*of*/) {
  return std::tuple(
      json_field("rank", &RankStarted::rank), json_field("world_size", &RankStarted::world_size),
      json_field("pid", &RankStarted::pid), json_field("device", &RankStarted::device),
      json_field("device_type", &RankStarted::device_type), json_field("hash", &RankStarted::hash),
      json_field("environment", &RankStarted::environment).if_set(),
      json_field("gpu", &RankStarted::gpu).if_set());
}

constexpr auto json_fields(const RankProgress* /*of*/) {
  return std::tuple(json_field("stage", &RankProgress::stage),
                    json_field("done", &RankProgress::done),
                    json_field("total", &RankProgress::total));
}

inline constexpr auto kMeasuredFigures =
    std::tuple(json_field("step_ns", &RankMeasured::step_ns),
               json_field("peak_bytes", &RankMeasured::peak_bytes),
               json_field("requested_peak_bytes", &RankMeasured::requested_peak_bytes),
               json_field("reserved_peak_bytes", &RankMeasured::reserved_peak_bytes),
               json_field("resident_peak_bytes", &RankMeasured::resident_peak_bytes),
               json_field("workspace_bytes", &RankMeasured::workspace_bytes).if_set(),
               json_field("pinned_peak_bytes", &RankMeasured::pinned_peak_bytes).if_set(),
               json_field("outside_bytes", &RankMeasured::outside_bytes).if_set());
inline std::vector<std::int64_t> numbers_of(std::vector<std::uint32_t> positions) {
  return {positions.begin(), positions.end()};
}
// Converts numbers to positions, and leaves out those that cannot be positions.
inline std::vector<std::uint32_t> positions_of(std::vector<std::int64_t> numbers) {
  std::vector<std::uint32_t> positions;
  positions.reserve(numbers.size());
  for (const std::int64_t number : numbers)
    if (std::in_range<std::uint32_t>(number))
      positions.push_back(static_cast<std::uint32_t>(number));
  return positions;
}
constexpr auto json_fields(const GpuState* /*of*/) {
  return std::tuple(
      json_field("sm_mhz", &GpuState::sm_mhz), json_field("max_sm_mhz", &GpuState::max_sm_mhz),
      json_field("memory_mhz", &GpuState::memory_mhz),
      json_field("milliwatts", &GpuState::milliwatts), json_field("celsius", &GpuState::celsius),
      json_field("used_bytes", &GpuState::used_bytes),
      json_field("slowdowns", &GpuState::slowdowns).if_set(),
      json_field("other_processes", &GpuState::other_processes).if_set(),
      json_field("other_bytes", &GpuState::other_bytes).if_set(),
      json_field("uncorrected_ecc_errors", &GpuState::uncorrected_ecc_errors).if_set(),
      json_field("mig", &GpuState::mig).if_set(),
      json_field("own_bytes", &GpuState::own_bytes).if_set());
}
constexpr auto json_fields(const CompiledBlock* /*of*/) {
  return std::tuple(
      json_field("name", &CompiledBlock::name),
      json_converted("positions", &CompiledBlock::positions, &numbers_of, &positions_of),
      json_field("peak_bytes", &CompiledBlock::peak_bytes),
      json_field("start_ns", &CompiledBlock::start_ns),
      json_field("end_ns", &CompiledBlock::end_ns), json_field("own_ns", &CompiledBlock::own_ns),
      json_columns("memory", &CompiledBlock::memory, json_column("ns", &MeasuredBytes::ns),
                   json_column("bytes", &MeasuredBytes::bytes)));
}
inline constexpr auto kMeasuredProfile = std::tuple(
    json_field("blocks", &RankMeasured::blocks).if_set(),
    json_field("gpu", &RankMeasured::gpu).if_set(),
    json_field("memory_profile", &RankMeasured::memory_profile).if_set(),
    json_columns("nodes", &RankMeasured::nodes, json_column("position", &NodeTime::position),
                 json_column("start_ns", &NodeTime::start_ns),
                 json_column("end_ns", &NodeTime::end_ns),
                 json_column("own_ns", &NodeTime::own_ns)),
    json_columns(
        "kernels", &RankMeasured::kernels, json_column("position", &MeasuredKernel::position),
        json_column("name", &MeasuredKernel::name), json_column("stream", &MeasuredKernel::stream),
        json_column("start_ns", &MeasuredKernel::start_ns),
        json_column("end_ns", &MeasuredKernel::end_ns)),
    json_columns("scratch", &RankMeasured::scratch, json_column("position", &NodeScratch::position),
                 json_column("bytes", &NodeScratch::bytes)));
constexpr auto json_fields(const RankMeasured* /*of*/) {
  return std::tuple_cat(kMeasuredFigures, kMeasuredProfile);
}

constexpr auto json_fields(const RankVerified* /*of*/) {
  return std::tuple(
      json_field("against", &RankVerified::against), json_field("bitwise", &RankVerified::bitwise),
      json_field("equal", &RankVerified::equal),
      json_field("max_abs_diff", &RankVerified::max_abs_diff),
      json_field("max_rel_diff", &RankVerified::max_rel_diff),
      json_field("bound", &RankVerified::bound), json_field("output", &RankVerified::output),
      json_field("element", &RankVerified::element),
      json_field("compared", &RankVerified::compared));
}

}  // namespace jointer

// Computes the curves of allocated and reserved bytes from a CUDA memory snapshot. A snapshot
// contains the allocator's trace (a ring buffer with the latest entries, in chronological order)
// and the allocator's state at the end: all segments and their blocks. The level at an entry is the
// final level minus all later changes, which is correct even if the ring buffer has overwritten its
// first entries.
//
// Terms
//   allocated   alloc adds, free_requested subtracts (a block that waits for another stream is no
//               longer allocated). Entries have the requested size; the allocator and the curve
//               count multiples of 512 bytes. A block that the allocator does not split is a little
//               larger; the notes report the difference at the end.
//   reserved    segment_alloc and segment_map add, segment_free and segment_unmap subtract.
//
// Cost: linear. Source: torch 2.11, torch/cuda/memory.py (_snapshot) and
// c10/cuda/CUDACachingAllocator.cpp (record_trace).

#include "core/capture/memory_snapshot.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/capture/pickle.h"
#include "core/schedule/cuda_allocator.h"

namespace jointer {
namespace {

// More memory than any device has. The limit keeps sums of damaged sizes within 64 bits.
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;

std::optional<std::int64_t> size_of(const Pickle& pickle, const PickleValue& entry,
                                    std::string_view key) {
  const auto size = pickle.integer(entry, key);
  if (!size || *size < 0 || *size > kMaxBytes) return std::nullopt;
  return size;
}

struct Level {
  std::int64_t allocated = 0, reserved = 0, counted = 0;
};

// The level at the end of the trace. `counted`: the sizes of the allocated blocks, which may be
// larger than the requests.
Result<Level> final_level(const Pickle& pickle, const PickleValue& segments, std::string_view name,
                          std::int64_t device) {
  Level level;
  for (const PickleValue& segment : pickle.elements(segments)) {
    if (pickle.integer(segment, "device").value_or(0) != device) continue;
    const auto total = size_of(pickle, segment, "total_size");
    const PickleValue* blocks = pickle.find(segment, "blocks");
    if (!total || blocks == nullptr)
      return input_error("{}: not a memory snapshot: a segment lacks its size or its blocks", name);
    level.reserved = saturating_add(level.reserved, *total);
    for (const PickleValue& block : pickle.elements(*blocks)) {
      if (pickle.text(block, "state") != "active_allocated") continue;
      const auto size = size_of(pickle, block, "size");
      if (!size) return input_error("{}: not a memory snapshot: a block lacks its size", name);
      const auto asked = size_of(pickle, block, "requested_size").value_or(*size);
      level.counted = saturating_add(level.counted, *size);
      level.allocated = saturating_add(level.allocated, CudaAllocator::rounded(asked));
    }
  }
  return level;
}

struct Change {
  std::int64_t allocated = 0, reserved = 0;
};

Change change_of(std::string_view action, std::int64_t size) {
  if (action == "alloc") return {.allocated = CudaAllocator::rounded(size)};
  if (action == "free_requested") return {.allocated = -CudaAllocator::rounded(size)};
  if (action == "segment_alloc" || action == "segment_map") return {.reserved = size};
  if (action == "segment_free" || action == "segment_unmap") return {.reserved = -size};
  return {};
}

// Computes the curves backwards from the final level.
Result<void> walk(const Pickle& pickle, std::span<const PickleValue> entries, std::string_view name,
                  Level end, MemorySnapshot& out) {
  std::int64_t allocated = end.allocated, reserved = end.reserved;
  std::int64_t later_us = std::numeric_limits<std::int64_t>::max();
  auto& curve = out.measurement.memory_over_time;
  std::size_t jumps = 0, ooms = 0;
  for (std::size_t i = entries.size(); i-- > 0;) {
    const PickleValue& entry = entries[i];
    const auto us = pickle.integer(entry, "time_us");
    if (!us || *us < 0 || *us > std::numeric_limits<std::int64_t>::max() / 2000)
      return input_error(
          "{}: the memory snapshot has no times: entry {} has no `time_us`; record it with torch "
          "2.2 or newer",
          name, i);
    // A thread reads the clock before it acquires the allocator's lock, so adjacent entries may be
    // out of order.
    jumps += *us > later_us ? 1 : 0;
    later_us = std::min(later_us, *us);
    const std::string_view action = pickle.text(entry, "action");
    ooms += action == "oom" ? 1 : 0;
    const auto size = size_of(pickle, entry, "size");
    const Change change = size ? change_of(action, *size) : Change{};
    if (change.allocated != 0) curve.push_back({later_us * 1000, allocated});
    if (change.reserved != 0) out.reserved.push_back({later_us * 1000, reserved});
    allocated = saturating_add(allocated, -change.allocated);
    reserved = saturating_add(reserved, -change.reserved);
  }
  out.begins_before = allocated != 0 || reserved != 0;
  curve.push_back({later_us * 1000, allocated});
  out.reserved.push_back({later_us * 1000, reserved});
  for (auto* points : {&curve, &out.reserved}) {
    std::reverse(points->begin(), points->end());
    for (MeasuredBytes& point : *points) point.ns -= later_us * 1000;
  }
  auto& notes = out.measurement.notes;
  if (allocated < 0 || reserved < 0)
    notes.emplace_back("the trace frees more than it allocates: entries are missing");
  if (ooms > 0) notes.push_back(counted(ooms, "out-of-memory error"));
  if (jumps > 0)
    notes.push_back(
        fmt::format("{} not in chronological order", counted(jumps, "entry is", "entries are")));
  return {};
}

std::int64_t highest(const std::vector<MeasuredBytes>& points) {
  std::int64_t peak = 0;
  for (const MeasuredBytes& point : points) peak = std::max(peak, point.bytes);
  return peak;
}

}  // namespace

Result<MemorySnapshot> read_memory_snapshot(std::string_view name, const PaddedBytes& bytes,
                                            std::optional<std::int64_t> device) {
  JOINTER_TRY(const Pickle pickle, Pickle::read(name, bytes.view()));
  const PickleValue* segments = pickle.find(pickle.root(), "segments");
  const PickleValue* traces = pickle.find(pickle.root(), "device_traces");
  if (segments == nullptr || traces == nullptr)
    return input_error("{}: not a memory snapshot: `segments` or `device_traces` is missing", name);
  const auto by_device = pickle.elements(*traces);
  MemorySnapshot out;
  if (device) out.device = *device;
  for (std::size_t i = 0; i < by_device.size() && !device; ++i)
    if (pickle.elements(by_device[i]).size() >
        pickle.elements(by_device[static_cast<std::size_t>(out.device)]).size())
      out.device = static_cast<std::int64_t>(i);
  const auto entries = out.device >= 0 && static_cast<std::size_t>(out.device) < by_device.size()
                           ? pickle.elements(by_device[static_cast<std::size_t>(out.device)])
                           : std::span<const PickleValue>{};
  if (entries.empty())
    return input_error(
        "{}: the memory snapshot has no trace of GPU {}; call "
        "torch.cuda.memory._record_memory_history() before the code of interest",
        name, out.device);
  out.entries = entries.size();
  Measurement& m = out.measurement;
  m.label = name.substr(name.rfind('/') + 1);
  m.device_type = "cuda";
  JOINTER_TRY(const Level end, final_level(pickle, *segments, name, out.device));
  JOINTER_CHECK(walk(pickle, entries, name, end, out));
  m.step_ns = m.memory_over_time.back().ns;
  out.peak_bytes = highest(m.memory_over_time);
  out.reserved_peak_bytes = highest(out.reserved);
  if (end.counted != end.allocated)
    m.notes.push_back(
        fmt::format("the allocator counts {} {} at the end, because it did not split some blocks",
                    format_bytes(std::abs(end.counted - end.allocated)),
                    end.counted > end.allocated ? "more" : "less"));
  return out;
}

}  // namespace jointer

#include "tests/runner/fake_device/memory_history.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/serialization/pickler.h>

#include <tuple>
#include <utility>

namespace jointer::test {
namespace {

using Members = c10::Dict<c10::IValue, c10::IValue>;
using Elements = c10::List<c10::IValue>;

Members new_dict() {
  return Members(c10::AnyType::get(), c10::AnyType::get());
}
Elements new_list() {
  return Elements(c10::AnyType::get());
}

void set(const Members& dict, const char* key, c10::IValue value) {
  dict.insert(c10::IValue(std::string(key)), std::move(value));
}

Members segment_dict(const SnapshotSegment& segment) {
  Elements blocks = new_list();
  for (const SnapshotBlock& block : segment.blocks) {
    const Members dict = new_dict();
    set(dict, "address", block.address);
    set(dict, "size", block.bytes);
    set(dict, "requested_size", block.requested);
    set(dict, "state", std::string("active_allocated"));
    set(dict, "frames", new_list());
    blocks.push_back(dict);
  }
  const Members dict = new_dict();
  set(dict, "device", std::int64_t{0});
  set(dict, "total_size", segment.bytes);
  set(dict, "segment_type", std::string("large"));
  set(dict, "segment_pool_id", std::tuple<std::int64_t, std::int64_t>(0, 0));
  set(dict, "is_expandable", false);
  set(dict, "frames", new_list());
  set(dict, "blocks", blocks);
  return dict;
}

Members trace_dict(const TracedEvent& event) {
  constexpr std::int64_t kNanosecondsInUs = 1000;
  const Members dict = new_dict();
  set(dict, "action", event.action);
  set(dict, event.action == "oom" ? "device_free" : "addr", event.address);
  set(dict, "size", event.bytes);
  set(dict, "stream", std::int64_t{0});
  set(dict, "time_us", event.ns / kNanosecondsInUs);
  return dict;
}

}  // namespace

std::string pickled_snapshot(const std::vector<SnapshotSegment>& segments,
                             const std::vector<TracedEvent>& trace) {
  Elements segment_list = new_list(), trace_list = new_list(), traces = new_list();
  for (const SnapshotSegment& segment : segments) segment_list.push_back(segment_dict(segment));
  for (const TracedEvent& event : trace) trace_list.push_back(trace_dict(event));
  traces.push_back(trace_list);
  const Members snapshot = new_dict();
  set(snapshot, "segments", segment_list);
  set(snapshot, "device_traces", traces);
  std::string bytes;
  {
    torch::jit::Pickler pickler(
        [&](const char* data, std::size_t size) { bytes.append(data, size); }, nullptr, nullptr,
        nullptr, nullptr, /*tag_aggregates=*/false);
    pickler.protocol();
    pickler.pushIValue(snapshot);
    pickler.stop();
  }
  return bytes;
}

}  // namespace jointer::test

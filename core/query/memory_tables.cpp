// Fills the tables `storages` and `events`.

#include <algorithm>

#include "core/query/table_columns.h"
#include "core/schedule/memory_walk.h"

namespace jointer {
namespace {

// --- storages ---

struct StorageRow {
  std::size_t number;
  const Lifetime& lifetime;
};

std::string_view name_of(const TableSource& s, const Lifetime& lifetime) {
  return lifetime.producer ? s.graph.name(lifetime.producer) : std::string_view();
}

void write_node_id(NodeId id, RowWriter& row) {
  id ? row.integer(id.value()) : row.null();
}

bool is_never_freed(const TableSource& s, const Lifetime& lifetime) {
  return end_point(lifetime.last) >= s.analysis.memory.profile().size();
}

constexpr std::array<TableColumn<StorageRow>, 9> kStorageColumns{{
    {{"storage_id", "INTEGER PRIMARY KEY", "Number of the storage"},
     [](const auto&, const auto& each, auto& row) {
       row.integer(static_cast<std::int64_t>(each.number));
     }},
    {{"node_id", "INTEGER", "Node that allocates the storage; for optimizer state, the parameter"},
     [](const auto&, const auto& each, auto& row) { write_node_id(each.lifetime.producer, row); }},
    {{"node", "TEXT", "Name of `node_id`"},
     [](const auto& s, const auto& each, auto& row) {
       row.text_or_null(name_of(s, each.lifetime));
     }},
    {{"module", "TEXT", "Module of `node_id`"},
     [](const auto& s, const auto& each, auto& row) {
       each.lifetime.producer ? row.text(s.module(each.lifetime.producer)) : row.null();
     }},
    {{"category", "TEXT", "parameter, saved_activation, temporary, ..."},
     [](const auto&, const auto& each, auto& row) { row.text(to_string(each.lifetime.category)); }},
    {{"bytes", "INTEGER",
      "Size, rounded up as by the device's allocator, except for buffers of compiled kernels"},
     [](const auto&, const auto& each, auto& row) { row.integer(each.lifetime.bytes); }},
    {{"allocated_ns", "INTEGER", "Time of allocation; 0 if the storage exists from the start"},
     [](const auto& s, const auto& each, auto& row) {
       row.integer(s.memory_times[begin_point(each.lifetime.first)]);
     }},
    {{"freed_ns", "INTEGER", "Time of release; NULL if the storage exists until the end"},
     [](const auto& s, const auto& each, auto& row) {
       is_never_freed(s, each.lifetime)
           ? row.null()
           : row.integer(s.memory_times[end_point(each.lifetime.last)]);
     }},
    {{"is_live_at_peak", "INTEGER", "1 if the storage is live at the peak, else 0"},
     [](const auto& s, const auto& each, auto& row) {
       const MemoryTimeline& memory = s.analysis.memory;
       row.integer(MemoryTimeline::is_alive(each.lifetime, memory.peak_index()) ? 1 : 0);
     }},
}};

void fill_storages(const TableSource& source, RowWriter& writer, const TableWriter::Row& row) {
  const auto lifetimes = source.analysis.memory.lifetimes();
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    writer.start();
    write_row(kStorageColumns, source, StorageRow{i, lifetimes[i]}, writer);
    if (!row()) return;
  }
}

// --- events ---

struct EventRow {
  std::int64_t number;
  std::size_t point;  // of the memory profile
  std::size_t storage;
  const Lifetime& lifetime;
  std::int64_t change;      // bytes
  std::int64_t live_bytes;  // after the event
};

constexpr std::array<TableColumn<EventRow>, 7> kEventColumns{{
    {{"event_id", "INTEGER PRIMARY KEY", "Number of the event, in chronological order"},
     [](const auto&, const auto& event, auto& row) { row.integer(event.number); }},
    {{"ns", "INTEGER", "Time of the event; 0 for allocations before the first node"},
     [](const auto& s, const auto& event, auto& row) { row.integer(s.memory_times[event.point]); }},
    {{"node_id", "INTEGER", "Node that runs at that time; NULL at the start"},
     [](const auto& s, const auto& event, auto& row) {
       write_node_id(s.analysis.memory.node_at(event.point), row);
     }},
    {{"action", "TEXT", "allocate or free"},
     [](const auto&, const auto& event, auto& row) {
       row.text(event.change > 0 ? "allocate" : "free");
     }},
    {{"storage_id", "INTEGER", "Storage that is allocated or freed"},
     [](const auto&, const auto& event, auto& row) {
       row.integer(static_cast<std::int64_t>(event.storage));
     }},
    {{"bytes", "INTEGER", "Change: positive for allocations, negative for frees"},
     [](const auto&, const auto& event, auto& row) { row.integer(event.change); }},
    {{"live_bytes", "INTEGER", "Bytes that are live after the event"},
     [](const auto&, const auto& event, auto& row) { row.integer(event.live_bytes); }},
}};

struct Event {
  std::size_t point;
  std::size_t storage;
  bool is_free;
};

// All events in chronological order. At each point of the profile, there are only allocations or
// only frees.
std::vector<Event> events_of(const MemoryTimeline& memory) {
  const auto lifetimes = memory.lifetimes();
  std::vector<Event> events;
  events.reserve(2 * lifetimes.size());
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    const std::size_t begin = begin_point(lifetimes[i].first), end = end_point(lifetimes[i].last);
    if (begin >= end) continue;  // never live
    events.push_back({begin, i, false});
    if (end < memory.profile().size()) events.push_back({end, i, true});
  }
  std::ranges::stable_sort(events, {}, &Event::point);
  return events;
}

void fill_events(const TableSource& source, RowWriter& writer, const TableWriter::Row& row) {
  const auto lifetimes = source.analysis.memory.lifetimes();
  std::int64_t number = 0, live = 0;
  for (const Event& event : events_of(source.analysis.memory)) {
    const Lifetime& lifetime = lifetimes[event.storage];
    const std::int64_t change = event.is_free ? -lifetime.bytes : lifetime.bytes;
    live += change;
    writer.start();
    write_row(kEventColumns, source,
              EventRow{number++, event.point, event.storage, lifetime, change, live}, writer);
    if (!row()) return;
  }
}

}  // namespace

TableWriter storage_table() {
  return {{"storages", "Memory that the training step allocates or that exists before it",
           columns_of(kStorageColumns)},
          fill_storages};
}

TableWriter event_table() {
  return {{"events", "Memory events: allocations and frees", columns_of(kEventColumns)},
          fill_events};
}

}  // namespace jointer

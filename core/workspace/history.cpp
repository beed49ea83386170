#include "core/workspace/history.h"

#include <algorithm>

#include "core/base/json_fields.h"
#include "core/edit/recipe.h"

namespace jointer {
namespace {

constexpr auto kEntryTitle = std::tuple(json_field("title", &HistoryEntry::title).lenient());
constexpr auto kEntryHead =
    std::tuple_cat(kEntryTitle, std::tuple(json_field("keep", &HistoryEntry::keep)));
constexpr auto kEntryExtra = std::tuple(json_rest(&HistoryEntry::extra));

// Reads the member `edits`, which is required.
void read_edits(JsonMembers& members, std::vector<Edit>& edits) {
  if (members.find_set("edits") == nullptr) members.expect("edits", "a list");
  members.read_list("edits", [&](const OrderedJson& json, std::size_t i) {
    auto edit = read_edit_tree(json, fmt::format("edit {}", i));
    if (edit)
      edits.push_back(*std::move(edit));
    else
      members.refuse(edit.error().message);
  });
}

OrderedJson edits_to_json(const std::vector<Edit>& edits) {
  OrderedJson json = OrderedJson::array();
  for (const Edit& edit : edits) json.push_back(json_of(edit));
  return json;
}

void read_count(JsonMembers& members, std::string_view key, std::size_t max, std::size_t& count) {
  const OrderedJson* json = members.find(key);
  if (json == nullptr || read_json(*json, count) != nullptr || count > max)
    members.expect(key, fmt::format("an integer from 0 to {}", max));
}

}  // namespace

std::vector<Edit> History::edits_at(std::size_t after) const {
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < std::min(after, entries.size()); ++i) {
    edits.resize(std::min(edits.size(), entries[i].keep));
    edits.insert(edits.end(), entries[i].edits.begin(), entries[i].edits.end());
  }
  return edits;
}

void History::add(Edit edit) {
  std::string title = edit.title;
  add(HistoryEntry{.title = std::move(title), .keep = edit_count(), .edits = {std::move(edit)}});
}

void History::add(HistoryEntry entry) {
  entries.resize(place);
  entries.push_back(std::move(entry));
  ++place;
}

OrderedJson entry_to_json(const HistoryEntry& entry, std::size_t edits_before) {
  if (entry.keep == edits_before && entry.edits.size() == 1 &&
      entry.title == entry.edits.front().title && entry.extra.empty())
    return json_of(entry.edits.front());
  OrderedJson json;
  write_fields(json, entry, kEntryHead);
  add_member(json, "edits", edits_to_json(entry.edits));
  write_fields(json, entry, kEntryExtra);
  return json;
}

Result<HistoryEntry> entry_from_json(const OrderedJson& json, std::size_t edits_before) {
  JsonMembers members(json);
  if (!json.is_object()) return input_error("{}", members.problem());
  if (!members.has("keep")) {
    JOINTER_TRY(Edit edit, read_edit_tree(json));
    return HistoryEntry{.title = edit.title, .keep = edits_before, .edits = {std::move(edit)}};
  }
  HistoryEntry entry;
  read_count(members, "keep", edits_before, entry.keep);
  read_fields(members, entry, kEntryTitle);
  read_edits(members, entry.edits);
  read_fields(members, entry, kEntryExtra);
  if (!members.problem().empty()) return input_error("{}", members.problem());
  return entry;
}

OrderedJson states_to_json(const std::vector<KeptState>& states) {
  OrderedJson json = OrderedJson::array();
  for (const KeptState& state : states) {
    OrderedJson& written = json.emplace_back(OrderedJson::object());
    add_member(written, "name", json_of(state.name));
    add_member(written, "edits", edits_to_json(state.edits));
    add_members(written, state.extra);
  }
  return json;
}

Result<std::vector<KeptState>> states_from_json(const OrderedJson& json) {
  if (!json.is_array()) return input_error("`states`: expected a list");
  std::vector<KeptState> states;
  for (const OrderedJson& each : json) {
    KeptState state;
    JsonMembers members(each);
    const OrderedJson* name = members.find("name");
    if (name == nullptr || read_json(*name, state.name) != nullptr)
      return input_error("state {}: `name` is missing or not a string", states.size());
    read_edits(members, state.edits);
    state.extra = members.rest();
    if (!members.problem().empty())
      return input_error("state {}: {}", state.name, members.problem());
    states.push_back(std::move(state));
  }
  return states;
}

void history_to_json(OrderedJson& object, const History& history) {
  OrderedJson entries = OrderedJson::array();
  std::size_t before = 0;
  for (const HistoryEntry& entry : history.entries) {
    entries.push_back(entry_to_json(entry, before));
    before = entry.edits_after();
  }
  add_member(object, "edits", std::move(entries));
  add_member(object, "place", history.place);
  add_member(object, "states", states_to_json(history.states));
}

Result<History> history_from_json(const OrderedJson& object) {
  History history;
  JsonMembers members(object);
  const OrderedJson* entries = members.find("edits");
  if (entries == nullptr || !entries->is_array())
    return input_error("`edits` is missing or not a list");
  std::size_t before = 0;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    auto entry = entry_from_json((*entries)[i], before);
    if (!entry) return input_error("edit {}: {}", i, entry.error().message);
    before = entry->edits_after();
    history.entries.push_back(*std::move(entry));
  }
  read_count(members, "place", history.entries.size(), history.place);
  if (!members.problem().empty()) return input_error("{}", members.problem());
  if (const OrderedJson* states = members.find("states")) {
    JOINTER_TRY(history.states, states_from_json(*states));
  }
  return history;
}

}  // namespace jointer

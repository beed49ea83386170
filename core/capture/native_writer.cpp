#include "core/capture/native_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "core/base/json_writer.h"
#include "core/capture/native_node_writer.h"
#include "core/graph/constant_tables.h"
#include "core/graph/unused_entries.h"

namespace jointer {
namespace {

constexpr std::uint32_t kNoIndex = ~0U;

// Writes one part. Its tables contain only the entries of this part, renumbered in id order.
class PartWriter {
 public:
  PartWriter(const Graph& graph, PartId part, JsonWriter& out)
      : graph_(graph),
        id_(part),
        part_(graph.part(part)),
        out_(out),
        constants_(OrderedJson::parse(part_.constants, nullptr, false)),
        first_(first_entries(graph, part)) {
    UnusedEntries left = find_unused_entries(graph);
    keep_what_constants_use(left);
    tables_.storages = number(graph.storage_count(), [&](std::size_t i) {
      return graph.storage(StorageId(i)).part == part && !left.storages[i];
    });
    tables_.modules = number(graph.module_stack_count(), [&](std::size_t i) {
      return graph.module_stack(ModuleStackId(i)).part == part && !left.module_stacks[i];
    });
    tables_.stacks = number(graph.stack_count(), [&](std::size_t i) {
      return graph.stack(StackId(i)).part == part && !left.stacks[i];
    });
  }

  void write() {
    out_.begin_object();
    out_.string_member("format", "jointer-capture");
    out_.integer_member("version", 1);
    out_.string_member("kind", to_string(part_.kind));
    if (part_.present.name || !part_.name.empty()) out_.string_member("name", part_.name);
    if (!part_.torch_version.empty()) out_.string_member("torch", part_.torch_version);
    if (part_.rank) out_.integer_member("rank", *part_.rank);
    if (part_.world_size) out_.integer_member("world_size", *part_.world_size);
    out_.raw_member("info", part_.info);
    write_groups();
    out_.raw_member("symbols", symbols());
    write_schemas();
    out_.raw_member("triton_kernels", part_.triton_kernels);
    out_.raw_member("constants", renumber_constants() ? write_json(constants_) : part_.constants);
    out_.raw_members(part_.extra);
    write_tables();
    out_.key("nodes");
    out_.begin_array();
    native::NodeWriter nodes(graph_, tables_, out_);
    for (const NodeId id : graph_.order())
      if (graph_.node(id).part == id_) nodes.write(id);
    out_.end_array();
    out_.end_object();
  }

 private:
  template <class Belongs>
  static std::vector<std::uint32_t> number(std::size_t count, Belongs belongs) {
    std::vector<std::uint32_t> numbers(count, kNoIndex);
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (belongs(i)) numbers[i] = next++;
    return numbers;
  }

  [[nodiscard]] std::size_t id_of(ConstantTable table, const OrderedJson& number) const {
    return of_table(first_, table) + number.get<std::size_t>();
  }

  // Keeps the entries that constants refer to. A node inside a constant may use, say, the module
  // stack of an erased node.
  void keep_what_constants_use(UnusedEntries& left) {
    const PerTable<std::vector<bool>*> lists{&left.storages, &left.module_stacks, &left.stacks};
    visit_table_numbers(constants_, [&](ConstantTable table, const OrderedJson& number) {
      std::vector<bool>& is_left = *of_table(lists, table);
      if (const std::size_t id = id_of(table, number); id < is_left.size()) is_left[id] = false;
    });
  }

  // Updates the table indices in the constants. Returns false if none changed.
  bool renumber_constants() {
    const PerTable<const std::vector<std::uint32_t>*> lists{&tables_.storages, &tables_.modules,
                                                            &tables_.stacks};
    bool differs = false;
    visit_table_numbers(constants_, [&](ConstantTable table, OrderedJson& number) {
      const std::vector<std::uint32_t>& numbers = *of_table(lists, table);
      const std::size_t id = id_of(table, number);
      if (id >= numbers.size() || numbers[id] == kNoIndex) return;
      if (numbers[id] == number.get<std::size_t>()) return;
      number = numbers[id];
      differs = true;
    });
    return differs;
  }

  void text_member(std::string_view key, StringId text) {
    if (text) out_.string_member(key, graph_.text(text));
  }

  // The symbols as read, plus the user's assumptions.
  std::string symbols() const {
    const Assumptions& assumed = graph_.assumptions();
    if (assumed.empty()) return part_.symbols_json;
    auto json = nlohmann::json::parse(part_.symbols_json, nullptr, false);
    if (!json.is_object()) json = nlohmann::json::object();
    for (const SymbolValue& symbol : graph_.symbols())
      if (symbol.source == SymbolSource::given) json["assumed"][symbol.name] = symbol.value;
    return json.dump();
  }

  void write_schemas();
  void write_groups();
  void write_tables();

  const Graph& graph_;
  PartId id_;
  const Part& part_;
  JsonWriter& out_;
  OrderedJson constants_;              // of the part; is_discarded() if it has none
  const PerTable<std::size_t> first_;  // id of the part's first entry in each table
  native::TableNumbers tables_;
};

void PartWriter::write_schemas() {
  if (graph_.operator_schemas().empty()) return;
  out_.key("schemas");
  out_.begin_object();
  for (const auto& [target, schema] : graph_.operator_schemas()) out_.string_member(target, schema);
  out_.end_object();
}

void PartWriter::write_groups() {
  bool any = false;
  for (const GroupId id : part_.groups) any = any || !graph_.group(id).derived;
  if (!any && !part_.present.groups) return;
  out_.key("groups");
  out_.begin_object();
  for (const GroupId id : part_.groups) {
    const ProcessGroup& group = graph_.group(id);
    if (group.derived) continue;
    out_.key(graph_.text(group.name));
    out_.begin_object();
    out_.key("ranks");
    out_.begin_array();
    for (const std::int32_t rank : group.ranks) out_.integer(rank);
    out_.end_array();
    text_member("desc", group.desc);
    text_member("backend", group.backend);
    if (group.extra) out_.raw_members(graph_.text(group.extra));
    out_.end_object();
  }
  out_.end_object();
}

void PartWriter::write_tables() {
  native::NodeWriter nodes(graph_, tables_, out_);
  const auto table = [&](std::string_view key, bool present,
                         const std::vector<std::uint32_t>& numbers, auto write) {
    const auto mine = [](std::uint32_t number) { return number != kNoIndex; };
    if (!present && std::ranges::none_of(numbers, mine)) return;
    out_.key(key);
    out_.begin_array();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (mine(numbers[i])) write(i);
    out_.end_array();
  };
  table("storages", part_.present.storages, tables_.storages,
        [&](std::size_t i) { nodes.write_dim(graph_.storage(StorageId(i)).bytes); });
  table("modules", part_.present.modules, tables_.modules, [&](std::size_t i) {
    native::write_frames(graph_, graph_.module_stack(ModuleStackId(i)), out_);
  });
  table("stacks", part_.present.stacks, tables_.stacks,
        [&](std::size_t i) { out_.string(graph_.text(graph_.stack(StackId(i)).text)); });
}

}  // namespace

std::string write_native(const Graph& graph, PartId part) {
  JsonWriter out;
  out.reserve(graph.node_count() * 480);
  PartWriter(graph, part, out).write();
  return out.take();
}

std::string write_native(const Graph& graph) {
  if (!graph.is_pair()) return write_native(graph, PartId(0));
  JsonWriter out;
  out.reserve(graph.node_count() * 480);
  out.begin_object();
  out.string_member("format", "jointer-capture");
  out.string_member("kind", "pair");
  out.string_member("name", graph.title());
  out.integer_member("version", 1);
  out.raw_members(graph.pair_extra());
  out.key("forward");
  PartWriter(graph, kForwardPart, out).write();
  out.key("backward");
  PartWriter(graph, kBackwardPart, out).write();
  out.end_object();
  return out.take();
}

}  // namespace jointer

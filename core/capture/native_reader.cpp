// Reads with simdjson's on-demand parser. One pass is enough if all three tables precede the nodes.
// Nodes point into the tables, so other files require a second pass. Cost: linear in the bytes; 25
// MB (55,000 nodes) takes about 0.1 s.

#include "core/capture/native_reader.h"

#include <algorithm>
#include <limits>

#include "core/base/counted.h"
#include "core/base/json_problem.h"
#include "core/base/number_text.h"
#include "core/capture/native_json.h"
#include "core/capture/native_nodes.h"
#include "core/graph/complete.h"

namespace jointer {
namespace native {
namespace {

constexpr std::int64_t kVersion = 1;

CaptureKind capture_kind(std::string_view name) {
  for (const CaptureKind kind : {CaptureKind::joint, CaptureKind::forward, CaptureKind::backward,
                                 CaptureKind::train_step, CaptureKind::subgraph})
    if (to_string(kind) == name) return kind;
  give_up(
      "unknown kind `{}`; expected joint, forward, backward, train_step, subgraph, pair or stages",
      name);
}

// The members that every document has, including the outer document of a pair.
struct Header {
  std::string kind, name;
  bool has_format = false, has_version = false, has_name = false;

  // Reads the member if it belongs to the header; returns false if it does not.
  bool take(std::string_view key, json::value value) {
    if (key == "format") {
      const std::string_view format = get_text(value);
      if (format == "jointer-recipe")
        give_up(
            "expected a capture, got a Jointer recipe; replay it with `jointer apply FILE --recipe "
            "RECIPE`");
      if (format != "jointer-capture") give_up("expected `jointer-capture`, got `{}`", format);
      has_format = true;
    } else if (key == "version") {
      const std::int64_t version = get_int(value);
      if (version != kVersion)
        give_up("capture version {} is not supported: this program reads version {}; {}", version,
                kVersion, version > kVersion ? "use a newer Jointer" : "capture it again");
      has_version = true;
    } else if (key == "kind") {
      kind = get_text(value);
    } else if (key == "name") {
      name = get_text(value);
      has_name = true;
    } else {
      return false;
    }
    return true;
  }
  void check() const {
    if (!has_format) give_up("`format` is missing: not a Jointer capture");
    if (!has_version) give_up("`version` is missing");
    if (kind.empty()) give_up("`kind` is missing");
  }
};

// The halves of a `pair` document; each is a complete capture.
struct PairText {
  std::string name, extra;
  std::string_view forward, backward;
};

// Reads one capture into a new part of a graph.
class PartReader {
 public:
  // `half` names the part in messages; empty if the graph has only one part.
  PartReader(Graph& graph, std::string_view text, const Progress& progress,
             std::string_view half = {})
      : graph_(graph), text_(text), progress_(progress), half_(half) {}

  // Returns the halves unread if the document turns out to be a pair; the part is then unused.
  std::optional<PairText> read() {
    part_ = graph_.add_part({});
    tables_.storages.first = graph_.storage_count();
    tables_.modules.first = graph_.module_stack_count();
    tables_.stacks.first = graph_.stack_count();
    graph_.reserve(graph_.node_count() + text_.size() / 400, text_.size() / 8);
    NodeReader nodes(graph_, part_, tables_);
    const simdjson::padded_string_view view(text_.data(), text_.size(),
                                            text_.size() + PaddedBytes::kPadding);
    json::document document;
    if (const auto status = parser_.iterate(view).get(document))
      give_up("{}not valid JSON: {} ({}); is the file truncated or damaged?", where(nodes),
              json_problem(status), counted(text_.size(), "byte"));
    try {
      const Outcome outcome = read_members(document.get_object(), nodes);
      member_ = {};
      const char* rest = nullptr;
      if (document.current_location().get(rest) == simdjson::SUCCESS)
        give_up("unexpected data after the end of the document");
      if (outcome == Outcome::pair) {
        if (has_early_members_) {
          document.rewind();
          pair_.extra = members_of_pair(document.get_object());
        }
        return std::move(pair_);
      }
      if (outcome == Outcome::nodes_came_early) {
        document.rewind();
        read_nodes(document.get_object().find_field_unordered("nodes").get_array(), nodes);
      }
      nodes.check_references();
    } catch (const Failure& failure) {
      give_up("{}{}{}", where(nodes), failure.message, place(document));
    } catch (const simdjson::simdjson_error& error) {
      if (error.error() == simdjson::INCOMPLETE_ARRAY_OR_OBJECT)
        give_up("{}the document ends after {} without a closing bracket; is it truncated?",
                where(nodes), counted(text_.size(), "byte"));
      give_up("{}{}{}", where(nodes), json_problem(error.error()), place(document));
    }
    return std::nullopt;
  }

 private:
  // Returns the prefix of messages, such as "forward: node mm: `args`: ".
  std::string where(const NodeReader& nodes) const {
    std::string text = half_.empty() ? std::string() : fmt::format("{}: ", half_);
    const std::string node = nodes.place();
    if (!node.empty()) return text + node;
    return member_.empty() ? text : fmt::format("{}`{}`: ", text, member_);
  }
  std::string place(json::document& document) const {
    const char* location = nullptr;
    if (document.current_location().get(location) != simdjson::SUCCESS || location < text_.data())
      return at_end_
                 ? std::string()
                 : fmt::format(" (the document ends at byte {}; is it truncated?)", text_.size());
    return fmt::format(" (near byte {})", location - text_.data());
  }

  enum class Outcome : std::uint8_t { done, nodes_came_early, pair };
  Outcome read_members(json::object object, NodeReader& nodes);
  static std::string members_of_pair(json::object object);
  void read_nodes(json::array nodes, NodeReader& reader);
  void read_groups(json::object groups);
  void read_schemas(json::object schemas);
  void read_symbols(std::string_view text);
  void read_storages(json::array storages);
  void read_modules(json::array modules);
  void read_stacks(json::array stacks);

  // Returns the text of a member that is written back verbatim.
  static std::string keep(json::value value) {
    const std::string_view text = raw(value);
    check_json(text);
    return std::string(text);
  }

  Graph& graph_;
  std::string_view text_;
  const Progress& progress_;
  std::string_view half_, member_;
  bool at_end_ = false;             // the whole document was read
  bool has_early_members_ = false;  // members before `kind` were read as those of a single capture
  json::parser parser_;
  PartId part_;
  Tables tables_;
  PairText pair_;
};

PartReader::Outcome PartReader::read_members(json::object object, NodeReader& nodes) {
  Header header;
  std::string extra;
  int tables = 0;
  bool has_nodes = false, early = false;
  for (json::field field : object) {
    const std::string_view key = field.unescaped_key();
    json::value value = field.value();
    Part& part = graph_.part(part_);
    member_ = key;
    if (header.take(key, value)) continue;
    if (key == "forward" || key == "backward") {
      (key == "forward" ? pair_.forward : pair_.backward) = raw(value);
      continue;
    }
    if (header.kind == "pair") {
      append_member(extra, key, raw(value));
      continue;
    }
    has_early_members_ = has_early_members_ || header.kind.empty();
    if (key == "nodes") {
      has_nodes = true;
      early = tables < 3;
      if (!early) read_nodes(value.get_array(), nodes);
    } else if (key == "torch") {
      part.torch_version = get_text(value);
      graph_.set_operator_version(part.torch_version);
    } else if (key == "schemas") {
      read_schemas(value.get_object());
    } else if (key == "rank") {
      part.rank = get_int(value);
    } else if (key == "world_size") {
      part.world_size = get_int(value);
    } else if (key == "info") {
      part.info = keep(value);
    } else if (key == "triton_kernels") {
      part.triton_kernels = keep(value);
    } else if (key == "constants") {
      part.constants = keep(value);
    } else if (key == "groups") {
      read_groups(value.get_object());
    } else if (key == "symbols") {
      read_symbols(raw(value));
    } else if (key == "storages") {
      read_storages(value.get_array());
      part.present.storages = true;
      ++tables;
    } else if (key == "modules") {
      read_modules(value.get_array());
      part.present.modules = true;
      ++tables;
    } else if (key == "stacks") {
      read_stacks(value.get_array());
      part.present.stacks = true;
      ++tables;
    } else {
      append_member(extra, key, raw(value));
    }
  }
  member_ = {};
  at_end_ = true;
  header.check();
  if (header.kind == "pair") {
    if (pair_.forward.empty() || pair_.backward.empty())
      give_up("a pair needs both `forward` and `backward`");
    pair_.name = header.name;
    pair_.extra = std::move(extra);
    return Outcome::pair;
  }
  if (!pair_.forward.empty()) append_member(extra, "forward", pair_.forward);
  if (!pair_.backward.empty()) append_member(extra, "backward", pair_.backward);
  Part& part = graph_.part(part_);
  part.extra = std::move(extra);
  part.kind = capture_kind(header.kind);
  part.name = header.name;
  part.present.name = header.has_name;
  if (!has_nodes) give_up("`nodes` is missing; is the file truncated?");
  return early ? Outcome::nodes_came_early : Outcome::done;
}

// The members of a pair besides its halves.
std::string PartReader::members_of_pair(json::object object) {
  Header header;
  std::string members;
  for (json::field field : object) {
    const std::string_view key = field.unescaped_key();
    json::value value = field.value();
    if (!header.take(key, value) && key != "forward" && key != "backward")
      append_member(members, key, raw(value));
  }
  return members;
}

void PartReader::read_groups(json::object groups) {
  graph_.part(part_).present.groups = true;
  for (json::field field : groups) {
    ProcessGroup group;
    group.name = graph_.intern(std::string_view(field.unescaped_key()));
    std::string extra;
    for (json::field member : field.value().get_object()) {
      const std::string_view key = member.unescaped_key();
      json::value value = member.value();
      if (key == "ranks") {
        for (json::value rank : value.get_array()) {
          const std::int64_t number = get_int(rank);
          if (number < 0 || number > std::numeric_limits<std::int32_t>::max())
            give_up("process group {} has the invalid rank {}", graph_.text(group.name), number);
          group.ranks.push_back(static_cast<std::int32_t>(number));
        }
      } else if (key == "desc" && value.type() == json::json_type::string) {
        group.desc = graph_.intern(get_text(value));
      } else if (key == "backend" && value.type() == json::json_type::string) {
        group.backend = graph_.intern(get_text(value));
      } else {
        append_member(extra, key, raw(value));
      }
    }
    if (!extra.empty()) group.extra = graph_.intern(extra);
    // The halves of a pair share equal process groups.
    GroupId id;
    for (std::size_t i = 0; i < graph_.group_count() && !id; ++i) {
      const ProcessGroup& other = graph_.group(GroupId(i));
      if (other.name == group.name && other.ranks == group.ranks && other.desc == group.desc &&
          other.backend == group.backend && other.extra == group.extra)
        id = GroupId(i);
    }
    if (!id) id = graph_.add_group(std::move(group));
    graph_.part(part_).groups.push_back(id);
  }
}

void PartReader::read_schemas(json::object schemas) {
  for (json::field field : schemas) {
    const std::string target{std::string_view(field.unescaped_key())};
    graph_.add_operator_schema(target, get_text(field.value()));
  }
}

void PartReader::read_symbols(std::string_view text) {
  // Parsed separately, because the part also keeps the text verbatim.
  std::string& kept = graph_.part(part_).symbols_json;
  kept = text;
  json::parser parser;
  const simdjson::padded_string padded(kept);
  json::document document = parser.iterate(padded);
  SymbolTable table;
  for (json::field field : document.get_object()) {
    const std::string_view key = field.unescaped_key();
    json::value value = field.value();
    if (key == "vars") {
      for (json::field variable : value.get_object()) {
        SymbolTable::Variable entry;
        entry.name = std::string_view(variable.unescaped_key());
        bool is_float = table.is_float(entry.name);
        for (json::field bound : variable.value().get_object()) {
          const std::string_view which = bound.unescaped_key();
          json::value number = bound.value();
          const bool is_number = number.type() == json::json_type::number &&
                                 (which == "hint" || which == "min" || which == "max");
          if (which == "type")
            is_float = is_float || get_text(number) == "float";
          else if (is_number && is_real(raw(number)))
            is_float = true;
          else if (which == "min")
            entry.min = get_bound(number);
          else if (which == "max")
            entry.max = get_bound(number);
          else if (which == "hint")
            entry.hint = get_bound(number);
          else
            keep(number);
        }
        if (is_float)
          table.floats.push_back(std::move(entry.name));
        else
          table.variables.push_back(std::move(entry));
      }
    } else if (key == "replacements") {
      for (json::field replacement : value.get_object()) {
        const std::string name{std::string_view(replacement.unescaped_key())};
        json::value by = replacement.value();
        if (table.is_float(name)) {
          keep(by);
          continue;
        }
        table.replacements.emplace_back(
            name, by.type() == json::json_type::string ? get_text(by) : raw(by));
      }
    } else if (key == "deferred_asserts") {
      for (json::field list : value.get_object())
        for (json::value condition : list.value().get_array())
          table.asserts.emplace_back(get_text(condition));
    } else if (key == "assumed") {
      for (json::field assumed : value.get_object()) {
        const std::string name{std::string_view(assumed.unescaped_key())};
        if (const auto number = get_bound(assumed.value()))
          table.assumed.emplace_back(name, *number);
      }
    } else {
      keep(value);
    }
  }
  graph_.part(part_).symbols = std::move(table);
}

void PartReader::read_storages(json::array storages) {
  for (json::value value : storages) {
    Dim bytes;
    if (value.type() == json::json_type::object) {
      std::string expression, hint;
      for (json::field field : value.get_object()) {
        const std::string_view key = field.unescaped_key();
        json::value member = field.value();
        if (key == "sym")
          expression = get_text(member);
        else if (key == "hint")
          hint = get_hint(member);
        else
          give_up("storage {} has the unknown member `{}`", tables_.storages.count, key);
      }
      if (expression.empty()) give_up("storage {} has no `sym`", tables_.storages.count);
      const auto id = graph_.intern_expression(part_, expression, hint);
      if (!id) give_up("storage {}: {}", tables_.storages.count, id.error().message);
      bytes.expression = *id;
    } else {
      bytes.value = get_int(value);
    }
    graph_.add_storage(part_, bytes);
    ++tables_.storages.count;
  }
}

void PartReader::read_modules(json::array modules) {
  std::vector<ModuleFrame> frames;
  for (json::value stack : modules) {
    frames.clear();
    for (json::value frame : stack.get_array()) {
      std::vector<StringId> texts;
      for (json::value text : frame.get_array()) texts.push_back(graph_.intern(get_text(text)));
      if (texts.size() != 2)
        give_up("modules {}: expected frames of the form [path, class]", tables_.modules.count);
      frames.push_back({.path = texts[0], .type = texts[1]});
    }
    graph_.add_module_stack(part_, frames);
    ++tables_.modules.count;
  }
}

void PartReader::read_stacks(json::array stacks) {
  for (json::value stack : stacks) {
    graph_.add_stack(part_, get_text(stack));
    ++tables_.stacks.count;
  }
}

void PartReader::read_nodes(json::array nodes, NodeReader& reader) {
  std::size_t count = 0;
  for (json::value node : nodes) {
    if (progress_ && count++ % kNodesPerProgress == 0) {
      const auto at = node.raw_json_token().data() - text_.data();
      const double fraction = static_cast<double>(at) / static_cast<double>(text_.size());
      if (!progress_(fraction, "reading nodes")) throw Cancelled{};
    }
    reader.read(node.get_object());
  }
}

struct Half {
  std::string_view text;
  CaptureKind kind;
};

// Calls `read` and converts exceptions to an Error.
template <class T, class Read>
Result<T> guarded(std::string_view name, Read read) {
  try {
    return read();
  } catch (const Failure& failure) {
    return input_error("{}: {}", name, failure.message);
  } catch (const simdjson::simdjson_error& error) {
    return input_error("{}: not valid JSON: {}", name, json_problem(error.error()));
  } catch (const Cancelled&) {
    return fail(Error::Kind::cancelled, "{}: reading was cancelled", name);
  } catch (const std::bad_alloc&) {
    return input_error("{}: not enough memory to read the file", name);
  }
}

void read_half(Graph& graph, const Half& half, const Progress& progress) {
  if (PartReader(graph, half.text, progress, to_string(half.kind)).read())
    give_up("a complete pair was given as the {} half", to_string(half.kind));
  const Part& part = graph.part(PartId(graph.part_count() - 1));
  if (part.kind != half.kind)
    give_up("a capture of kind {} was given as the {} half", to_string(part.kind),
            to_string(half.kind));
}

void read_halves(Graph& graph, std::string_view forward, std::string_view backward,
                 const Progress& progress) {
  const auto scaled = [&](double from) {
    return progress ? Progress([&progress, from](double fraction, std::string_view what) {
      return progress(from + fraction / 2, what);
    })
                    : Progress();
  };
  read_half(graph, {forward, CaptureKind::forward}, scaled(0));
  read_half(graph, {backward, CaptureKind::backward}, scaled(0.5));
}

}  // namespace
}  // namespace native

bool is_native_capture(std::string_view bytes) {
  const auto start = bytes.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && bytes[start] == '{';
}

Result<Graph> read_native(std::string_view name, const PaddedBytes& bytes,
                          const Progress& progress) {
  return native::guarded<Graph>(name, [&]() -> Result<Graph> {
    Graph graph;
    if (const auto pair = native::PartReader(graph, bytes.view(), progress).read()) {
      graph = {};
      native::read_halves(graph, pair->forward, pair->backward, progress);
      graph.set_title(pair->name);
      graph.set_pair_extra(pair->extra);
    } else {
      graph.set_title(graph.part(PartId(0)).name);
    }
    if (auto done = complete(graph); !done)
      return input_error("{}: {}", name, done.error().message);
    return graph;
  });
}

Result<PartId> append_native(Graph& graph, std::string_view name, const PaddedBytes& bytes,
                             const Progress& progress) {
  return native::guarded<PartId>(name, [&]() -> Result<PartId> {
    if (native::PartReader(graph, bytes.view(), progress).read())
      native::give_up("a complete pair was given as one half; open it without a second file");
    return PartId(graph.part_count() - 1);
  });
}

}  // namespace jointer

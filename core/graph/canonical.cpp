#include "core/graph/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <unordered_map>

#include "core/base/characters.h"
#include "core/base/sha256.h"
#include "core/graph/group_argument.h"
#include "core/graph/symbolic_float.h"

namespace jointer {
namespace {

// How to write integers, process groups and devices in arguments.
enum class Constants : std::uint8_t {
  exact,
  of_any_rank,  // omits what may differ between ranks
};

// How to write the nodes that a call reads.
enum class Inputs : std::uint8_t { named, unnamed };

class CanonicalWriter {
 public:
  CanonicalWriter(const Graph& graph, Constants constants, Inputs inputs = Inputs::named)
      : graph_(graph),
        of_any_rank_(constants == Constants::of_any_rank),
        is_named_(inputs == Inputs::named) {}
  CanonicalWriter(const Graph& graph, const NamesElsewhere& names)
      : graph_(graph), names_(&names) {}

  void line(NodeId id) {
    out_ += graph_.name(id);
    out_ += ' ';
    call(id);
    out_ += '\n';
  }

  void call(NodeId id) {
    const Node& n = graph_.node(id);
    out_ += graph_.target(n);
    out_ += '(';
    arguments(n);
    out_ += ") -> ";
    if (n.value.kind == VK::none)
      out_ += "None";
    else
      value(n.value);
  }
  std::string take() { return std::move(out_); }

 private:
  using AK = Argument::Kind;
  using VK = Value::Kind;

  void arguments(const Node& n) {
    bool first = true;
    const auto& schema = graph_.op(n).arguments;
    const auto positional = graph_.args(n);
    for (std::size_t i = 0; i < positional.size(); ++i) {
      separate(first);
      argument(positional[i], i < schema.size() ? schema[i].name : std::string_view());
    }
    for (const auto& [name, given] : sorted_keywords(graph_, n)) {
      separate(first);
      out_ += name;
      out_ += '=';
      argument(given, name);
    }
  }

  // Writes an argument. `name` is its name in the operator's schema.
  void argument(const Argument& a, std::string_view name) {
    if (a.kind == AK::string && names_group(name))
      group(a.text());
    else
      argument(a);
  }

  void group(StringId name) {
    if (of_any_rank_) {
      const auto number = groups_.try_emplace(name, groups_.size()).first->second;
      fmt::format_to(std::back_inserter(out_), "group:{}", number);
    } else {
      quoted(elsewhere(names_ != nullptr ? &names_->groups : nullptr, graph_.text(name)));
    }
  }

  void device(std::string_view name) {
    if (of_any_rank_)
      prefixed("device:", name.substr(0, name.find(':')));
    else
      prefixed("device:", elsewhere(names_ != nullptr ? &names_->devices : nullptr, name));
  }

  static std::string_view elsewhere(const std::map<std::string, std::string, std::less<>>* names,
                                    std::string_view name) {
    if (names == nullptr) return name;
    const auto it = names->find(name);
    return it == names->end() ? name : std::string_view(it->second);
  }

  void argument(const Argument& a) {
    switch (a.kind) {
      case AK::none:
        out_ += "None";
        break;
      case AK::boolean:
        out_ += a.integer != 0 ? "True" : "False";
        break;
      case AK::integer:
        integer(std::to_string(a.integer));
        break;
      case AK::real:
        real(a.real);
        break;
      case AK::string:
        quoted(graph_.text(a.text()));
        break;
      case AK::node:
        out_ += '%';
        if (is_named_) out_ += graph_.name(a.node());
        break;
      case AK::list:
        children(a, '[', ']');
        break;
      case AK::tuple:
        children(a, '(', ')');
        break;
      case AK::dict:
        dictionary(a);
        break;
      case AK::slice:
        out_ += "slice";
        children(a, '(', ')');
        break;
      case AK::complex:
        out_ += "complex";
        children(a, '(', ')');
        break;
      case AK::device:
        device(graph_.text(a.text()));
        break;
      case AK::symbol:
        prefixed("sym:", graph_.expression_text(a.expression()));
        break;
      case AK::dtype:
      case AK::layout:
      case AK::memory_format:
      case AK::op:
        out_ += name_in(kTextArguments, a.kind);
        prefixed(":", graph_.text(a.text()));
        break;
      case AK::opaque:
        prefixed("opaque:", graph_.text(a.text()));
        break;
      case AK::raw:
        if (const std::string_view text = graph_.text(a.text()); is_integer(text))
          integer(text);  // exceeds 64 bits
        else
          raw(symbolic_float(graph_, a), a.text());
        break;
    }
  }

  void integer(std::string_view digits) { out_ += of_any_rank_ ? "#" : digits; }

  static bool is_integer(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return is_digits(text);
  }

  void value(const Value& v) {
    switch (v.kind) {
      case VK::none:  // inside a list or dictionary
        out_ += "const";
        break;
      case VK::tensor:
        tensor(graph_.tensor(v.tensor()));
        break;
      case VK::list: {
        out_ += '[';
        bool first = true;
        for (const Value& child : graph_.children(v)) {
          separate(first);
          value(child);
        }
        out_ += ']';
        break;
      }
      case VK::dict: {
        out_ += '{';
        bool first = true;
        const auto pairs = graph_.children(v);
        for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
          separate(first);
          quoted(graph_.text(pairs[i].text()));
          out_ += ':';
          value(pairs[i + 1]);
        }
        out_ += '}';
        break;
      }
      case VK::key:
        break;
      case VK::symbol:
        prefixed("sym:", graph_.expression_text(v.expression()));
        break;
      case VK::constant:
        out_ += "const";
        break;
      case VK::opaque:
        prefixed("opaque:", graph_.text(v.text()));
        break;
      case VK::raw:
        raw(symbolic_float(graph_, v), v.text());
        break;
    }
  }

  void tensor(const Tensor& t) {
    out_ += to_string(t.dtype);
    out_ += '[';
    bool first = true;
    for (const Dim& size : graph_.shape(t)) {
      separate(first);
      if (size.expression)
        prefixed("sym:", graph_.expression_text(size.expression));
      else
        out_ += std::to_string(size.value);
    }
    out_ += ']';
  }

  void children(const Argument& a, char open, char close) {
    out_ += open;
    bool first = true;
    for (const Argument& child : graph_.children(a)) {
      separate(first);
      argument(child);
    }
    out_ += close;
  }

  void dictionary(const Argument& a) {
    out_ += '{';
    bool first = true;
    const auto pairs = graph_.children(a);
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      separate(first);
      argument(pairs[i]);
      out_ += ':';
      argument(pairs[i + 1]);
    }
    out_ += '}';
  }

  // A symbolic float is written like a symbolic size. Its hint is omitted, since it does not affect
  // the computation.
  void raw(const std::optional<SymbolicFloat>& number, StringId text) {
    if (number)
      prefixed("sym:", number->expression);
    else
      out_ += graph_.text(text);
  }

  // Writes the bits, so that C++ and Python need not agree on how to print a number.
  void real(double number) {
    const std::uint64_t bits =
        std::isnan(number) ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(number);
    fmt::format_to(std::back_inserter(out_), "f{:016x}", bits);
  }

  void quoted(std::string_view text) {
    out_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  void prefixed(std::string_view prefix, std::string_view text) {
    out_ += prefix;
    out_ += text;
  }

  void separate(bool& first) {
    if (!first) out_ += ',';
    first = false;
  }

  const Graph& graph_;
  bool of_any_rank_ = false, is_named_ = true;
  const NamesElsewhere* names_ = nullptr;
  std::unordered_map<StringId, std::size_t> groups_;  // numbers, in order of appearance
  std::string out_;
};

std::string text_of(CanonicalWriter writer, const Graph& graph, PartId part) {
  for (const NodeId id : graph.order())
    if (graph.node(id).part == part) writer.line(id);
  return writer.take();
}

}  // namespace

std::vector<std::pair<std::string_view, Argument>> sorted_keywords(const Graph& graph,
                                                                   const Node& call) {
  const auto pairs = graph.children(call.kwargs);
  std::vector<std::pair<std::string_view, Argument>> sorted;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    sorted.emplace_back(graph.text(pairs[i].text()), pairs[i + 1]);
  std::ranges::sort(sorted, {}, &std::pair<std::string_view, Argument>::first);
  return sorted;
}

std::string canonical_text(const Graph& graph, PartId part, const NamesElsewhere& names) {
  return text_of(CanonicalWriter(graph, names), graph, part);
}

std::string rank_text(const Graph& graph, PartId part) {
  return text_of(CanonicalWriter(graph, Constants::of_any_rank), graph, part);
}

std::string unnamed_call(const Graph& graph, NodeId id) {
  CanonicalWriter writer(graph, Constants::exact, Inputs::unnamed);
  writer.call(id);
  return writer.take();
}

std::string canonical_call(const Graph& graph, NodeId id, const NamesElsewhere& names) {
  CanonicalWriter writer(graph, names);
  writer.call(id);
  return writer.take();
}

std::string graph_hash(const Graph& graph, PartId part) {
  return sha256(canonical_text(graph, part));
}

std::string rank_hash(const Graph& graph, PartId part) {
  return sha256(rank_text(graph, part));
}

std::string graph_hash(const Graph& graph) {
  std::string result;
  for (std::size_t part = 0; part < graph.part_count(); ++part) {
    if (part > 0) result += '+';
    result += graph_hash(graph, PartId(part));
  }
  return result;
}

}  // namespace jointer

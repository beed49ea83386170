#include "core/graph/canonical.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "core/graph/symbolic_float.h"

namespace jointer {
namespace {

class CanonicalWriter {
 public:
  explicit CanonicalWriter(const Graph& graph) : graph_(graph) {}

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
    for (const Argument& a : graph_.args(n)) {
      separate(first);
      argument(a);
    }
    const auto pairs = graph_.children(n.kwargs);
    std::vector<std::size_t> keys;
    for (std::size_t i = 0; i < pairs.size(); i += 2) keys.push_back(i);
    std::sort(keys.begin(), keys.end(), [&](std::size_t a, std::size_t b) {
      return graph_.text(pairs[a].text()) < graph_.text(pairs[b].text());
    });
    for (const std::size_t key : keys) {
      separate(first);
      out_ += graph_.text(pairs[key].text());
      out_ += '=';
      argument(pairs[key + 1]);
    }
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
        out_ += std::to_string(a.integer);
        break;
      case AK::real:
        real(a.real);
        break;
      case AK::string:
        quoted(graph_.text(a.text()));
        break;
      case AK::node:
        out_ += '%';
        out_ += graph_.name(a.node());
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
      case AK::dtype:
        prefixed("dtype:", graph_.text(a.text()));
        break;
      case AK::device:
        prefixed("device:", graph_.text(a.text()));
        break;
      case AK::layout:
        prefixed("layout:", graph_.text(a.text()));
        break;
      case AK::memory_format:
        prefixed("memory_format:", graph_.text(a.text()));
        break;
      case AK::symbol:
        prefixed("sym:", graph_.expression_text(a.expression()));
        break;
      case AK::op:
        prefixed("op:", graph_.text(a.text()));
        break;
      case AK::opaque:
        prefixed("opaque:", graph_.text(a.text()));
        break;
      case AK::raw:
        raw(symbolic_float(graph_, a), a.text());
        break;
    }
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

  // A float's expression is written as a size's. Its hint does not affect the computation.
  void raw(const std::optional<SymbolicFloat>& number, StringId text) {
    if (number)
      prefixed("sym:", number->expression);
    else
      out_ += graph_.text(text);
  }

  // The bits, so that C++ and Python need not agree on how to print a number.
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
  std::string out_;
};

}  // namespace

std::string canonical_text(const Graph& graph, PartId part) {
  CanonicalWriter writer(graph);
  for (const NodeId id : graph.order())
    if (graph.node(id).part == part) writer.line(id);
  return writer.take();
}

std::string canonical_call(const Graph& graph, NodeId id) {
  CanonicalWriter writer(graph);
  writer.call(id);
  return writer.take();
}

std::string graph_hash(const Graph& graph, PartId part) {
  const std::string text = canonical_text(graph, part);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) fmt::format_to(std::back_inserter(hex), "{:02x}", digest[i]);
  return hex;
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

#include "tests/support/compare.h"

#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace jointer::test {
namespace {

class Comparer {
 public:
  Comparer(const Graph& a, const Graph& b) : a_(a), b_(b) {}

  std::vector<Difference> run() {
    if (a_.order().size() != b_.order().size()) {
      add("nodes", "", fmt::format("{} and {}", a_.order().size(), b_.order().size()));
      return std::move(differences_);
    }
    for (std::size_t i = 0; i < a_.order().size(); ++i) node(a_.order()[i], b_.order()[i]);
    return std::move(differences_);
  }

 private:
  using AK = Argument::Kind;

  void add(const std::string& kind, std::string_view where, std::string detail) {
    differences_.push_back({kind, where.empty() ? detail : fmt::format("{}: {}", where, detail)});
  }

  void node(NodeId ia, NodeId ib) {
    const Node &na = a_.node(ia), &nb = b_.node(ib);
    const std::string_view name = a_.name(ia);
    if (name != b_.name(ib)) add("name", name, std::string(b_.name(ib)));
    if (na.kind != nb.kind) add("node kind", name, "");
    if (a_.target(na) != b_.target(nb))
      add("target", name, fmt::format("{} and {}", a_.target(na), b_.target(nb)));
    const auto inputs_a = a_.inputs(na), inputs_b = b_.inputs(nb);
    bool same = inputs_a.size() == inputs_b.size();
    for (std::size_t i = 0; same && i < inputs_a.size(); ++i)
      same = a_.name(inputs_a[i]) == b_.name(inputs_b[i]);
    if (!same) add("edges", name, fmt::format("{} and {}", inputs_a.size(), inputs_b.size()));
    argument(name, na.args, nb.args);
    argument(name, na.kwargs, nb.kwargs);
    value(name, na.value, nb.value, false);
    if (na.policy != nb.policy) add("policy tag", name, "");
    // The output has no phase: captures do not tag it.
    if (na.kind != NodeKind::output && na.phase != nb.phase) add("phase", name, "");
  }

  void argument(std::string_view name, const Argument& a, const Argument& b) {
    if (a.kind != b.kind) {
      add("argument", name,
          fmt::format("kind {} and {}", static_cast<int>(a.kind), static_cast<int>(b.kind)));
      return;
    }
    const auto ca = a_.children(a), cb = b_.children(b);
    if (ca.size() != cb.size()) {
      add("argument", name, fmt::format("{} and {} elements", ca.size(), cb.size()));
      return;
    }
    for (std::size_t i = 0; i < ca.size(); ++i) argument(name, ca[i], cb[i]);
    switch (a.kind) {
      case AK::boolean:
      case AK::integer:
        if (a.integer != b.integer)
          add("argument", name, fmt::format("{} {}", a.integer, b.integer));
        break;
      case AK::real:
        if (std::bit_cast<std::uint64_t>(a.real) != std::bit_cast<std::uint64_t>(b.real) &&
            !(std::isnan(a.real) && std::isnan(b.real)))
          add("argument", name, fmt::format("{} {}", a.real, b.real));
        break;
      case AK::node:
        if (a_.name(a.node()) != b_.name(b.node())) add("argument", name, "another node");
        break;
      case AK::symbol:
        texts(name, a_.expression_text(a.expression()), b_.expression_text(b.expression()));
        break;
      case AK::string:
      case AK::dtype:
      case AK::device:
      case AK::layout:
      case AK::memory_format:
      case AK::op:
      case AK::opaque:
      case AK::raw:
        texts(name, a_.text(a.text()), b_.text(b.text()));
        break;
      default:
        break;
    }
  }

  void texts(std::string_view name, std::string_view a, std::string_view b) {
    if (a != b) add("argument", name, fmt::format("`{}` and `{}`", a, b));
  }

  void value(std::string_view name, const Value& a, const Value& b, bool nested) {
    if (a.kind == Value::Kind::none && b.kind == Value::Kind::none) return;
    // A constant in a tuple (None) has no type in a text.
    if (nested && a.kind == Value::Kind::constant && b.kind == Value::Kind::none) return;
    if (b.kind == Value::Kind::none) {
      add(nested ? "unknown element" : "unknown value", name, "");
      return;
    }
    if (a.kind != b.kind) {
      add("value", name,
          fmt::format("kind {} and {}", static_cast<int>(a.kind), static_cast<int>(b.kind)));
      return;
    }
    if (a.kind == Value::Kind::tensor) tensor(name, a_.tensor(a.tensor()), b_.tensor(b.tensor()));
    if (a.kind == Value::Kind::symbol &&
        a_.expression_text(a.expression()) != b_.expression_text(b.expression()))
      add("value", name, "another expression");
    const auto ca = a_.children(a), cb = b_.children(b);
    if (a.kind == Value::Kind::dict) {
      dictionary(name, ca, cb);
      return;
    }
    // A list may be longer than the elements that are read.
    for (std::size_t i = 0; i < ca.size(); ++i)
      value(name, ca[i], i < cb.size() ? cb[i] : Value{}, true);
    if (cb.size() > ca.size()) add("value", name, "more elements");
  }

  void dictionary(std::string_view name, std::span<const Value> ca, std::span<const Value> cb) {
    for (std::size_t i = 0; i + 1 < ca.size(); i += 2) {
      Value found;
      for (std::size_t j = 0; j + 1 < cb.size(); j += 2)
        if (a_.text(ca[i].text()) == b_.text(cb[j].text())) found = cb[j + 1];
      value(name, ca[i + 1], found, true);
    }
  }

  void tensor(std::string_view name, const Tensor& a, const Tensor& b) {
    if (a.dtype != b.dtype) add("dtype", name, "");
    if (a_.text(a_.device(a.device).name) != b_.text(b_.device(b.device).name))
      add("device", name, "");
    dims("shape", name, a_.shape(a), b_.shape(b));
    dims("stride", name, a_.stride(a), b_.stride(b));
    const std::array<Dim, 1> offset_a{a_.offset(a)}, offset_b{b_.offset(b)};
    if (b.has(Tensor::has_offset))
      dims("offset", name, offset_a, offset_b);
    else
      add("unknown offset", name, "");
    alias(name, a_.real_storage(a.storage), b_.real_storage(b.storage));
  }

  void dims(const std::string& kind, std::string_view name, std::span<const Dim> a,
            std::span<const Dim> b) {
    bool same = a.size() == b.size();
    for (std::size_t i = 0; same && i < a.size(); ++i) same = text(a_, a[i]) == text(b_, b[i]);
    if (same) return;
    std::string left, right;
    for (const Dim& d : a) left += text(a_, d) + " ";
    for (const Dim& d : b) right += text(b_, d) + " ";
    add(kind, name, fmt::format("{}and {}", left, right));
  }

  static std::string text(const Graph& graph, const Dim& dim) {
    return dim.expression ? std::string(graph.expression_text(dim.expression))
                          : std::to_string(dim.value);
  }

  // Tensors share storages alike if each storage of one graph has exactly one counterpart in the
  // other.
  void alias(std::string_view name, StorageId a, StorageId b) {
    const auto [to, is_new_a] = to_b_.try_emplace(a, b);
    const auto [from, is_new_b] = to_a_.try_emplace(b, a);
    if (to->second != b) add("alias", name, "shares more in the first");
    if (from->second != a) add("alias", name, "shares more in the second");
  }

  const Graph &a_, &b_;
  std::vector<Difference> differences_;
  std::unordered_map<StorageId, StorageId> to_b_, to_a_;
};

}  // namespace

std::vector<Difference> compare_graphs(const Graph& a, const Graph& b) {
  return Comparer(a, b).run();
}

std::map<std::string, std::size_t> count_kinds(const std::vector<Difference>& differences) {
  std::map<std::string, std::size_t> counts;
  for (const Difference& d : differences) ++counts[d.kind];
  return counts;
}

}  // namespace jointer::test

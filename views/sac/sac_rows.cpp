#include "views/sac/sac_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

#include "core/base/index.h"

namespace jointer::views {
namespace {

// Shortens an operator's name, since there is little space next to a module path: "mm" for
// aten.mm.default, "mul.Tensor" for aten.mul.Tensor.
std::string short_name(std::string_view op) {
  if (op.starts_with("aten.")) op.remove_prefix(5);
  if (op.ends_with(".default")) op.remove_suffix(8);
  return std::string(op);
}

class Grouper {
 public:
  Grouper(const SacState& state, const ModuleLocations& places)
      : state_(state), graph_(state.snapshot->graph), places_(places) {
    for (std::size_t i = 0; i < state.tensors.size(); ++i) all_.push_back(static_cast<int>(i));
  }

  SacRows run(SacGrouping grouping) {
    result_.row_of.assign(all_.size(), -1);
    switch (grouping) {
      case SacGrouping::op:
        add_operators();
        break;
      case SacGrouping::module:
        sort_by_place();
        add_modules();
        break;
      case SacGrouping::layer:
        sort_by_place();
        add_layers();
        break;
      case SacGrouping::tensor:
        for (const int tensor : all_) add_leaf(tensor, -1);
        break;
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] NodeId node(int tensor) const { return state_.tensors[as_index(tensor)].node; }
  [[nodiscard]] std::string op(int tensor) const {
    const Node& n = graph_.node(node(tensor));
    return n.kind == NodeKind::call ? std::string(graph_.target(n)) : "inputs";
  }

  int open(SacRow row) {
    row.first = row.last = result_.order.size();
    result_.rows.push_back(std::move(row));
    return static_cast<int>(result_.rows.size()) - 1;
  }
  void close(int row) { result_.rows[as_index(row)].last = result_.order.size(); }

  void add_leaf(int tensor, int parent, const std::string& prefix = {}) {
    const std::string name(graph_.name(node(tensor)));
    const int row =
        open({.name = prefix + name, .key = "." + name, .parent = parent, .tensor = tensor});
    result_.row_of[as_index(tensor)] = row;
    result_.order.push_back(tensor);
    close(row);
  }

  void add_operators() {
    std::map<std::string, std::size_t> known;
    std::vector<std::pair<std::string, std::vector<int>>> groups;
    for (const int tensor : all_) {
      const auto [group, is_new] = known.try_emplace(op(tensor), groups.size());
      if (is_new) groups.emplace_back(group->first, std::vector<int>());
      groups[group->second].second.push_back(tensor);
    }
    for (const auto& [name, tensors] : groups) {
      const int row = open({.name = name, .key = "op " + name});
      for (const int tensor : tensors) add_leaf(tensor, row);
      close(row);
    }
  }

  // Finds the tensors at each place, and the children of each place that have tensors in or below
  // them. Goes backward, since parents precede their children.
  void sort_by_place() {
    by_place_.assign(places_.all().size(), {});
    for (const int tensor : all_) by_place_[as_index(places_.of(node(tensor)))].push_back(tensor);
    children_.assign(places_.all().size() + 1, {});
    has_tensors_.assign(places_.all().size(), 0);
    for (std::size_t i = places_.all().size(); i-- > 0;) {
      const int parent = places_.all()[i].parent;
      if (!by_place_[i].empty()) has_tensors_[i] = 1;
      if (has_tensors_[i] == 0) continue;
      children_[as_index(parent + 1)].insert(children_[as_index(parent + 1)].begin(),
                                             static_cast<int>(i));
      if (parent >= 0) has_tensors_[as_index(parent)] = 1;
    }
  }

  [[nodiscard]] const ModuleLocation& place(int index) const {
    return places_.all()[as_index(index)];
  }
  [[nodiscard]] static std::string key_of(const ModuleLocation& place) {
    return "at " + (place.path.empty() ? place.name : place.path);
  }

  void add_modules(int place = -1, int parent = -1) {
    for (const int child : children_[as_index(place + 1)]) add_module(child, parent);
  }

  void add_module(int index, int parent) {
    const ModuleLocation& p = place(index);
    const int row = open({.name = p.name, .key = key_of(p), .parent = parent, .number = p.number});
    for (const int tensor : by_place_[as_index(index)]) add_leaf(tensor, row);
    add_modules(index, row);
    close(row);
  }

  // Identifies a tensor within a layer: its place, operator and size.
  using Entry = std::tuple<std::string, std::string, std::int64_t>;
  struct Layer {
    int place = -1;
    std::vector<Entry> entries;    // sorted
    std::vector<int> tensors;      // one per entry
    std::vector<std::size_t> met;  // indices into `entries`, in the order found
  };

  void collect(int index, const std::string& path, Layer& layer) const {
    for (const int tensor : by_place_[as_index(index)]) {
      layer.entries.emplace_back(path, op(tensor), state_.tensors[as_index(tensor)].bytes);
      layer.tensors.push_back(tensor);
    }
    for (const int child : children_[as_index(index + 1)])
      collect(child, path.empty() ? place(child).name : path + "." + place(child).name, layer);
  }

  // Sorts the entries, since the program may order independent calls differently in identical
  // layers.
  [[nodiscard]] Layer layer_of(int index) const {
    Layer met{.place = index};
    collect(index, {}, met);
    std::vector<std::size_t> order(met.entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {},
                             [&](std::size_t i) -> const Entry& { return met.entries[i]; });
    Layer layer{.place = index};
    layer.met.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      layer.entries.push_back(std::move(met.entries[order[i]]));
      layer.tensors.push_back(met.tensors[order[i]]);
      layer.met[order[i]] = i;
    }
    return layer;
  }

  // The outermost numbered places are the layers. Each place outside the layers has its own row.
  void add_layers(int above = -1, int parent = -1) {
    const std::vector<int>& siblings = children_[as_index(above + 1)];
    for (std::size_t i = 0; i < siblings.size();) {
      if (place(siblings[i]).number < 0) {
        add_outside(siblings[i++], parent);
        continue;
      }
      std::vector<Layer> layers;
      for (; i < siblings.size() && place(siblings[i]).number >= 0; ++i) {
        Layer layer = layer_of(siblings[i]);
        const bool continues = !layers.empty() &&
                               place(layer.place).number == place(layers.back().place).number + 1 &&
                               layer.entries == layers.back().entries;
        if (!layers.empty() && !continues) break;
        layers.push_back(std::move(layer));
      }
      add_fold(layers, parent);
    }
  }

  void add_outside(int index, int parent) {
    const ModuleLocation& p = place(index);
    const int row = open({.name = p.name, .key = key_of(p), .parent = parent});
    for (const int tensor : by_place_[as_index(index)]) add_leaf(tensor, row);
    add_layers(index, row);
    close(row);
  }

  void add_fold(const std::vector<Layer>& layers, int parent) {
    const ModuleLocation& first = place(layers.front().place);
    const int members = static_cast<int>(layers.size());
    const int row = open({.name = first.name,
                          .key = "fold " + first.path,
                          .parent = parent,
                          .number = first.number,
                          .members = members});
    const std::vector<Entry>& entries = layers.front().entries;
    for (const std::size_t s : layers.front().met) {
      const auto& [path, what, bytes] = entries[s];
      const std::string where = path.empty() ? std::string() : path + "  ";
      if (members == 1) {
        add_leaf(layers.front().tensors[s], row, where);
        continue;
      }
      const int entry = open({.name = where + short_name(what),
                              .key = fmt::format("entry {} {}", first.path, s),
                              .parent = row,
                              .members = members});
      for (const Layer& layer : layers)
        add_leaf(layer.tensors[s], entry, place(layer.place).name + "  ");
      close(entry);
    }
    close(row);
  }

  const SacState& state_;
  const Graph& graph_;
  const ModuleLocations& places_;
  std::vector<int> all_;
  std::vector<std::vector<int>> by_place_, children_;
  std::vector<char> has_tensors_;
  SacRows result_;
};

}  // namespace

SacRows group_tensors(const SacState& state, const ModuleLocations& places, SacGrouping grouping) {
  return Grouper(state, places).run(grouping);
}

}  // namespace jointer::views

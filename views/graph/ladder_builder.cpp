// Assigns the nodes of a graph to the rows of a ladder.
//
// Rows correspond to module locations: modules, or source lines if the graph has no module
// names. A parametrization (SimpleFSDP's `weight (ReplicateComputation)`, which contains a
// parameter's all-gather and its gradient's reduce-scatter) gets no separate row and belongs to the
// module that uses it. If a module calls operators directly and also has submodules, its own calls
// form an additional row next to the rows of the submodules. A call without a module, such as a sum
// of gradients, belongs to the innermost module that contains all of its inputs other than
// placeholders or, if there is none, to the module of the input that is computed last. The
// remaining nodes (inputs, tangents, outputs) form a separate row, which comes first. If a row has
// more than kMaxBoxes nodes on a side, both sides are split into rows of kChunk nodes: the forward
// from its start and the backward from its end, so that corresponding nodes are close to each
// other.
//
// Adjacent identical siblings in a numbered list (see ladder_structure.h) are grouped under one
// row, called a fold.
//
// ladder_rungs.cpp defines the rungs.
//
// Cost: linear in nodes and edges, times the depth of the module tree.

#include "views/graph/ladder_builder.h"

#include <algorithm>

#include "core/base/index.h"
#include "views/graph/ladder_structure.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxBoxes = 400;  // maximum number of nodes per row and side
constexpr std::size_t kChunk = 100;

bool is_parametrization(const ModuleLocation& place) {
  return place.parent >= 0 && !place.type.empty() && place.name.ends_with(" (" + place.type + ")");
}

bool is_box(const Node& node) {
  return node.kind != NodeKind::placeholder ||
         (node.role != Role::parameter && node.role != Role::buffer && !node.partner);
}

}  // namespace

void LadderBuilder::run() {
  find_spots();
  find_structure();
  ladder_.row_by_node_.assign(graph_.node_count(), -1);
  ladder_.side_by_node_.assign(graph_.node_count(), 0);
  add_siblings(roots_, -1);
  sum_up();
  ladder_.show_no_plan(graph_, analysis_.memory);
}

// --- Spots ---

void LadderBuilder::find_spots() {
  const ModuleLocations places(graph_, analysis_.modules);
  ladder_.are_source_lines_ = places.are_source_lines();
  std::vector<int> spot_by_place;
  int without_module = -1;
  for (const ModuleLocation& place : places.all()) {
    if (is_parametrization(place)) {
      spot_by_place.push_back(spot_by_place[as_index(place.parent)]);
      continue;
    }
    const int parent = place.parent < 0 ? -1 : spot_by_place[as_index(place.parent)];
    const bool is_without_module = !ladder_.are_source_lines_ && place.name == "(no module)";
    if (is_without_module) without_module = static_cast<int>(spots_.size());
    spots_.push_back({.name = is_without_module ? "inputs and outputs" : place.name,
                      .type = place.type,
                      .path = place.path,
                      .parent = parent,
                      .number = place.number,
                      .first_step = graph_.order().size()});
    spot_by_place.push_back(static_cast<int>(spots_.size()) - 1);
  }

  spot_by_node_.assign(graph_.node_count(), -1);
  for (const NodeId id : graph_.order()) {
    const Node& n = graph_.node(id);
    const NodeId source = source_of(graph_, id);
    int spot = source != id && spot_by_node_[source.index()] >= 0
                   ? spot_by_node_[source.index()]
                   : spot_by_place[as_index(places.of(id))];
    if (spot == without_module && n.kind == NodeKind::call)
      if (const int adopted = adopting_spot(id); adopted >= 0) spot = adopted;
    spot_by_node_[id.index()] = spot;
    Spot& s = spots_[as_index(spot)];
    if (is_box(n))
      s.boxes[index_of(side_of(n))].push_back(id);
    else
      s.others.push_back(id);
    if (n.kind == NodeKind::call) s.first_step = std::min(s.first_step, graph_.position(id));
  }

  std::vector<char> has_nodes(spots_.size(), 0);
  for (std::size_t i = spots_.size(); i-- > 0;) {
    const Spot& s = spots_[i];
    if (!s.boxes[0].empty() || !s.boxes[1].empty() || !s.others.empty()) has_nodes[i] = 1;
    if (has_nodes[i] != 0 && s.parent >= 0) has_nodes[as_index(s.parent)] = 1;
  }
  for (std::size_t i = 0; i < spots_.size(); ++i) {
    if (has_nodes[i] == 0) continue;
    std::vector<int>& siblings =
        spots_[i].parent < 0 ? roots_ : spots_[as_index(spots_[i].parent)].children;
    siblings.insert(static_cast<int>(i) == without_module ? siblings.begin() : siblings.end(),
                    static_cast<int>(i));
  }
}

int LadderBuilder::common_spot(int a, int b) const {
  // Parents have lower indices than their children.
  while (a != b) {
    int& deeper = a > b ? a : b;
    deeper = spots_[as_index(deeper)].parent;
    if (deeper < 0) return -1;
  }
  return a;
}

int LadderBuilder::adopting_spot(NodeId node) const {
  int common = -1, latest = -1;
  std::size_t latest_step = 0;
  for (const NodeId input : graph_.inputs(node)) {
    const NodeId source = source_of(graph_, input);
    const int spot = spot_by_node_[source.index()];
    if (spot < 0 || graph_.node(source).kind == NodeKind::placeholder) continue;
    common = latest < 0 ? spot : common < 0 ? -1 : common_spot(common, spot);
    if (latest < 0 || graph_.position(source) > latest_step) {
      latest = spot;
      latest_step = graph_.position(source);
    }
  }
  return common >= 0 ? common : latest;
}

void LadderBuilder::find_structure() {
  std::vector<SpotName> names;
  names.reserve(spots_.size());
  for (const Spot& s : spots_) names.push_back({s.name, s.parent});
  const auto structures = spot_structures(graph_, names, spot_by_node_);
  for (std::size_t i = 0; i < spots_.size(); ++i) spots_[i].structure = structures[i];
}

// --- Rows ---

int LadderBuilder::add_row(LadderRow row, int parent) {
  row.parent = parent;
  row.depth = parent < 0 ? 0 : ladder_.row(parent).depth + 1;
  ladder_.rows_.push_back(std::move(row));
  ladder_.boxes_.emplace_back();
  return static_cast<int>(ladder_.rows_.size()) - 1;
}

void LadderBuilder::add_siblings(const std::vector<int>& siblings, int parent) {
  const auto continues = [&](int a, int b) {
    return spots_[as_index(a)].number >= 0 &&
           spots_[as_index(b)].number == spots_[as_index(a)].number + 1 &&
           spots_[as_index(a)].structure == spots_[as_index(b)].structure;
  };
  for (std::size_t i = 0; i < siblings.size();) {
    std::size_t end = i + 1;
    while (end < siblings.size() && continues(siblings[end - 1], siblings[end])) ++end;
    int above = parent;
    const Spot& first = spots_[as_index(siblings[i])];
    if (end - i > 1)
      above = add_row({.kind = LadderRow::Kind::fold,
                       .name = first.name,
                       .type = first.type,
                       .path = first.path,
                       .key = "*" + first.path,
                       .members = static_cast<int>(end - i),
                       .number = first.number},
                      parent);
    for (; i < end; ++i) add_rows(siblings[i], above);
    if (above != parent)
      ladder_.rows_[as_index(above)].end = static_cast<int>(ladder_.rows_.size());
  }
}

void LadderBuilder::add_rows(int spot, int parent) {
  const Spot& s = spots_[as_index(spot)];
  LadderRow row{.name = s.name,
                .type = s.type,
                .path = s.path,
                .key = s.path.empty() ? s.name : s.path,
                .number = s.number,
                .structure = s.structure};
  if (s.children.empty()) return add_leaf(spot, std::move(row), parent);
  const std::string key = row.key;
  const int index = add_row(std::move(row), parent);
  if (s.boxes[0].empty() && s.boxes[1].empty() && s.others.empty()) {
    add_siblings(s.children, index);
  } else {
    // A module's own calls share a row, which is placed where the first of them runs.
    LadderRow itself{.kind = LadderRow::Kind::nodes,
                     .name = s.name,
                     .type = "itself",
                     .path = s.path,
                     .key = key + "/itself"};
    const auto later = std::ranges::find_if(
        s.children, [&](int child) { return spots_[as_index(child)].first_step > s.first_step; });
    add_siblings({s.children.begin(), later}, index);
    add_leaf(spot, std::move(itself), index);
    add_siblings({later, s.children.end()}, index);
  }
  ladder_.rows_[as_index(index)].end = static_cast<int>(ladder_.rows_.size());
}

void LadderBuilder::add_leaf(int spot, LadderRow row, int parent) {
  const Spot& s = spots_[as_index(spot)];
  const std::string key = row.key;
  const int index = add_row(std::move(row), parent);
  if (s.boxes[0].size() <= kMaxBoxes && s.boxes[1].size() <= kMaxBoxes) {
    give(index, LadderSide::forward, s.boxes[0]);
    give(index, LadderSide::backward, s.boxes[1]);
  } else {
    const std::size_t longest = std::max(s.boxes[0].size(), s.boxes[1].size());
    for (std::size_t begin = 0; begin < longest; begin += kChunk) {
      const auto part = [&](const std::vector<NodeId>& nodes, bool from_end) {
        const std::size_t a = std::min(begin, nodes.size());
        const std::size_t b = std::min(begin + kChunk, nodes.size());
        return from_end ? std::span(nodes).subspan(nodes.size() - b, b - a)
                        : std::span(nodes).subspan(a, b - a);
      };
      const int chunk = add_row(
          {.kind = LadderRow::Kind::nodes,
           .name = fmt::format("nodes {} to {}", begin + 1, std::min(begin + kChunk, longest)),
           .path = s.path,
           .key = fmt::format("{}/{}", key, begin / kChunk)},
          index);
      give(chunk, LadderSide::forward, part(s.boxes[0], false));
      give(chunk, LadderSide::backward, part(s.boxes[1], true));
      ladder_.rows_[as_index(chunk)].end = chunk + 1;
    }
  }
  give_others(static_cast<int>(ladder_.rows_.size()) - 1, s);
  ladder_.rows_[as_index(index)].end = static_cast<int>(ladder_.rows_.size());
}

void LadderBuilder::give(int row, LadderSide side, std::span<const NodeId> boxes) {
  const auto first = static_cast<std::uint32_t>(ladder_.box_nodes_.size());
  ladder_.boxes_[as_index(row)][index_of(side)] = {first, static_cast<std::uint32_t>(boxes.size())};
  for (const NodeId id : boxes) {
    ladder_.box_nodes_.push_back(id);
    ladder_.row_by_node_[id.index()] = row;
    ladder_.side_by_node_[id.index()] = static_cast<char>(side);
  }
  // A side that contains only an output counts as empty.
  if (std::any_of(boxes.begin(), boxes.end(),
                  [&](NodeId id) { return graph_.node(id).kind != NodeKind::output; }))
    ladder_.has_[index_of(side)] = true;
  // Sort by id if each node's id is higher than those of its inputs, which is the case unless an
  // edit added nodes. Moves then do not renumber boxes, and the drawing stays the same.
  const auto begin = ladder_.box_nodes_.begin() + first;
  const bool ids_are_in_order = std::all_of(boxes.begin(), boxes.end(), [&](NodeId id) {
    const auto inputs = graph_.inputs(id);
    return std::all_of(inputs.begin(), inputs.end(), [&](NodeId input) { return input < id; });
  });
  if (ids_are_in_order) std::sort(begin, ladder_.box_nodes_.end());
}

void LadderBuilder::give_others(int row, const Spot& spot) {
  for (const NodeId id : spot.others) {
    ladder_.row_by_node_[id.index()] = row;
    ladder_.side_by_node_[id.index()] = static_cast<char>(side_of(graph_.node(id)));
  }
}

// --- Sums ---

void LadderBuilder::sum_up() {
  std::vector<LadderRow>& rows = ladder_.rows_;
  for (const NodeId id : graph_.order()) {
    const int index = ladder_.row_of(id);
    if (index < 0) continue;
    LadderRow& row = rows[as_index(index)];
    const Node& n = graph_.node(id);
    if (n.role == Role::parameter && !n.partner) {
      ++row.parameters;
      row.parameter_bytes += graph_.output_bytes(n);
    }
    if (!is_box(n)) continue;
    LadderSums& sums = row.sides[index_of(side_of(n))];
    ++sums.nodes;
    sums.ns += analysis_.costs[id.index()].ns;
    sums.flops += analysis_.flops[id.index()].total;
    if (n.has(Node::recomputed)) ++sums.recomputed;
    ++sums.policies[static_cast<std::size_t>(n.policy)];
  }
  for (const Lifetime& l : analysis_.memory.lifetimes()) {
    if (!l.producer || graph_.node(l.producer).kind != NodeKind::call) continue;
    rows[as_index(ladder_.row_of(l.producer))]
        .sides[index_of(side_of(graph_.node(l.producer)))]
        .bytes += l.bytes;
  }
  for (const CollectiveTiming& c : analysis_.simulation.collectives()) {
    const Node& n = graph_.node(c.start);
    LadderSums& sums = rows[as_index(ladder_.row_of(c.start))].sides[index_of(side_of(n))];
    LadderSums one;
    one.exposed_ns = c.exposed_ns;
    one.collectives = {{graph_.op(n).collective, n.group, 1, c.exposed_ns}};
    sums += one;
  }
  for (std::size_t i = rows.size(); i-- > 0;) {
    if (rows[i].parent < 0) continue;
    LadderRow& parent = rows[as_index(rows[i].parent)];
    for (std::size_t s = 0; s < 2; ++s) parent.sides[s] += rows[i].sides[s];
    parent.parameters += rows[i].parameters;
    parent.parameter_bytes += rows[i].parameter_bytes;
  }
}

}  // namespace jointer::views

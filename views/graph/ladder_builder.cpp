// What belongs where on the ladder.
//
// Rows are the places of Places (modules, or source lines where a graph names no modules). A
// parametrization (SimpleFSDP's `weight (ReplicateComputation)`: the all-gather of a parameter and
// the reduce-scatter of its gradient) is no row of its own but part of the module that uses it.
// Where a module calls operators itself and has modules below it, what it calls itself is one row
// among them. A call without a module (sums of gradients, mostly) belongs to the innermost module
// that holds all it reads, or to that of what it reads last. What is left (inputs, tangents,
// outputs) is a row of its own, the first. A long list of nodes is cut into rows of kChunk: forward
// from its start, backward from its end, so that what belongs together is near.
//
// Siblings of a numbered list that follow one another and are identical (ladder_structure.h) stand
// under one row, the fold.
//
// A rung is a storage that the memory timeline calls a saved activation, or one that the backward
// makes again for others to read. Its readers are the backward nodes that read a forward's value in
// it, views included.
//
// Cost: linear in nodes and edges, times the depth of the module tree.

#include "views/graph/ladder_builder.h"

#include <algorithm>

#include "views/graph/ladder_structure.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMostBoxes = 400;  // of one row and side
constexpr std::size_t kChunk = 100;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

bool is_parametrization(const Place& place) {
  return place.parent >= 0 && !place.type.empty() && place.name.ends_with(" (" + place.type + ")");
}

bool is_box(const Node& node) {
  return node.kind != NodeKind::placeholder ||
         (node.role != Role::parameter && node.role != Role::buffer && !node.partner);
}

RungState state_of(const Graph& graph, const Node& producer) {
  switch (producer.policy) {
    case MemoryPolicy::must_save:
    case MemoryPolicy::prefer_save:
      return RungState::save;
    case MemoryPolicy::must_recompute:
    case MemoryPolicy::prefer_recompute:
      // In a pair the partitioner has decided otherwise.
      return graph.is_pair() ? RungState::save : RungState::recompute;
    case MemoryPolicy::must_cpu_offload:
      return RungState::offload;
    case MemoryPolicy::none:
      break;
  }
  return graph.part(PartId(0)).kind == CaptureKind::joint ? RungState::automatic : RungState::save;
}

}  // namespace

void LadderBuilder::run() {
  find_spots();
  find_structure();
  ladder_.row_by_node_.assign(graph_.node_count(), -1);
  ladder_.side_by_node_.assign(graph_.node_count(), 0);
  add_siblings(roots_, -1);
  find_rungs();
  sum_up();
}

// --- Spots ---

void LadderBuilder::find_spots() {
  const Places places(graph_, analysis_.modules);
  ladder_.are_source_lines_ = places.are_source_lines();
  std::vector<int> spot_by_place;
  int without_module = -1;
  for (const Place& place : places.all()) {
    if (is_parametrization(place)) {
      spot_by_place.push_back(spot_by_place[at(place.parent)]);
      continue;
    }
    const int parent = place.parent < 0 ? -1 : spot_by_place[at(place.parent)];
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
                   : spot_by_place[at(places.of(id))];
    if (spot == without_module && n.kind == NodeKind::call)
      if (const int adopted = adopting_spot(id); adopted >= 0) spot = adopted;
    spot_by_node_[id.index()] = spot;
    Spot& s = spots_[at(spot)];
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
    if (has_nodes[i] != 0 && s.parent >= 0) has_nodes[at(s.parent)] = 1;
  }
  for (std::size_t i = 0; i < spots_.size(); ++i) {
    if (has_nodes[i] == 0) continue;
    std::vector<int>& siblings =
        spots_[i].parent < 0 ? roots_ : spots_[at(spots_[i].parent)].children;
    siblings.insert(static_cast<int>(i) == without_module ? siblings.begin() : siblings.end(),
                    static_cast<int>(i));
  }
}

int LadderBuilder::common_spot(int a, int b) const {
  // A parent's index is lower than its children's.
  while (a != b) {
    int& deeper = a > b ? a : b;
    deeper = spots_[at(deeper)].parent;
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
    return spots_[at(a)].number >= 0 && spots_[at(b)].number == spots_[at(a)].number + 1 &&
           spots_[at(a)].structure == spots_[at(b)].structure;
  };
  for (std::size_t i = 0; i < siblings.size();) {
    std::size_t end = i + 1;
    while (end < siblings.size() && continues(siblings[end - 1], siblings[end])) ++end;
    int above = parent;
    const Spot& first = spots_[at(siblings[i])];
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
    if (above != parent) ladder_.rows_[at(above)].end = static_cast<int>(ladder_.rows_.size());
  }
}

void LadderBuilder::add_rows(int spot, int parent) {
  const Spot& s = spots_[at(spot)];
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
    // What the module calls itself stands where its first node runs.
    LadderRow itself{.kind = LadderRow::Kind::nodes,
                     .name = s.name,
                     .type = "itself",
                     .path = s.path,
                     .key = key + "/itself"};
    const auto later = std::find_if(s.children.begin(), s.children.end(), [&](int child) {
      return spots_[at(child)].first_step > s.first_step;
    });
    add_siblings({s.children.begin(), later}, index);
    add_leaf(spot, std::move(itself), index);
    add_siblings({later, s.children.end()}, index);
  }
  ladder_.rows_[at(index)].end = static_cast<int>(ladder_.rows_.size());
}

void LadderBuilder::add_leaf(int spot, LadderRow row, int parent) {
  const Spot& s = spots_[at(spot)];
  const std::string key = row.key;
  const int index = add_row(std::move(row), parent);
  if (s.boxes[0].size() <= kMostBoxes && s.boxes[1].size() <= kMostBoxes) {
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
      ladder_.rows_[at(chunk)].end = chunk + 1;
    }
  }
  give_others(static_cast<int>(ladder_.rows_.size()) - 1, s);
  ladder_.rows_[at(index)].end = static_cast<int>(ladder_.rows_.size());
}

void LadderBuilder::give(int row, LadderSide side, std::span<const NodeId> boxes) {
  const auto first = static_cast<std::uint32_t>(ladder_.box_nodes_.size());
  ladder_.boxes_[at(row)][index_of(side)] = {first, static_cast<std::uint32_t>(boxes.size())};
  for (const NodeId id : boxes) {
    ladder_.box_nodes_.push_back(id);
    ladder_.row_by_node_[id.index()] = row;
    ladder_.side_by_node_[id.index()] = static_cast<char>(side);
  }
  // An output alone is no side.
  if (std::any_of(boxes.begin(), boxes.end(),
                  [&](NodeId id) { return graph_.node(id).kind != NodeKind::output; }))
    ladder_.has_[index_of(side)] = true;
  // By id where an id is after those of its inputs, as it is unless an edit made the node: a move
  // then changes no numbers, and the drawing stays.
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

// --- Rungs ---

// The forward node that a node of the backward runs again; itself if that is not known, or gone.
NodeId LadderBuilder::origin_of(NodeId id) const {
  const auto is_here = [this](NodeId node) {
    return ladder_.row_of(node) >= 0 && graph_.node(node).phase == Phase::forward;
  };
  if (const NodeId origin = graph_.node(id).origin; is_here(origin)) return origin;
  std::string_view name = graph_.name(id);
  if (constexpr std::string_view kEnd = "_recomputed"; name.ends_with(kEnd))
    name.remove_suffix(kEnd.size());
  const NodeId first = graph_.find(PartId(0), name);
  return is_here(first) ? first : id;
}

void LadderBuilder::find_rungs() {
  const auto lifetimes = analysis_.memory.lifetimes();
  std::vector<int> rung_by_lifetime(lifetimes.size(), -1);
  std::vector<Rung>& rungs = ladder_.rungs_;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    const Lifetime& l = lifetimes[i];
    const bool is_kept = l.category == MemoryCategory::saved_activation;
    if (!l.producer || (!is_kept && l.category != MemoryCategory::recomputed)) continue;
    rung_by_lifetime[i] = static_cast<int>(rungs.size());
    const NodeId producer = source_of(graph_, l.producer);
    rungs.push_back(
        {.producer = is_kept ? producer : origin_of(producer),
         .bytes = l.bytes,
         .state = is_kept ? state_of(graph_, graph_.node(producer)) : RungState::recompute,
         .is_kept = is_kept});
  }

  // A value of the forward, or one that a half of a pair is given from outside.
  const auto is_from_forward = [&](NodeId source) {
    const Node& n = graph_.node(source);
    return n.phase == Phase::forward || n.role == Role::saved;
  };
  std::vector<std::pair<int, NodeId>> reads;
  for (const NodeId id : graph_.order()) {
    const Node& n = graph_.node(id);
    if (n.phase != Phase::backward || n.kind != NodeKind::call) continue;
    for (const NodeId input : graph_.inputs(n)) {
      const NodeId source = source_of(graph_, input);
      for (const Tensor& t : graph_.tensors(source)) {
        if (!t.storage) continue;
        const auto lifetime = analysis_.memory.lifetime_of(graph_.real_storage(t.storage));
        const int rung = lifetime ? rung_by_lifetime[*lifetime] : -1;
        if (rung < 0) continue;
        const bool reads_it =
            rungs[at(rung)].is_kept ? is_from_forward(source) : !n.has(Node::recomputed);
        if (reads_it) reads.emplace_back(rung, id);
      }
    }
  }
  std::stable_sort(reads.begin(), reads.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  for (const auto& [rung, reader] : reads) {
    Rung& r = rungs[at(rung)];
    if (r.reader_count == 0) r.first_reader = static_cast<std::uint32_t>(ladder_.readers_.size());
    ++r.reader_count;
    ladder_.readers_.push_back(reader);
  }
  // What is made again on the way to something else is no rung.
  std::erase_if(rungs, [](const Rung& r) { return !r.is_kept && r.reader_count == 0; });
}

// --- Sums ---

void LadderBuilder::sum_up() {
  std::vector<LadderRow>& rows = ladder_.rows_;
  for (const NodeId id : graph_.order()) {
    const int index = ladder_.row_of(id);
    if (index < 0) continue;
    LadderRow& row = rows[at(index)];
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
    rows[at(ladder_.row_of(l.producer))].sides[index_of(side_of(graph_.node(l.producer)))].bytes +=
        l.bytes;
  }
  for (const CollectiveTiming& c : analysis_.simulation.collectives()) {
    const Node& n = graph_.node(c.start);
    LadderSums& sums = rows[at(ladder_.row_of(c.start))].sides[index_of(side_of(n))];
    LadderSums one;
    one.exposed_ns = c.exposed_ns;
    one.collectives = {{graph_.op(n).collective, n.group, 1, c.exposed_ns}};
    sums += one;
  }
  for (const Rung& rung : ladder_.rungs_) {
    LadderRow& row = rows[at(ladder_.row_of(rung.producer))];
    if (rung.is_kept)
      row.kept[static_cast<std::size_t>(rung.state)] += rung.bytes;
    else
      row.made_again_bytes += rung.bytes;
  }
  for (std::size_t i = rows.size(); i-- > 0;) {
    if (rows[i].parent < 0) continue;
    LadderRow& parent = rows[at(rows[i].parent)];
    for (std::size_t s = 0; s < 2; ++s) parent.sides[s] += rows[i].sides[s];
    parent.parameters += rows[i].parameters;
    parent.parameter_bytes += rows[i].parameter_bytes;
    for (std::size_t s = 0; s < kRungStates; ++s) parent.kept[s] += rows[i].kept[s];
    parent.made_again_bytes += rows[i].made_again_bytes;
  }
}

}  // namespace jointer::views

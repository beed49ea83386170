// Writes graphs for Graphviz's `dot`, and parses and checks the layouts it returns.
//
// Source: "Output formats: plain" in the documentation of Graphviz. Lengths are in inches, y points
// up, and numbers have five significant digits:
//   graph SCALE WIDTH HEIGHT
//   node NAME X Y WIDTH HEIGHT LABEL STYLE SHAPE COLOR FILLCOLOR
//   edge TAIL HEAD N X1 Y1 .. XN YN [LABEL XL YL] STYLE COLOR
//   stop

#include "core/layout/dot_layout.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "core/base/counted.h"
#include "core/base/number_text.h"
#include "core/base/utf8.h"
#include "core/process/child.h"

namespace jointer {
namespace {

constexpr double kPixelsPerInch = 72;
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxPoints = 100'000;
// A tolerance in pixels. It covers the rounding of numbers to five significant digits in a drawing
// of a few thousand pixels.
constexpr double kSlack = 2;

class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const auto begin = std::min(rest_.find_first_not_of(' '), rest_.size());
    rest_.remove_prefix(begin);
    const std::string_view word = rest_.substr(0, std::min(rest_.find(' '), rest_.size()));
    rest_.remove_prefix(word.size());
    return word;
  }
  // Reads a length in inches and returns pixels; NaN if the word is not a number or is too large.
  double number() {
    const auto value = number_of<double>(next());
    return value && std::abs(*value) < 1e6 ? *value * kPixelsPerInch : std::nan("");
  }
  // Reads a node name, which is `n` followed by an index, and returns the index; returns `end` if
  // the word is anything else.
  std::uint32_t index(std::uint32_t end) {
    const std::string_view word = next();
    if (!word.starts_with('n')) return end;
    return std::min(number_of<std::uint32_t>(word.substr(1)).value_or(end), end);
  }

 private:
  std::string_view rest_;
};

tl::unexpected<Error> garbage(std::string_view line) {
  return fail(Error::Kind::run, "dot's output is not a layout: `{}`", first_characters(line, 80));
}

class PlainReader {
 public:
  PlainReader(const LayoutGraph& graph, const LayoutStyle& style)
      : graph_(graph), style_(style), has_center_(graph.nodes, false) {
    for (std::uint32_t i = 0; i < graph.edges.size(); ++i) edges_.emplace(graph.edges[i], i);
    layout_.centers.resize(graph.nodes);
    layout_.routes.resize(graph.edges.size());
  }

  // Reads a line; returns false if it does not describe this graph.
  bool take(std::string_view line) {
    Words words(line);
    const std::string_view kind = words.next();
    if (kind == "graph") return take_graph(words);
    if (kind == "node") return take_node(words);
    if (kind == "edge") return take_edge(words);
    return false;
  }

  Result<Layout> finish() {
    for (const bool has : has_center_)
      if (!has) return fail(Error::Kind::run, "dot's layout lacks a node");
    for (const auto& route : layout_.routes)
      if (route.points.empty()) return fail(Error::Kind::run, "dot's layout lacks an edge");
    find_ranks();
    if (!is_sound())
      return fail(
          Error::Kind::run,
          "in dot's layout, boxes overlap or lie outside the drawing, or an edge does not go down");
    return std::move(layout_);
  }

 private:
  bool take_graph(Words& words) {
    words.next();
    layout_.width = words.number();
    layout_.height = words.number();
    return layout_.width >= 0 && layout_.height >= 0;
  }

  bool take_node(Words& words) {
    const std::uint32_t n = words.index(graph_.nodes);
    const LayoutPoint at = point(words);
    if (n >= graph_.nodes || has_center_[n] || std::isnan(at.x + at.y)) return false;
    has_center_[n] = true;
    layout_.centers[n] = at;
    return true;
  }

  bool take_edge(Words& words) {
    const std::uint32_t from = words.index(graph_.nodes), to = words.index(graph_.nodes);
    const auto edge = edges_.find(LayoutEdge{from, to});
    const double count = words.number() / kPixelsPerInch;
    if (edge == edges_.end() || !(count >= 4) || count > kMaxPoints) return false;
    Layout::Route& route = layout_.routes[edge->second];
    const auto points = static_cast<std::size_t>(count);
    if (!route.points.empty() || points % 3 != 1) return false;
    route.is_curve = true;
    for (std::size_t i = 0; i < points; ++i) {
      route.points.push_back(point(words));
      if (std::isnan(route.points.back().x + route.points.back().y)) return false;
    }
    return true;
  }

  LayoutPoint point(Words& words) const {
    const double x = words.number(), y = words.number();
    return {x, layout_.height - y};
  }

  // Boxes at the same height form a rank. All boxes have the same size, so a rank is as tall as a
  // box.
  void find_ranks() {
    std::vector<std::uint32_t> by_y(graph_.nodes);
    for (std::uint32_t n = 0; n < graph_.nodes; ++n) by_y[n] = n;
    std::ranges::stable_sort(by_y, {}, [&](std::uint32_t n) { return layout_.centers[n].y; });
    layout_.ranks.resize(graph_.nodes);
    double last = 0;
    for (const std::uint32_t n : by_y) {
      const double y = layout_.centers[n].y;
      if (layout_.rank_tops.empty() || y > last + kSlack) {
        layout_.rank_tops.push_back(y - style_.node_height / 2);
        last = y;
      }
      layout_.centers[n].y = last;
      layout_.ranks[n] = static_cast<std::uint32_t>(layout_.rank_tops.size() - 1);
    }
  }

  [[nodiscard]] bool is_sound() const {
    std::vector<std::vector<double>> by_rank(layout_.rank_tops.size());
    for (std::uint32_t n = 0; n < graph_.nodes; ++n) {
      const LayoutPoint& c = layout_.centers[n];
      if (c.x < style_.node_width / 2 - kSlack ||
          c.x > layout_.width - style_.node_width / 2 + kSlack ||
          c.y < style_.node_height / 2 - kSlack ||
          c.y > layout_.height - style_.node_height / 2 + kSlack)
        return false;
      by_rank[layout_.ranks[n]].push_back(c.x);
    }
    for (std::size_t r = 1; r < layout_.rank_tops.size(); ++r)
      if (layout_.rank_tops[r] < layout_.rank_tops[r - 1] + style_.node_height) return false;
    for (auto& xs : by_rank) {
      std::ranges::sort(xs);
      for (std::size_t i = 1; i < xs.size(); ++i)
        if (xs[i] - xs[i - 1] < style_.node_width) return false;
    }
    return std::ranges::all_of(graph_.edges, [&](const LayoutEdge& e) {
      return layout_.ranks[e.from] < layout_.ranks[e.to];
    });
  }

  const LayoutGraph& graph_;
  const LayoutStyle& style_;
  std::map<LayoutEdge, std::uint32_t> edges_;
  std::vector<bool> has_center_;
  Layout layout_;
};

}  // namespace

std::string dot_text(std::span<const LayoutGraph> graphs, const LayoutStyle& style) {
  std::string out;
  for (const LayoutGraph& graph : graphs) {
    fmt::format_to(std::back_inserter(out),
                   "digraph {{\nnodesep={:.4f};ranksep={:.4f};pad=0;margin=0;\n"
                   "node [shape=box fixedsize=true label=\"\" width={:.4f} height={:.4f}];\n"
                   "edge [dir=none tailport=s headport=n];\n",
                   style.node_gap / kPixelsPerInch, style.rank_gap / kPixelsPerInch,
                   style.node_width / kPixelsPerInch, style.node_height / kPixelsPerInch);
    for (std::uint32_t n = 0; n < graph.nodes; ++n)
      fmt::format_to(std::back_inserter(out), "n{};\n", n);
    for (const LayoutEdge& e : graph.edges)
      fmt::format_to(std::back_inserter(out), "n{}->n{};\n", e.from, e.to);
    out += "}\n";
  }
  return out;
}

Result<std::vector<Layout>> read_dot_plain(std::span<const LayoutGraph> graphs,
                                           const LayoutStyle& style,
                                           std::span<const std::string> lines) {
  std::vector<Layout> layouts;
  std::size_t at = 0;
  for (const LayoutGraph& graph : graphs) {
    PlainReader reader(graph, style);
    if (at >= lines.size())
      return fail(Error::Kind::run, "dot's output contains only {} for {}",
                  counted(layouts.size(), "layout"), counted(graphs.size(), "graph"));
    if (!lines[at].starts_with("graph ")) return garbage(lines[at]);
    for (; at < lines.size() && lines[at] != "stop"; ++at)
      if (!reader.take(lines[at])) return garbage(lines[at]);
    if (at == lines.size())
      return fail(Error::Kind::run, "dot's output ends in the middle of a layout");
    ++at;
    JOINTER_TRY(layouts.emplace_back(), reader.finish());
  }
  return layouts;
}

Result<std::vector<Layout>> dot_layouts(std::span<const LayoutGraph> graphs,
                                        const LayoutStyle& style, const DotOptions& options) {
  if (graphs.empty()) return std::vector<Layout>{};
  std::vector<std::string> lines;
  std::size_t max_lines = 1;  // one more than valid output can have; further lines are dropped
  for (const LayoutGraph& graph : graphs) max_lines += 2 + graph.nodes + graph.edges.size();
  ChildOptions child_options{.command = {options.program, "-Tplain"},
                             .has_input = true,
                             .on_line =
                                 [&](std::string_view line) {
                                   if (lines.size() < max_lines) lines.emplace_back(line);
                                 },
                             .max_line_bytes = kMaxLineBytes,
                             .deadline = options.deadline};
  JOINTER_TRY(Child child, Child::start(std::move(child_options)));
  child.write(dot_text(graphs, style));
  child.close_input();
  const ChildEnd end = child.wait();
  if (end.timed_out)
    return fail(Error::Kind::run, "dot took longer than {} ms", options.deadline.count());
  if (!end.succeeded())
    return fail(Error::Kind::run, "{}", failure_text("dot", end, child.last_error()));
  return read_dot_plain(graphs, style, lines);
}

}  // namespace jointer

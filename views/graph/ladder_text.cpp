#include "views/graph/ladder_text.h"

#include <algorithm>

#include "views/graph/ladder_painter.h"
#include "views/graph/rung_style.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxNamed = 5;

QString full_name(const LadderRow& row) {
  return row.path.empty() ? row_name(row) : to_qstring(row.path);
}

QStringList row_lines(const LadderModel& model, int row, LadderSide side) {
  const LadderRow& r = model.ladder().row(row);
  const LadderSums& s = r.side(side);
  QStringList all;
  all << full_name(r);
  if (r.members > 1)
    all.front() = tr("%1, %2 identical").arg(row_name(r), QString::number(r.members));
  else if (r.kind == LadderRow::Kind::nodes && r.type == "itself")
    all.front() += tr(", own nodes");
  if (!r.type.empty() && r.type != "itself") all << to_qstring(r.type);
  all << tr("%1: %2, %3 estimated")
             .arg(side == LadderSide::forward ? tr("forward") : tr("backward"), nodes_text(s.nodes),
                  time_text(s.ns));
  if (s.recomputed > 0) all << tr("%1 of them recomputed").arg(count_text(s.recomputed));
  if (s.flops > 0) all << flops_text(s.flops);
  if (s.bytes > 0) all << tr("allocates %1").arg(bytes_text(s.bytes));
  for (const CollectiveMark& mark : s.collectives) {
    const QString kind = mark.kind == CollectiveKind::none ? tr("copy to or from the host")
                                                           : to_qstring(to_string(mark.kind));
    const QString group =
        mark.group ? tr(" on %1").arg(to_qstring(model.snapshot().graph.group_label(mark.group)))
                   : QString();
    all << tr("%1 × %2%3, exposed %4")
               .arg(count_text(mark.count), kind, group, time_text(mark.exposed_ns));
  }
  if (r.parameters > 0)
    all << tr("%1, %2").arg(counted_text(r.parameters, tr("1 parameter"), tr("%1 parameters")),
                            bytes_text(r.parameter_bytes));
  if (const QString saved = rung_text(r.saved, r.recomputed_bytes);
      !saved.isEmpty() && side == LadderSide::forward)
    all << tr("values for the backward: %1").arg(saved);
  return all;
}

QStringList link_lines(const LadderModel& model, const LadderLink& link) {
  const auto rungs = model.layout().link_rungs(link);
  QStringList all;
  all << rung_text(link.saved, link.recomputed_bytes);
  const auto place = [&](LadderPlace p) {
    return full_name(model.ladder().row(model.layout().item(p.item).row));
  };
  all << (link.to.item < 0
              ? (model.ladder().has(LadderSide::backward)
                     ? tr("produced by %1, not read in the backward")
                     : tr("produced by %1; its backward is not in this graph"))
                    .arg(place(link.from))
              : tr("produced by %1, read by %2").arg(place(link.from), place(link.to)));
  std::vector<const Rung*> largest;
  for (const std::uint32_t i : rungs) largest.push_back(&model.ladder().rungs()[i]);
  std::ranges::stable_sort(largest, std::ranges::greater(), &Rung::bytes);
  const Graph& graph = model.snapshot().graph;
  for (std::size_t i = 0; i < std::min(largest.size(), kMaxNamed); ++i) {
    const Rung& rung = *largest[i];
    QString line = tr("%1  %2, %3")
                       .arg(to_qstring(graph.name(rung.producer)), bytes_text(rung.bytes),
                            rung.is_saved ? rung_word(rung.state) : tr("recomputed"));
    if (rung.reader_count > 0)
      line += tr(", read by %1%2")
                  .arg(to_qstring(graph.name(model.ladder().readers(rung).front())),
                       rung.reader_count > 1 ? tr(" and %1 more").arg(rung.reader_count - 1)
                                             : QString());
    all << line;
  }
  if (largest.size() > kMaxNamed)
    all << tr("and %1 more").arg(count_text(largest.size() - kMaxNamed));
  return all;
}

}  // namespace

QStringList hit_lines(const LadderModel& model, const LadderHit& under) {
  if (under.link) return link_lines(model, model.layout().links()[*under.link]);
  if (under.place.item < 0 || !under.side) return {};
  const int row = model.layout().item(under.place.item).row;
  if (under.folded > 1)
    return {tr("%1 rows here").arg(count_text(under.folded)),
            tr("starting with %1").arg(full_name(model.ladder().row(row))),
            tr("zoom in to see them separately")};
  if (under.place.node < 0) return row_lines(model, row, *under.side);
  const NodeId node =
      model.ladder().boxes(row, *under.side)[static_cast<std::size_t>(under.place.node)];
  QStringList all = hover_lines(model.snapshot(), node);
  const Node& n = model.snapshot().graph.node(node);
  if (const QString policy = policy_text(n.policy); !policy.isEmpty()) all << policy;
  if (n.has(Node::recomputed))
    all << (n.origin ? tr("recomputes %1").arg(to_qstring(model.snapshot().graph.name(n.origin)))
                     : tr("recomputed in the backward"));
  return all;
}

}  // namespace jointer::views

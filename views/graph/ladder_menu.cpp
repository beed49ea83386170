#include "views/graph/ladder_menu.h"

#include <QApplication>
#include <QClipboard>

#include "views/session/text/node_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {

void add_ladder_actions(QMenu& menu, LadderModel& model, LadderSelection& selection,
                        const LadderHit& under, const QList<QAction*>& node_actions) {
  if (under.place.item < 0) return;
  const int row = model.layout().item(under.place.item).row;
  const LadderSide side = under.side.value_or(LadderSide::forward);
  const LadderRow& r = model.ladder().row(row);
  const std::optional<NodeId> node =
      under.place.node >= 0 ? std::optional(model.ladder().boxes(
                                  row, side)[static_cast<std::size_t>(under.place.node)])
                            : std::nullopt;
  const QString path = to_qstring(r.path.empty() ? r.name : r.path);
  menu.addAction(model.is_open(row) ? tr("&Collapse") : tr("&Expand"), &model,
                 [&model, &selection, row, side] {
                   selection.set_side(side);
                   model.toggle_row(row, side);
                 });
  menu.addAction(tr("Expand &All Below"), &model,
                 [&model, &selection, row] { model.open_all(row, selection.side()); });
  menu.addAction(tr("Co&llapse All Below"), &model,
                 [&model, &selection, row] { model.close_all(row, selection.side()); });
  menu.addSeparator();
  menu.addAction(tr("&Select All Nodes of %1").arg(path), &selection,
                 [&selection, row] { selection.select_whole_row(row); });
  QAction* identical = menu.addAction(
      node ? tr("Select This Node in All &Identical Modules") : tr("Select All &Identical Modules"),
      &selection, [&selection, row, node] { selection.select_identical(row, node); });
  identical->setEnabled(model.ladder().identical(row).size() > 1);
  menu.addAction(tr("Copy &Name"), &model, [&model, path, node] {
    QApplication::clipboard()->setText(node ? to_qstring(model.snapshot().graph.name(*node))
                                            : path);
  });
  for (QAction* action : node ? node_actions : QList<QAction*>())
    menu.addAction(action->text(), action, [action, &selection, node] {
      selection.select_node(*node);
      action->trigger();
    });
  menu.addSeparator();
}

}  // namespace jointer::views

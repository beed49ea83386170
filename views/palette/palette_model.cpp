#include "views/palette/palette_model.h"

#include <QMenu>
#include <algorithm>

#include "views/session/search/fuzzy_match.h"
#include "views/session/text/node_text.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxNodes = 30, kMaxModules = 10;
constexpr std::size_t kFewActions = 5;

QList<int> to_list(const std::vector<int>& positions) {
  return {positions.begin(), positions.end()};
}

// True if the matching letters are so close together that it is evident why the title matches.
bool is_close(const FuzzyMatch& match) {
  std::size_t runs = 0;
  for (std::size_t i = 0; i < match.positions.size(); ++i)
    if (i == 0 || match.positions[i] != match.positions[i - 1] + 1) ++runs;
  return runs <= 1 + match.positions.size() / 3;
}

// The title of the menu that contains an action, such as "View".
QString menu_of(const QAction& action) {
  for (QObject* object : action.associatedObjects())
    if (const auto* menu = qobject_cast<QMenu*>(object);
        menu != nullptr && !menu->title().isEmpty())
      return plain_action_text(*menu->menuAction());
  return {};
}

}  // namespace

QString plain_action_text(const QAction& action) {
  QString text = action.text();
  text.replace(QStringLiteral("&&"), QStringLiteral("\x01"));
  text.remove(u'&');
  text.replace(u'\x01', u'&');
  while (text.endsWith(u'.') || text.endsWith(u'…')) text.chop(1);
  return text;
}

void PaletteModel::set_actions(const QList<QAction*>& actions) {
  actions_.clear();
  for (QAction* action : actions)
    if (action != nullptr && !action->isSeparator() && action->menu() == nullptr &&
        !action->text().isEmpty() && !actions_.contains(action))
      actions_ << action;
}

void PaletteModel::set_text(const QString& text) {
  beginResetModel();
  rows_.clear();
  const SnapshotPtr snapshot = document_ ? document_->shared_snapshot() : nullptr;
  if (snapshot != snapshot_) search_.reset();
  snapshot_ = snapshot;
  const bool only_nodes = text.startsWith(u'@');
  const QString wanted = (only_nodes ? text.mid(1) : text).trimmed();
  if (!only_nodes) add_actions(wanted);
  if (snapshot_ && !wanted.isEmpty() && (only_nodes || rows_.size() < kFewActions)) {
    add_modules(wanted);
    add_nodes(wanted);
  }
  endResetModel();
}

void PaletteModel::add_actions(const QString& text) {
  for (const QPointer<QAction>& action : actions_) {
    if (!action || !action->isVisible()) continue;
    Row row{.action = action, .title = plain_action_text(*action), .detail = menu_of(*action)};
    if (const auto match = fuzzy_match(text, row.title)) {
      row.score = match->score;
      row.positions = to_list(match->positions);
    } else if (const auto by_menu = fuzzy_match(text, row.detail + u' ' + row.title)) {
      // A match that needs the menu's title, such as "view fit", gets half the score.
      row.score = by_menu->score / 2;
    } else {
      continue;
    }
    rows_.push_back(std::move(row));
  }
  if (text.isEmpty()) return;  // keeps the order of actions_
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    if (a.action->isEnabled() != b.action->isEnabled()) return a.action->isEnabled();
    return a.score > b.score;
  });
}

void PaletteModel::add_modules(const QString& text) {
  const ModuleTree& modules = snapshot_->analysis.modules;
  std::vector<Row> found;
  for (std::size_t i = 1; i < modules.size(); ++i) {
    const Module& module = modules.module(ModuleId(i));
    QString path = to_qstring(module.path);
    const auto match = fuzzy_match(text, path);
    if (!match || !is_close(*match)) continue;
    found.push_back({.module = ModuleId(i),
                     .title = std::move(path),
                     .detail = to_qstring(module.type),
                     .positions = to_list(match->positions),
                     .score = match->score});
  }
  const auto better = [](const Row& a, const Row& b) { return a.score > b.score; };
  std::stable_sort(found.begin(), found.end(), better);
  if (found.size() > kMaxModules) found.resize(kMaxModules);
  rows_.insert(rows_.end(), found.begin(), found.end());
}

void PaletteModel::add_nodes(const QString& text) {
  if (!search_) search_ = std::make_unique<NodeSearch>(snapshot_);
  const Graph& graph = snapshot_->graph;
  std::vector<NodeId> nodes;
  // An exact node name comes first, then matches in names, then all other search results.
  const std::string query = text.toStdString();
  if (const NodeId exact = graph.find(query)) nodes.push_back(exact);
  for (const std::string& each : {"name:\"" + query + '"', query}) {
    const auto found = search_->find(std::string_view(each));
    if (!found) continue;
    for (const NodeId node : *found) {
      if (nodes.size() >= kMaxNodes) break;
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
    }
  }
  for (const NodeId node : nodes) {
    const QString name = to_qstring(graph.name(node));
    const auto match = fuzzy_match(text, name);
    rows_.push_back({.node = node,
                     .title = name,
                     .detail = to_qstring(graph.target(graph.node(node))),
                     .positions = match ? to_list(match->positions) : QList<int>()});
  }
}

std::vector<NodeId> PaletteModel::nodes(int row) const {
  const Row& r = rows_[static_cast<std::size_t>(row)];
  if (!document_) return {};
  if (r.node) return document_->existing({r.node});
  std::vector<NodeId> nodes;
  if (!r.module) return nodes;
  const ModuleTree& modules = snapshot_->analysis.modules;
  for (const NodeId id : snapshot_->graph.order()) {
    ModuleId module = modules.of(id);
    while (module && module != r.module) module = modules.module(module).parent;
    if (module) nodes.push_back(id);
  }
  return document_->existing(std::move(nodes));
}

int PaletteModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  switch (role) {
    case title_role:
      return row.title;
    case detail_role:
      return row.detail;
    case shortcut_role:
      return row.action ? row.action->shortcut().toString(QKeySequence::NativeText) : QString();
    case positions_role:
      return QVariant::fromValue(row.positions);
    case Qt::ToolTipRole:
      return row.action ? row.action->toolTip() : QVariant();
    default:
      return {};
  }
}

Qt::ItemFlags PaletteModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const bool is_disabled = row.action && !row.action->isEnabled();
  return is_disabled ? Qt::NoItemFlags : Qt::ItemIsEnabled | Qt::ItemIsSelectable;
}

}  // namespace jointer::views

#include "views/pipeline/catalog_model.h"

#include <algorithm>

#include "views/session/search/fuzzy_match.h"
#include "views/session/text/node_text.h"

namespace jointer::views {
namespace {

// Every match in a name ranks above all matches in summaries.
constexpr int kInSummary = -1'000'000;

std::optional<int> score(const Pass& pass, const QString& text) {
  if (text.isEmpty()) return 0;
  if (const auto match = fuzzy_match(text, to_qstring(pass.info.name))) return match->score;
  if (to_qstring(pass.info.summary).contains(text, Qt::CaseInsensitive)) return kInSummary;
  return std::nullopt;
}

}  // namespace

void CatalogModel::set_passes(std::shared_ptr<const PassRegistry> registry,
                              const QStringList& problems) {
  registry_ = std::move(registry);
  problems_ = problems;
  fill();
}

void CatalogModel::set_text(const QString& text) {
  if (text_ == text.trimmed()) return;
  text_ = text.trimmed();
  fill();
}

void CatalogModel::fill() {
  beginResetModel();
  rows_.clear();
  for (const PassStage stage : kPassStages) {
    std::vector<std::pair<int, const Pass*>> found;
    for (const Pass& pass : registry_->passes())
      if (pass.info.stage == stage)
        if (const auto points = score(pass, text_)) found.emplace_back(*points, &pass);
    std::ranges::stable_sort(found, std::ranges::greater(),
                             [](const auto& each) { return each.first; });
    if (!found.empty()) rows_.push_back({.title = to_qstring(to_string(stage))});
    for (const auto& each : found)
      rows_.push_back({.title = to_qstring(each.second->info.name), .pass = each.second});
  }
  if (rows_.empty() && !text_.isEmpty()) rows_.push_back({.title = tr("No match.")});
  if (!problems_.isEmpty()) rows_.push_back({.title = tr("Not loaded")});
  for (const QString& problem : problems_) rows_.push_back({.title = problem, .is_problem = true});
  endResetModel();
}

QString CatalogModel::pass(int row) const {
  const bool is_there = row >= 0 && row < rowCount();
  return is_there && rows_[static_cast<std::size_t>(row)].pass != nullptr
             ? rows_[static_cast<std::size_t>(row)].title
             : QString();
}

int CatalogModel::first_pass() const {
  // With a search text, the best match of all stages.
  int best = -1, best_score = 0;
  for (int row = 0; row < rowCount(); ++row) {
    const Pass* pass = rows_[static_cast<std::size_t>(row)].pass;
    if (pass == nullptr) continue;
    const int points = *score(*pass, text_);
    if (best < 0 || points > best_score) {
      best = row;
      best_score = points;
    }
  }
  return best;
}

int CatalogModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant CatalogModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return row.title;
    case Qt::ToolTipRole:
      return row.pass == nullptr ? row.title
                                 : QStringLiteral("%1\n%2").arg(
                                       to_qstring(row.pass->info.summary),
                                       tr("source: %1").arg(to_qstring(row.pass->info.source)));
    case summary_role:
      return row.pass == nullptr ? QString() : to_qstring(row.pass->info.summary);
    case source_role:
      return row.pass == nullptr ? QString() : to_qstring(row.pass->info.source);
    case heading_role:
      return row.pass == nullptr && !row.is_problem;
    case problem_role:
      return row.is_problem;
    default:
      return {};
  }
}

Qt::ItemFlags CatalogModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  if (pass(index.row()).isEmpty()) return Qt::ItemIsEnabled | Qt::ItemNeverHasChildren;
  return Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
}

}  // namespace jointer::views

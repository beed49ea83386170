#include "views/kernels/kernel_difference_list.h"

#include <QHeaderView>
#include <algorithm>
#include <utility>

#include "core/base/units.h"
#include "views/session/kernels/asked_kernels.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/session/text/number_text.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

using jointer::kernels::DifferenceRule;
using jointer::kernels::KernelComparison;
using jointer::kernels::KernelDifference;

constexpr int kMaxTreeHeight = 220, kMinTreeHeight = 80;
constexpr std::size_t kMaxNodeNames = 4;
constexpr int kNodesRole = Qt::UserRole;

enum TreeColumn : int { text_column, count_column, predicted_column, inductor_column };

// A rule with its differences in all parts. Equal rules of both halves of a pair are merged.
struct RuleOfParts {
  QString text;
  std::int64_t count = 0, predicted_bytes = 0, inductor_bytes = 0;
  std::vector<const KernelDifference*> differences;
};

std::vector<RuleOfParts> rules_of(const AskedAnswer& answer) {
  std::vector<RuleOfParts> rules;
  for (const AskedAnswer::Part& part : answer.parts) {
    const KernelComparison& made = part.against_prediction;
    std::vector<std::size_t> index_of;
    for (const DifferenceRule& rule : made.rules) {
      const QString text = to_qstring(
          to_text(rule, tr("the prediction").toStdString(), tr("Inductor").toStdString()));
      auto known = std::ranges::find(rules, text, &RuleOfParts::text);
      if (known == rules.end()) {
        rules.push_back({.text = text});
        known = rules.end() - 1;
      }
      known->count += rule.count;
      known->predicted_bytes += rule.first_bytes;
      known->inductor_bytes += rule.second_bytes;
      index_of.push_back(static_cast<std::size_t>(known - rules.begin()));
    }
    for (const KernelDifference& each : made.differences)
      rules[index_of[each.rule]].differences.push_back(&each);
  }
  std::ranges::stable_sort(rules, std::greater<>(), &RuleOfParts::count);
  return rules;
}

QString summary_of(const AskedAnswer& answer) {
  std::int64_t differences = 0, nodes = 0, elsewhere = 0, predicted_peak = 0, inductor_peak = 0;
  for (const AskedAnswer::Part& part : answer.parts) {
    const KernelComparison& made = part.against_prediction;
    differences += static_cast<std::int64_t>(made.differences.size());
    nodes += made.nodes;
    elsewhere += made.nodes_elsewhere;
    predicted_peak = std::max(predicted_peak, made.first.peak);
    inductor_peak = std::max(inductor_peak, made.second.peak);
  }
  if (differences == 0 && predicted_peak == inductor_peak)
    return tr("The prediction for torch %1 has the same kernels").arg(to_qstring(answer.torch));
  const double same =
      nodes == 0 ? 1.0 : static_cast<double>(nodes - elsewhere) / static_cast<double>(nodes);
  return tr("%1 from the prediction for torch %2 · %3 of nodes run in equal kernels · peak of the "
            "kernels %4, predicted %5")
      .arg(counted_text(differences, tr("1 difference"), tr("%1 differences")),
           to_qstring(answer.torch), to_qstring(format_percent(same)), bytes_text(inductor_peak),
           bytes_text(predicted_peak));
}

QString names_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  if (nodes.empty()) return tr("kernels without nodes of the graph");
  QStringList names;
  for (std::size_t i = 0; i < std::min(nodes.size(), kMaxNodeNames); ++i)
    names << to_qstring(graph.name(nodes[i]));
  QString text = names.join(QStringLiteral(", "));
  if (nodes.size() > kMaxNodeNames) text += tr(" +%1").arg(nodes.size() - kMaxNodeNames);
  return text;
}

QTreeWidgetItem* new_item(const QString& text, const QString& count, std::int64_t predicted_bytes,
                          std::int64_t inductor_bytes) {
  auto* item = new QTreeWidgetItem(
      QStringList{text, count, bytes_text(predicted_bytes), bytes_text(inductor_bytes)});
  for (const int column : {count_column, predicted_column, inductor_column})
    item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
  item->setToolTip(text_column, text);
  return item;
}

}  // namespace

KernelDifferenceList::KernelDifferenceList(Document& document, QWidget* parent)
    : QWidget(parent), document_(document) {
  QVBoxLayout* column = make_column(this, {}, 0);
  header_ = add_control(*column, new QToolButton(this), "differences",
                        tr("List the differences by kind and by the reason for not fusing"));
  header_->setCheckable(true);
  header_->setAutoRaise(true);
  header_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  header_->setArrowType(Qt::RightArrow);
  // The text may be wider than the pane.
  header_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  tree_ = add_control(*column, new QTreeWidget(this), "difference_tree", {},
                      tr("Differences from the predicted kernels"));
  tree_->setHeaderLabels({tr("difference"), tr("number"), tr("predicted"), tr("Inductor")});
  tree_->setUniformRowHeights(true);
  tree_->header()->setStretchLastSection(false);
  tree_->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
  tree_->header()->setSectionResizeMode(text_column, QHeaderView::Stretch);
  tree_->setMinimumHeight(kMinTreeHeight);
  tree_->setMaximumHeight(kMaxTreeHeight);
  tree_->hide();
  connect(header_, &QToolButton::toggled, this, [this](bool is_open) {
    header_->setArrowType(is_open ? Qt::DownArrow : Qt::RightArrow);
    tree_->setVisible(is_open);
    fill();
  });
  connect(tree_, &QTreeWidget::itemClicked, this, [this](QTreeWidgetItem* item) { select(*item); });
  connect(tree_, &QTreeWidget::itemActivated, this,
          [this](QTreeWidgetItem* item) { select(*item); });
  connect(&document_.shown_kernels(), &ShownKernels::changed, this, &KernelDifferenceList::refresh);
  refresh();
}

void KernelDifferenceList::refresh() {
  const AskedAnswerPtr& answer = document_.asked_kernels().answer();
  const bool is_shown = answer && document_.shown_kernels().source() == ShownKernels::Source::asked;
  setVisible(is_shown);
  if (!is_shown) return;
  header_->setText(summary_of(*answer));
  fill();
}

void KernelDifferenceList::fill() {
  const AskedAnswerPtr& answer = document_.asked_kernels().answer();
  if (!header_->isChecked() || !answer || answer == answer_) return;
  answer_ = answer;
  nodes_.clear();
  tree_->clear();
  const Graph& graph = answer_->kernels->snapshot()->graph;
  const auto remember = [this](QTreeWidgetItem* item, std::vector<NodeId> nodes) {
    item->setData(text_column, kNodesRole, static_cast<qulonglong>(nodes_.size()));
    nodes_.push_back(std::move(nodes));
  };
  for (const RuleOfParts& rule : rules_of(*answer_)) {
    QTreeWidgetItem* top =
        new_item(rule.text, count_text(rule.count), rule.predicted_bytes, rule.inductor_bytes);
    std::vector<NodeId> all;
    for (const KernelDifference* each : rule.differences) {
      all.insert(all.end(), each->nodes.begin(), each->nodes.end());
      if (top->childCount() == kMaxListed) continue;
      QTreeWidgetItem* item =
          new_item(names_of(graph, each->nodes), QString(), each->first_bytes, each->second_bytes);
      remember(item, each->nodes);
      top->addChild(item);
    }
    if (const auto more = static_cast<std::int64_t>(rule.differences.size()) - kMaxListed; more > 0)
      top->addChild(new QTreeWidgetItem(QStringList{tr("%1 more").arg(count_text(more))}));
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    remember(top, std::move(all));
    tree_->addTopLevelItem(top);
  }
}

void KernelDifferenceList::select(const QTreeWidgetItem& item) {
  const QVariant number = item.data(text_column, kNodesRole);
  if (!number.isValid()) return;
  // The differences may be of an earlier graph.
  std::vector<NodeId> nodes =
      document_.existing(nodes_[static_cast<std::size_t>(number.toULongLong())]);
  if (!nodes.empty()) document_.selection().select_all(std::move(nodes));
}

}  // namespace jointer::views

#include "views/tables/call_histogram.h"

#include <QToolButton>
#include <algorithm>
#include <numeric>

#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/widgets/bar_button.h"
#include "views/widgets/controls.h"
#include "views/widgets/elided_label.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxBins = 24;

}  // namespace

CallHistogram::CallHistogram(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("histogram"));
  QVBoxLayout* column = make_column(this, {}, 2);
  bar_ = new QWidget(this);
  QHBoxLayout* row = make_row(bar_, {kNarrowMargin, 0, kNarrowMargin, 0}, 2);
  label_ = new ElidedLabel(bar_);
  label_->setObjectName(QStringLiteral("distribution"));
  label_->setForegroundRole(QPalette::PlaceholderText);
  row->addWidget(label_, 1);
  quantity_ = new QButtonGroup(this);
  column->addWidget(bar_);
  plot_ = new HistogramPlot(this);
  column->addWidget(plot_);
  const auto add = [&](const QString& label, const QString& tip, Quantity quantity) {
    QToolButton* button = add_bar_button(*bar_, label, tip);
    button->setCheckable(true);
    quantity_->addButton(button, quantity);
  };
  add(tr("Time"),
      tr("Distribution of the calls' estimated device times in the step or, if a range is "
         "selected, in that range"),
      time);
  add(tr("Output"), tr("Distribution of the calls' output sizes"), bytes);
  quantity_->button(time)->setChecked(true);
  connect(quantity_, &QButtonGroup::idClicked, this, &CallHistogram::refresh);
  connect(plot_, &HistogramPlot::bin_chosen, this, [this](std::size_t bin) {
    const ValueBin& chosen = plot_->bins()[bin];
    emit calls_chosen({calls_.begin() + static_cast<std::ptrdiff_t>(chosen.first),
                       calls_.begin() + static_cast<std::ptrdiff_t>(chosen.last)});
  });
}

void CallHistogram::show_calls(SnapshotPtr snapshot, const QString& title,
                               const std::vector<NodeId>& nodes, RangeFiguresPtr figures) {
  snapshot_ = std::move(snapshot);
  title_ = title;
  calls_.clear();
  const Graph& graph = snapshot_->graph;
  figures_ = std::move(figures);
  for (const NodeId node : nodes)
    if (node.index() < graph.node_count() && graph.node(node).kind == NodeKind::call &&
        (!figures_ || figures_->contains(node)))
      calls_.push_back(node);
  setVisible(calls_.size() > 1);
  if (calls_.size() > 1) refresh();
}

void CallHistogram::fit(int height, int max_height) {
  const int min_plot = plot_->minimumSizeHint().height();
  const int others = bar_->sizeHint().height() + layout()->spacing();
  const int space = (height - others >= min_plot ? height : max_height) - others;
  plot_->setMaximumHeight(std::max(space, min_plot));
  plot_->setVisible(space >= min_plot);
  bar_->setToolTip(space >= min_plot ? QString() : tr("Make the pane taller to see the bars"));
}

std::int64_t CallHistogram::value(NodeId node) const {
  if (quantity() == bytes) return snapshot_->graph.output_bytes(snapshot_->graph.node(node));
  return figures_ ? figures_->ns(node) : snapshot_->analysis.costs[node.index()].ns;
}

QString CallHistogram::text(std::int64_t value) const {
  return quantity() == time ? time_text(value) : bytes_text(value);
}

void CallHistogram::refresh() {
  std::ranges::stable_sort(calls_, {}, [this](NodeId node) { return value(node); });
  std::vector<std::int64_t> values;
  values.reserve(calls_.size());
  for (const NodeId node : calls_) values.push_back(value(node));
  // The name comes last, since a narrow pane cuts off the end, and the selected row shows the name,
  // too.
  label_->setText(tr("%1, median %2, maximum %3 · %4")
                      .arg(counted_text(calls_.size(), tr("1 call"), tr("%1 calls")),
                           text(values[values.size() / 2]), text(values.back()), title_));
  const auto text_of = [this](std::int64_t each) { return text(each); };
  const auto tip_of = [this, values](const ValueBin& bin) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(bin.first);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(bin.last);
    const std::int64_t sum = std::accumulate(begin, end, std::int64_t{0});
    return tr("%1 of %2 to %3, %4 in total")
        .arg(counted_text(bin.count(), tr("1 call"), tr("%1 calls")), text(bin.low), text(bin.high),
             text(sum));
  };
  plot_->show_bins(value_bins(values, kMaxBins), text_of, tip_of);
  plot_->setAccessibleName(label_->text());
}

}  // namespace jointer::views

#include "views/find/find_bar.h"

#include <QKeyEvent>
#include <QScopedValueRollback>
#include <algorithm>

#include "views/session/open/go_to.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kMaxHistory = 30;
constexpr int kMinButton = 24;

QString help_html() {
  QString html = QStringLiteral("<table>");
  for (const auto& [query, meaning] : search_help())
    html += QStringLiteral(
                "<tr><td style=\"padding-right: 12px\"><code>%1</code></td><td>%2</td>"
                "</tr>")
                .arg(query.toHtmlEscaped(), meaning.toHtmlEscaped());
  return html + QStringLiteral("</table>");
}

}  // namespace

FindBar::FindBar(Document& document, QWidget* parent) : QWidget(parent), document_(document) {
  setAccessibleName(tr("Find"));
  setAutoFillBackground(true);
  QVBoxLayout* column = make_column(this, {}, 0);
  row_ = make_row(nullptr, {kNarrowMargin, kNarrowMargin / 2, kNarrowMargin, kNarrowMargin / 2},
                  kNarrowMargin / 2);
  column->addLayout(row_);
  edit_ = new QLineEdit(this);
  edit_->setPlaceholderText(
      tr("Find nodes:  text   op:mm   mod:layers.3   phase:bw   bytes>1MiB   /regex/   -op:view"));
  edit_->setToolTip(help_html());
  edit_->setClearButtonEnabled(true);
  edit_->setAccessibleName(tr("Search text"));
  edit_->installEventFilter(this);
  row_->addWidget(edit_, 1);
  status_ = add_control(*row_, new QLabel(this), "status");
  status_->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("00,000 of 00,000")));
  status_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  previous_ = add_button(QStringLiteral("‹"), tr("Previous (Shift+Enter)"));
  next_ = add_button(QStringLiteral("›"), tr("Next (Enter)"));
  all_ = add_button(tr("Select All"), tr("Select all matches (Ctrl+Enter)"));
  listing_ = add_button(tr("List"), tr("Show or hide a list of all matches"));
  listing_->setObjectName(QStringLiteral("listing"));
  listing_->setCheckable(true);
  QToolButton* close = add_button(QStringLiteral("×"), tr("Close (Esc)"));
  setFocusProxy(edit_);

  list_ = new HitList(this);
  list_->hide();
  column->addWidget(list_);
  connect(list_, &HitList::node_chosen, this, [this](NodeId node) {
    show_match(node);
    anchor_ = node;
    show_status();
  });
  connect(listing_, &QToolButton::toggled, list_, [this](bool is_shown) {
    list_->setVisible(is_shown);
    show_hits();
  });
  connect(edit_, &QLineEdit::textChanged, this, &FindBar::search);
  connect(previous_, &QToolButton::clicked, this, &FindBar::previous);
  connect(next_, &QToolButton::clicked, this, &FindBar::next);
  connect(all_, &QToolButton::clicked, this, &FindBar::select_all);
  connect(close, &QToolButton::clicked, this, &FindBar::close_bar);
  // Search the changed graph, but leave the selection alone.
  connect(&document_, &Document::changed, this, [this] {
    if (!isVisible()) return;
    update_matches();
    show_status();
  });
  connect(&document_.selection(), &Selection::nodes_changed, this, [this] {
    if (is_walking_) return;
    anchor_ = document_.selection().current();
    show_status();
  });
  show_status();
}

QToolButton* FindBar::add_button(const QString& text, const QString& tip) {
  auto* button = new QToolButton(this);
  button->setText(text);
  button->setToolTip(tip);
  button->setAccessibleName(tip);
  button->setAutoRaise(true);
  button->setMinimumSize(kMinButton, kMinButton);
  row_->addWidget(button);
  return button;
}

void FindBar::open() {
  show();
  anchor_ = document_.selection().current();
  edit_->setFocus(Qt::ShortcutFocusReason);
  edit_->selectAll();
  // The graph may have changed since the last search.
  if (searched_ != document_.shared_snapshot()) update_matches();
  show_status();
}

void FindBar::find(const QString& query) {
  open();
  edit_->setText(query);
}

void FindBar::update_matches() {
  if (searched_ != document_.shared_snapshot()) {
    searched_ = document_.shared_snapshot();
    search_ = std::make_unique<NodeSearch>(searched_);
  }
  error_.clear();
  matches_.clear();
  auto found = search_->find(std::string_view(edit_->text().toStdString()));
  if (found)
    matches_ = *std::move(found);
  else
    error_ = to_qstring(found.error().message);
}

void FindBar::search() {
  update_matches();
  recalled_ = -1;
  if (!matches_.empty()) {
    // Search from the node that was selected when typing began, so that typing more letters does
    // not skip matches.
    const Graph& graph = document_.graph();
    const std::size_t from = document_.has(anchor_) ? graph.position(anchor_) : 0;
    const auto at = std::find_if(matches_.begin(), matches_.end(),
                                 [&](NodeId node) { return graph.position(node) >= from; });
    show_match(at == matches_.end() ? matches_.front() : *at);
  }
  show_status();
}

void FindBar::show_match(NodeId node) {
  const QScopedValueRollback walking(is_walking_, true);
  go_to(document_, node);
}

void FindBar::walk(int direction) {
  // Next and Previous also work while the bar is closed, but changes of the graph then do not
  // update the matches.
  if (searched_ != document_.shared_snapshot()) update_matches();
  if (matches_.empty()) return;
  keep_in_history();
  const Graph& graph = document_.graph();
  const NodeId current = document_.selection().current();
  const auto count = static_cast<std::ptrdiff_t>(matches_.size());
  std::ptrdiff_t to = direction > 0 ? 0 : count - 1;
  if (document_.has(current)) {
    const auto before = [&](NodeId a, NodeId b) { return graph.position(a) < graph.position(b); };
    const auto [low, high] = std::equal_range(matches_.begin(), matches_.end(), current, before);
    to = direction > 0 ? high - matches_.begin() : low - matches_.begin() - 1;
    to = (to + count) % count;  // wrap around
  }
  show_match(matches_[static_cast<std::size_t>(to)]);
  anchor_ = document_.selection().current();
  show_status();
}

void FindBar::select_all() {
  if (matches_.empty()) return;
  keep_in_history();
  const NodeId current = document_.selection().current();
  const bool is_match = std::ranges::find(matches_, current) != matches_.end();
  document_.selection().select_all(matches_, is_match ? current : matches_.front());
}

void FindBar::close_bar() {
  keep_in_history();
  hide();
  emit closed();
}

void FindBar::show_status() {
  const bool is_bad = !error_.isEmpty();
  const bool is_idle = edit_->text().trimmed().isEmpty();
  QString text;
  if (is_bad) {
    text = error_;
  } else if (matches_.empty()) {
    text = is_idle ? QString() : tr("no match");
  } else {
    const auto at = std::find(matches_.begin(), matches_.end(), document_.selection().current());
    text = at == matches_.end()
               ? counted_text(matches_.size(), tr("1 match"), tr("%1 matches"))
               : tr("%1 of %2")
                     .arg(count_text(static_cast<std::size_t>(at - matches_.begin()) + 1),
                          count_text(matches_.size()));
  }
  status_->setText(text);
  status_->setToolTip(is_bad ? text : QString());
  QPalette colors = palette();
  const Theme& theme = Theme::of(colors);
  colors.setColor(QPalette::WindowText,
                  is_bad || (matches_.empty() && !is_idle) ? theme.warning : theme.muted_text);
  status_->setPalette(colors);
  // Leave half of the width to the input even if the error message is long.
  status_->setMaximumWidth(is_bad ? std::max(200, width() / 2) : QWIDGETSIZE_MAX);
  for (QToolButton* button : {previous_, next_, all_}) button->setEnabled(!matches_.empty());
  show_hits();
}

// Marks the matches in the views, and updates the list if it is visible.
void FindBar::show_hits() {
  if (!isVisible()) return;
  document_.selection().set_hits(matches_);
  if (list_->isVisible()) list_->show_nodes(searched_, matches_);
}

void FindBar::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  show_hits();
}

void FindBar::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  document_.selection().set_hits({});
}

void FindBar::keep_in_history() {
  const QString query = edit_->text().trimmed();
  if (query.isEmpty() || !error_.isEmpty() || history_.value(0) == query) return;
  history_.removeAll(query);
  history_.prepend(query);
  if (history_.size() > kMaxHistory) history_.removeLast();
  emit history_changed();
}

void FindBar::recall(int direction) {
  const int to = recalled_ + direction;
  if (to < -1 || to >= history_.size()) return;
  edit_->setText(to < 0 ? QString() : history_[to]);
  recalled_ = to;
}

bool FindBar::eventFilter(QObject* watched, QEvent* event) {
  // Keep window shortcuts from consuming the keys that the bar uses.
  const bool is_key = event->type() == QEvent::KeyPress;
  const bool is_override = event->type() == QEvent::ShortcutOverride;
  if (watched != edit_ || (!is_key && !is_override)) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool shift = key->modifiers().testFlag(Qt::ShiftModifier);
  const bool control = key->modifiers().testFlag(Qt::ControlModifier);
  switch (key->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_F3:
      if (is_override) break;
      if (control)
        select_all();
      else if (shift)
        previous();
      else
        next();
      return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
      if (is_override) break;
      recall(key->key() == Qt::Key_Up ? 1 : -1);
      return true;
    case Qt::Key_Escape:
      if (is_override) break;
      close_bar();
      return true;
    default:
      return QWidget::eventFilter(watched, event);
  }
  event->accept();
  return true;
}

void FindBar::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && status_ != nullptr) show_status();
}

}  // namespace jointer::views

#include "views/pipeline/pass_catalog.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QPushButton>
#include <QScreen>
#include <QStyledItemDelegate>
#include <algorithm>

#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kCatalogWidth = 640, kCatalogHeight = 460, kPadding = 4;

// Paints the name of a pass above its summary, and headings in a small font.
class CatalogDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override {
    const int small = QFontMetrics(small_font(option.font)).height();
    const bool is_pass = !index.data(CatalogModel::summary_role).toString().isEmpty();
    return {kCatalogWidth / 2, is_pass ? option.fontMetrics.height() + small + 2 * kPadding
                                       : small + 2 * kPadding + 2};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Theme& theme = Theme::of(option.palette);
    const bool is_selected = (option.state & QStyle::State_Selected) != 0;
    const QFont small = small_font(option.font);
    const QFontMetrics small_metrics(small);
    painter->save();
    QRect rect = option.rect.adjusted(kMargin, kPadding, -kMargin, -kPadding);
    const QString title = index.data(Qt::DisplayRole).toString();
    const QString summary = index.data(CatalogModel::summary_role).toString();
    if (summary.isEmpty()) {
      const bool is_problem = index.data(CatalogModel::problem_role).toBool();
      if (!is_problem) painter->fillRect(option.rect, theme.window);
      painter->setFont(small);
      painter->setPen(is_problem ? theme.error : theme.muted_text);
      painter->drawText(rect, Qt::AlignLeft | Qt::AlignVCenter,
                        small_metrics.elidedText(title, Qt::ElideRight, rect.width()));
      painter->restore();
      return;
    }
    if (is_selected) painter->fillRect(option.rect, theme.accent);
    const QColor muted = is_selected ? theme.accent_text : theme.muted_text;
    painter->setFont(small);
    painter->setPen(muted);
    const QString source = small_metrics.elidedText(
        index.data(CatalogModel::source_role).toString(), Qt::ElideMiddle, rect.width() / 2);
    painter->drawText(rect, Qt::AlignRight | Qt::AlignTop, source);
    const int room = rect.width() - small_metrics.horizontalAdvance(source) - kMargin;
    painter->drawText(rect, Qt::AlignLeft | Qt::AlignBottom,
                      small_metrics.elidedText(summary, Qt::ElideRight, rect.width()));
    const QFont bold = bold_font(option.font);
    painter->setFont(bold);
    painter->setPen(is_selected ? theme.accent_text : theme.text);
    painter->drawText(rect, Qt::AlignLeft | Qt::AlignTop,
                      QFontMetrics(bold).elidedText(title, Qt::ElideRight, room));
    painter->restore();
  }
};

}  // namespace

PassCatalog::PassCatalog(PassService& service, QWidget* parent)
    : QFrame(parent, Qt::Popup), service_(service), model_(new CatalogModel(this)) {
  setFrameShape(StyledPanel);
  setAccessibleName(tr("Passes"));
  resize(kCatalogWidth, kCatalogHeight);
  QVBoxLayout* column = make_column(this, {kMargin, kMargin, kMargin, kMargin}, 6);
  edit_ = add_control(*column, new QLineEdit(this), nullptr, {}, tr("Search passes"));
  edit_->setPlaceholderText(tr("Search by name or description"));
  edit_->setClearButtonEnabled(true);
  edit_->installEventFilter(this);
  list_ = new QListView(this);
  list_->setModel(model_);
  list_->setItemDelegate(new CatalogDelegate(list_));
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setMouseTracking(true);
  list_->setVerticalScrollMode(QListView::ScrollPerPixel);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setAccessibleName(tr("Passes"));
  column->addWidget(list_, 1);
  auto* row = new QHBoxLayout;
  auto* hint =
      new QLabel(tr("Enter adds a pass; Shift+Enter adds it and keeps this list open"), this);
  hint->setForegroundRole(QPalette::PlaceholderText);
  hint->setFont(small_font(font()));
  row->addWidget(hint, 1);
  const auto add_button = [&](const QString& text, void (PassCatalog::*wanted)()) {
    auto* button = new QPushButton(text, this);
    button->setAutoDefault(false);
    connect(button, &QPushButton::clicked, this, [this, wanted] {
      hide();
      (this->*wanted)();
    });
    row->addWidget(button);
  };
  add_button(tr("Add Plugin..."), &PassCatalog::plugin_wanted);
  add_button(tr("Add Python Pass..."), &PassCatalog::python_wanted);
  column->addLayout(row);
  connect(edit_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_->set_text(text);
    select_first();
  });
  connect(list_, &QListView::clicked, this,
          [this](const QModelIndex& index) { choose(index, false); });
  connect(&service_, &PassService::changed, this, &PassCatalog::refresh);
  refresh();
}

void PassCatalog::refresh() {
  model_->set_passes(service_.registry(), service_.problems());
  select_first();
}

void PassCatalog::select_first() {
  const int row = model_->first_pass();
  list_->setCurrentIndex(model_->index(row));
  if (edit_->text().isEmpty()) list_->scrollToTop();
}

void PassCatalog::open(const QWidget& at) {
  edit_->clear();
  const QPoint below = at.mapToGlobal(QPoint(0, at.height() + 2));
  const QRect screen = at.screen()->availableGeometry();
  QPoint place(std::min(below.x(), screen.right() - width()), below.y());
  if (place.y() + height() > screen.bottom())
    place.setY(std::max(screen.top(), screen.bottom() - height()));
  move(std::max(screen.left(), place.x()), place.y());
  show();
  edit_->setFocus();
}

void PassCatalog::choose(const QModelIndex& index, bool stays) {
  const QString pass = model_->pass(index.row());
  if (pass.isEmpty()) return;
  if (!stays) hide();
  emit chosen(pass);
}

void PassCatalog::move_current(int by) {
  const int count = model_->rowCount();
  int row = list_->currentIndex().row();
  do row += by;
  while (row >= 0 && row < count && model_->pass(row).isEmpty());
  if (row >= 0 && row < count) list_->setCurrentIndex(model_->index(row));
}

bool PassCatalog::eventFilter(QObject* watched, QEvent* event) {
  if (watched != edit_ || event->type() != QEvent::KeyPress)
    return QFrame::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  constexpr int kPage = 8;
  switch (key->key()) {
    case Qt::Key_Up:
      move_current(-1);
      return true;
    case Qt::Key_Down:
      move_current(1);
      return true;
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
      for (int i = 0; i < kPage; ++i) move_current(key->key() == Qt::Key_PageUp ? -1 : 1);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      choose(list_->currentIndex(), key->modifiers().testFlag(Qt::ShiftModifier));
      return true;
    case Qt::Key_Escape:
      hide();
      return true;
    default:
      return QFrame::eventFilter(watched, event);
  }
}

}  // namespace jointer::views

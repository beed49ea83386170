#include "views/sac/budget_control.h"

#include <QKeyEvent>
#include <QProxyStyle>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kParts = 1000, kPage = 50, kStep = 10;
// Widths of the slider in pixels: the minimum if it must share a row with other controls, the
// preferred minimum, and the maximum.
constexpr int kMinSlider = 48, kMinFreeSlider = 72, kMaxSlider = 220;
constexpr double kBudgetStep = 0.05;

// A style in which pressing the left button anywhere on a slider moves the handle there.
class JumpingStyle : public QProxyStyle {
 public:
  using QProxyStyle::QProxyStyle;
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override {
    if (hint == SH_Slider_AbsoluteSetButtons) return Qt::LeftButton;
    return QProxyStyle::styleHint(hint, option, widget, data);
  }
};

constexpr int kBudgetDecimals = 9;

// A spin box that shows no trailing zeros.
class ExactBox : public QDoubleSpinBox {
 public:
  using QDoubleSpinBox::QDoubleSpinBox;
  [[nodiscard]] QString textFromValue(double value) const override {
    return locale().toString(value, 'f', QLocale::FloatingPointShortest);
  }
  // Makes the box wide enough for all decimals: QDoubleSpinBox measures only the minimum and the
  // maximum, which are shown without decimals.
  [[nodiscard]] QSize sizeHint() const override {
    QSize size = QDoubleSpinBox::sizeHint();
    const QString max_text = textFromValue(maximum()),
                  widest = locale().toString(0.0, 'f', decimals());
    size.rwidth() +=
        fontMetrics().horizontalAdvance(widest) - fontMetrics().horizontalAdvance(max_text);
    return size;
  }
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }
};

}  // namespace

BudgetControl::BudgetControl(QWidget* parent) : QWidget(parent) {
  QHBoxLayout* row = make_row(this, {}, 6);
  unit_ = add_control(
      *row, new QComboBox(this), "unit",
      tr("Budget: torch's activation_memory_budget. 1 saves the values of the min cut, and 0 saves "
         "only inputs; in between, a knapsack solver decides which values are worth saving. In a "
         "flat training step, 1 saves the values that the backward reads as traced, and 0 only "
         "those that cannot be recomputed.\n"
         "Peak: the fastest plan found within this peak memory.\n"
         "Reserved: the same for the memory that torch's caching allocator reserves."),
      tr("Quantity to limit"));
  unit_->addItem(tr("Budget"), static_cast<int>(Unit::budget));
  unit_->addItem(tr("Peak"), static_cast<int>(Unit::peak));
  slider_ = add_control(
      *row, new QSlider(Qt::Horizontal, this), nullptr,
      tr("Drag to preview the numbers and curves of a new plan. Release the slider or press Enter "
         "to use the plan."),
      tr("Budget or limit"));
  slider_->setRange(0, kParts);
  slider_->setPageStep(kPage);
  slider_->setSingleStep(kStep);
  slider_->setFixedWidth(kMinFreeSlider);
  auto* style = new JumpingStyle;
  style->setParent(slider_);
  slider_->setStyle(style);
  slider_->installEventFilter(this);
  budget_box_ = new ExactBox(this);
  budget_box_->setAccessibleName(tr("Activation budget"));
  budget_box_->setRange(0, 1);
  budget_box_->setDecimals(kBudgetDecimals);
  budget_box_->setSingleStep(kBudgetStep);
  add_box(*budget_box_);
  limit_box_ = new ByteBox(this);
  add_box(*limit_box_);
  connect(unit_, &QComboBox::currentIndexChanged, this, [this] {
    show_box();
    emit unit_changed();
  });
  connect(slider_, &QSlider::valueChanged, this, &BudgetControl::follow_slider);
  connect(slider_, &QSlider::sliderReleased, this, [this] {
    if (box().value() != pressed_at_) emit chosen();
  });
  show_box();
}

void BudgetControl::add_box(QDoubleSpinBox& box) {
  box.installEventFilter(this);
  layout()->addWidget(&box);
  connect(&box, &QDoubleSpinBox::valueChanged, this, &BudgetControl::follow_box);
}

void BudgetControl::fit(int pane_width, int width) {
  const int space = width - (sizeHint().width() - slider_->minimumWidth());
  const int wanted = std::clamp(pane_width / 5, kMinFreeSlider, kMaxSlider);
  slider_->setFixedWidth(space < kMinSlider ? wanted : std::min(wanted, space));
}

std::optional<std::int64_t> BudgetControl::limit() const {
  if (!is_limit()) return std::nullopt;
  return limit_box_->bytes();
}

void BudgetControl::set_memory(LimitedMemory memory) {
  if (!is_limit() || memory == this->memory()) return;
  const QSignalBlocker no_unit(unit_);
  unit_->setCurrentIndex(unit_->findData(
      static_cast<int>(memory == LimitedMemory::reserved ? Unit::reserved : Unit::peak)));
  show_box();
}

void BudgetControl::show_budget(double budget) {
  budget_ = budget;
  if (!is_limit()) show_box();
}

void BudgetControl::show_bytes(const Bytes& peak, const std::optional<Bytes>& reserved) {
  const Bytes before = bytes();
  peak_ = peak;
  reserved_ = reserved;
  const int item = unit_->findData(static_cast<int>(Unit::reserved));
  if (reserved && item < 0) unit_->addItem(tr("Reserved"), static_cast<int>(Unit::reserved));
  if (!reserved && item >= 0) unit_->removeItem(item);
  if (is_limit() && bytes() != before) show_box();
}

// Shows the plan's values in the fields and discards user input.
void BudgetControl::show_box() {
  const QSignalBlocker no_budget(budget_box_), no_limit(limit_box_);
  budget_box_->setValue(budget_);
  limit_box_->setMaximum(static_cast<double>(std::max(bytes().max, bytes().plan)));
  limit_box_->set_bytes(bytes().plan);
  limit_box_->setAccessibleName(unit() == Unit::reserved ? tr("Maximum reserved memory")
                                                         : tr("Maximum peak memory"));
  budget_box_->setVisible(!is_limit());
  limit_box_->setVisible(is_limit());
  place_slider();
}

void BudgetControl::place_slider() {
  const QSignalBlocker no_trial(slider_);
  const double low = is_limit() ? static_cast<double>(bytes().min) : 0;
  const double high = is_limit() ? static_cast<double>(std::max(bytes().max, bytes().min + 1)) : 1;
  slider_->setValue(static_cast<int>(std::lround((box().value() - low) / (high - low) * kParts)));
}

void BudgetControl::follow_slider() {
  const double share = static_cast<double>(slider_->value()) / kParts;
  const QSignalBlocker once(box());
  if (is_limit())
    limit_box_->setValue(static_cast<double>(bytes().min) +
                         share * static_cast<double>(bytes().max - bytes().min));
  else
    budget_box_->setValue(share);
  emit tried();
}

void BudgetControl::follow_box() {
  place_slider();
  emit tried();
}

bool BudgetControl::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
      box().interpretText();
      emit chosen();
      return true;
    }
  }
  if (watched == slider_ && event->type() == QEvent::MouseButtonPress) pressed_at_ = box().value();
  return QWidget::eventFilter(watched, event);
}

}  // namespace jointer::views

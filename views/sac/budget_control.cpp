#include "views/sac/budget_control.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QProxyStyle>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

namespace jointer::views {
namespace {

constexpr int kParts = 1000, kPage = 50, kStep = 10, kLeastSlider = 72, kMostSlider = 220;
constexpr double kBudgetStep = 0.05, kGib = 1 << 30;

// A press anywhere takes the handle there.
class JumpingStyle : public QProxyStyle {
 public:
  using QProxyStyle::QProxyStyle;
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override {
    if (hint == SH_Slider_AbsoluteSetButtons) return Qt::LeftButton;
    return QProxyStyle::styleHint(hint, option, widget, data);
  }
};

}  // namespace

BudgetControl::BudgetControl(QWidget* parent) : QWidget(parent) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  unit_ = new QComboBox(this);
  unit_->addItems({tr("budget"), tr("peak")});
  unit_->setAccessibleName(tr("What is limited"));
  unit_->setToolTip(
      tr("budget: torch's activation_memory_budget. 1 keeps what the cut keeps, 0 keeps inputs "
         "only; between them a knapsack decides what is worth its memory.\n"
         "peak: the largest budget whose plan has at most that peak memory."));
  row->addWidget(unit_);
  slider_ = new QSlider(Qt::Horizontal, this);
  slider_->setRange(0, kParts);
  slider_->setPageStep(kPage);
  slider_->setSingleStep(kStep);
  fit(0);
  slider_->setAccessibleName(tr("Budget"));
  slider_->setToolTip(
      tr("While it is dragged, figures and curves show what solving would give; "
         "letting go solves. With keys: Enter solves."));
  auto* style = new JumpingStyle;
  style->setParent(slider_);
  slider_->setStyle(style);
  slider_->installEventFilter(this);
  row->addWidget(slider_);
  box_ = new QDoubleSpinBox(this);
  box_->setAccessibleName(tr("Activation budget"));
  box_->installEventFilter(this);
  row->addWidget(box_);
  connect(unit_, &QComboBox::currentIndexChanged, this, &BudgetControl::change_unit);
  connect(slider_, &QSlider::valueChanged, this, &BudgetControl::follow_slider);
  connect(box_, &QDoubleSpinBox::valueChanged, this, &BudgetControl::follow_box);
  connect(slider_, &QSlider::sliderReleased, this, [this] {
    if (box_->value() != pressed_at_) emit chosen();
  });
  change_unit();
}

void BudgetControl::fit(int pane_width) {
  slider_->setFixedWidth(std::clamp(pane_width / 5, kLeastSlider, kMostSlider));
}

double BudgetControl::budget() const {
  return is_peak() ? budget_ : box_->value();
}

std::optional<std::int64_t> BudgetControl::most_peak() const {
  if (!is_peak()) return std::nullopt;
  return static_cast<std::int64_t>(box_->value() * kGib);
}

void BudgetControl::show_plan(double budget, std::int64_t peak_bytes, std::int64_t least_bytes,
                              std::int64_t most_bytes) {
  budget_ = budget;
  peak_ = peak_bytes;
  least_ = least_bytes;
  most_ = std::max(most_bytes, least_bytes + 1);
  change_unit();
}

void BudgetControl::change_unit() {
  const QSignalBlocker no_trial(box_);
  if (is_peak()) {
    box_->setRange(0, std::ceil(static_cast<double>(most_) / kGib * 100) / 100);
    box_->setDecimals(2);
    box_->setSingleStep(1);
    box_->setSuffix(tr(" GiB"));
    box_->setAccessibleName(tr("Most peak memory"));
    // Rounded up: the plan that is shown fits.
    box_->setValue(std::ceil(static_cast<double>(peak_) / kGib * 100) / 100);
  } else {
    box_->setRange(0, 1);
    box_->setDecimals(3);
    box_->setSingleStep(kBudgetStep);
    box_->setSuffix({});
    box_->setAccessibleName(tr("Activation budget"));
    box_->setValue(budget_);
  }
  place_slider();
}

void BudgetControl::place_slider() {
  const QSignalBlocker no_trial(slider_);
  const double value = box_->value();
  const double low = is_peak() ? static_cast<double>(least_) / kGib : 0;
  const double high = is_peak() ? static_cast<double>(most_) / kGib : 1;
  slider_->setValue(static_cast<int>(std::lround((value - low) / (high - low) * kParts)));
}

void BudgetControl::follow_slider() {
  const double share = static_cast<double>(slider_->value()) / kParts;
  const QSignalBlocker once(box_);
  box_->setValue(
      is_peak() ? (static_cast<double>(least_) + share * static_cast<double>(most_ - least_)) / kGib
                : share);
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
      box_->interpretText();
      emit chosen();
      return true;
    }
  }
  if (watched == slider_ && event->type() == QEvent::MouseButtonPress) pressed_at_ = box_->value();
  return QWidget::eventFilter(watched, event);
}

}  // namespace jointer::views

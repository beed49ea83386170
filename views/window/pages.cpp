#include "views/window/pages.h"

#include <QHBoxLayout>
#include <QLabel>

#include "core/open/open.h"
#include "views/widgets/button_text.h"
#include "views/widgets/controls.h"
#include "views/widgets/wrapped_text.h"
#include "views/window/recent_files.h"

namespace jointer::views {
namespace {

constexpr int kPageWidth = 520;
constexpr int kButtonHeight = 28;
constexpr int kLinkMargin = 16;

}  // namespace

Page::Page(QWidget* parent) : QScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setWidgetResizable(true);
  auto* page = new QWidget(this);
  auto* outer = new QVBoxLayout(page);
  auto* middle = new QHBoxLayout;
  auto* box = new QWidget(page);
  box->setFixedWidth(kPageWidth);
  column_ = new QVBoxLayout(box);
  column_->setSpacing(10);
  // Use stretches: with an alignment, the label would get the height that its text has at full
  // width.
  middle->addStretch();
  middle->addWidget(box);
  middle->addStretch();
  outer->addStretch(2);
  outer->addLayout(middle);
  outer->addStretch(3);
  setWidget(page);
}

void Page::set_heading(const QString& text) {
  setAccessibleName(text);
  auto* label = new WrappedText(text, this);
  QFont font = label->font();
  font.setPixelSize(QFontInfo(font).pixelSize() + 7);
  font.setBold(true);
  label->setFont(font);
  column_->insertWidget(0, label);
}

EmptyPage::EmptyPage(QWidget* parent) : Page(parent) {
  setObjectName(QStringLiteral("EmptyPage"));
  QVBoxLayout* column = this->column();
  set_heading(tr("No graph open"));
  column->addWidget(new WrappedText(tr("Drop a file here: %1. Drop both files of a pair together.")
                                        .arg(QString::fromStdString(formats_text())),
                                    this));
  auto* buttons = new QHBoxLayout;
  auto* open = new QPushButton(tr("Open..."), this);
  open->setDefault(true);
  auto* sample = new QPushButton(tr("Open the Llama 8B Sample"), this);
  for (QPushButton* button : {open, sample})
    button->setMinimumSize(button->sizeHint().width() + 24, kButtonHeight);
  buttons->addWidget(open);
  buttons->addWidget(sample);
  buttons->addStretch(1);
  column->addLayout(buttons);
  recent_ = new QWidget(this);
  make_column(recent_, {0, 8, 0, 0}, 2);
  column->addWidget(recent_);
  auto* capture = new QLabel(tr("To capture your own model, run<br><code>jointer capture -- python "
                                "train.py</code><br>or see docs/capturing.md."),
                             this);
  capture->setWordWrap(true);
  capture->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  capture->setForegroundRole(QPalette::PlaceholderText);
  column->addWidget(capture);
  connect(open, &QPushButton::clicked, this, &EmptyPage::open_requested);
  connect(sample, &QPushButton::clicked, this, &EmptyPage::sample_requested);
}

void EmptyPage::set_recent(const QStringList& files) {
  QLayout* list = recent_->layout();
  while (QLayoutItem* item = list->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  if (files.isEmpty()) return;
  auto* title = new QLabel(tr("Recent"), recent_);
  title->setForegroundRole(QPalette::PlaceholderText);
  list->addWidget(title);
  for (const QString& file : files) {
    auto* link = new QPushButton(recent_);
    const QString label = RecentFiles::label(file);
    link->setText(button_text(
        link->fontMetrics().elidedText(label, Qt::ElideMiddle, kPageWidth - 2 * kLinkMargin)));
    link->setAccessibleName(label);  // not elided
    link->setFlat(true);
    link->setToolTip(file);
    link->setStyleSheet(QStringLiteral("text-align: left; padding: 3px;"));
    connect(link, &QPushButton::clicked, this, [this, file] { emit file_requested(file); });
    list->addWidget(link);
  }
}

LoadingPage::LoadingPage(const QString& name, QWidget* parent) : Page(parent) {
  QVBoxLayout* column = this->column();
  set_heading(tr("Opening %1").arg(name));
  bar_ = new QProgressBar(this);
  bar_->setAccessibleName(tr("Progress"));
  bar_->setRange(0, 1000);
  bar_->setTextVisible(false);
  bar_->setMinimumWidth(kPageWidth - 40);
  column->addWidget(bar_);
  what_ = new QLabel(this);
  what_->setForegroundRole(QPalette::PlaceholderText);
  column->addWidget(what_);
  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setShortcut(Qt::Key_Escape);
  column->addWidget(cancel, 0, Qt::AlignLeft);
  connect(cancel, &QPushButton::clicked, this, &LoadingPage::cancel_requested);
  show_progress(0, tr("Reading the file"), -1);
}

void LoadingPage::show_progress(double fraction, const QString& what, qint64 left_ms) {
  bar_->setValue(static_cast<int>(fraction * 1000));
  what_->setText(left_ms >= 1000 ? tr("%1, about %2 s left").arg(what).arg((left_ms + 500) / 1000)
                                 : what);
}

ErrorPage::ErrorPage(const QString& name, const QString& message, QWidget* parent) : Page(parent) {
  setObjectName(QStringLiteral("ErrorPage"));
  QVBoxLayout* column = this->column();
  set_heading(tr("Could not open %1").arg(name));
  add_control(*column, new WrappedText(message, this), "message");
  auto* buttons = new QHBoxLayout;
  auto* retry = new QPushButton(tr("Try Again"), this);
  auto* open = new QPushButton(tr("Open Another File..."), this);
  buttons->addWidget(retry);
  buttons->addWidget(open);
  buttons->addStretch(1);
  column->addLayout(buttons);
  connect(retry, &QPushButton::clicked, this, &ErrorPage::retry_requested);
  connect(open, &QPushButton::clicked, this, &ErrorPage::open_requested);
}

}  // namespace jointer::views

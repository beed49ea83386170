#include "views/pipeline/pipeline_text_page.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QFontDatabase>
#include <QFontInfo>
#include <QHBoxLayout>
#include <QMimeData>
#include <QPushButton>
#include <QScopedValueRollback>
#include <algorithm>

#include "core/pass/pipeline_file.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

// The window handles dropped files; their paths must not be inserted as text.
class StepsEdit : public QPlainTextEdit {
 public:
  using QPlainTextEdit::QPlainTextEdit;

 protected:
  [[nodiscard]] bool canInsertFromMimeData(const QMimeData* source) const override {
    return !source->hasUrls() && QPlainTextEdit::canInsertFromMimeData(source);
  }
};

}  // namespace

PipelineTextPage::PipelineTextPage(PipelineSession& session, QWidget* parent)
    : QWidget(parent), session_(session) {
  QVBoxLayout* column = make_column(this, {kMargin, kMargin, kMargin, kMargin}, 4);
  edit_ = new StepsEdit(this);
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPixelSize(QFontInfo(font()).pixelSize());
  edit_->setFont(fixed);
  edit_->setAccessibleName(tr("The pipeline as text"));
  edit_->setPlaceholderText(
      QStringLiteral("apply_sac{save=[aten.mm]}\nmin_cut_partition\n# ") +
      tr("one step per line, or steps separated by commas; ~ before a step disables it"));
  edit_->setTabChangesFocus(true);
  edit_->setLineWrapMode(QPlainTextEdit::WidgetWidth);
  column->addWidget(edit_, 1);
  auto* row = new QHBoxLayout;
  said_ = make_text_label(this, 0, Qt::PlainText);
  said_->setObjectName(QStringLiteral("message"));
  row->addWidget(said_, 1);
  auto* copy = new QPushButton(tr("Copy as One Line"), this);
  copy->setToolTip(tr("Copy the pipeline in the form that `jointer apply --passes` accepts"));
  connect(copy, &QPushButton::clicked, this, [this] {
    QApplication::clipboard()->setText(
        QString::fromStdString(to_text(session_.draft().pipeline())));
  });
  row->addWidget(copy, 0, Qt::AlignTop);
  column->addLayout(row);
  connect(edit_, &QPlainTextEdit::textChanged, this, &PipelineTextPage::parse_text);
  connect(&session_, &PipelineSession::changed, this, &PipelineTextPage::show_draft);
  show_draft();
}

// If the text already describes the draft, keep it as written, including comments.
void PipelineTextPage::show_draft() {
  if (is_showing_) return;
  const auto written = parse_step_lines(edit_->toPlainText().toStdString());
  if (written && *written == session_.draft().pipeline()) return;
  // Do not replace invalid text that the user is editing.
  if (!written && edit_->hasFocus()) return;
  const QScopedValueRollback showing(is_showing_, true);
  edit_->setPlainText(session_.draft().text());
  mark(std::nullopt, {});
}

void PipelineTextPage::parse_text() {
  if (is_showing_) return;
  const std::string text = edit_->toPlainText().toStdString();
  std::size_t at = 0;
  const auto pipeline = parse_step_lines(text, &at);
  if (!pipeline) {
    // The position is in bytes, and a non-ASCII character has several bytes.
    const auto letters = QString::fromUtf8(text.data(), static_cast<qsizetype>(at)).size();
    return mark(static_cast<int>(letters), QString::fromStdString(pipeline.error().message));
  }
  const QScopedValueRollback showing(is_showing_, true);
  session_.draft().set_pipeline(*pipeline);
  mark(std::nullopt, {});
}

void PipelineTextPage::mark(std::optional<int> at, const QString& sentence) {
  mistake_ = sentence;
  mistake_at_ = at;
  const Theme& theme = Theme::of(palette());
  QList<QTextEdit::ExtraSelection> marks;
  if (at) {
    QTextEdit::ExtraSelection wrong;
    wrong.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    wrong.format.setUnderlineColor(theme.error);
    wrong.format.setForeground(theme.error);
    const int last = std::max(0, edit_->document()->characterCount() - 1);
    wrong.cursor = QTextCursor(edit_->document());
    // At the end of the text, only the preceding character can be marked.
    wrong.cursor.setPosition(std::min(*at, std::max(0, last - 1)));
    wrong.cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::KeepAnchor);
    marks << wrong;
  }
  edit_->setExtraSelections(marks);
  set_color(*said_, at ? theme.error : theme.muted_text);
  said_->setText(at ? tr("Not applied: %1").arg(sentence) : tr("Changes are applied as you type."));
}

void PipelineTextPage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && said_ != nullptr) mark(mistake_at_, mistake_);
}

}  // namespace jointer::views

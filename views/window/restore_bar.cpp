#include "views/window/restore_bar.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>

namespace jointer::views {
namespace {

constexpr int kMaxShown = 5;

}  // namespace

RestoreBar::RestoreBar(const QString& sentence, const QStringList& refused, bool can_discard,
                       QWidget* parent)
    : QFrame(parent) {
  setObjectName(QStringLiteral("restore_bar"));
  setFrameShape(QFrame::StyledPanel);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(10, 4, 6, 4);
  auto* text = new QLabel(sentence, this);
  text->setTextFormat(Qt::PlainText);
  text->setWordWrap(true);
  if (!refused.isEmpty()) {
    text->setText(sentence + u' ' +
                  (refused.size() == 1
                       ? tr("1 edit no longer applies and was skipped: ")
                       : tr("%1 edits no longer apply and were skipped: ").arg(refused.size())) +
                  QStringList(refused.mid(0, kMaxShown)).join(QStringLiteral("; ")) +
                  (refused.size() > kMaxShown ? QStringLiteral(" ...") : QString()));
    text->setToolTip(refused.join(u'\n'));
  }
  row->addWidget(text, 1);
  auto* keep = new QPushButton(can_discard ? tr("Keep") : tr("Close"), this);
  keep->setObjectName(QStringLiteral("keep"));
  connect(keep, &QPushButton::clicked, this, [this] {
    hide();
    deleteLater();
    emit kept();
  });
  row->addWidget(keep);
  if (!can_discard) return;
  auto* discard = new QPushButton(tr("Discard"), this);
  discard->setObjectName(QStringLiteral("discard"));
  discard->setToolTip(tr("Return to the saved graph, or to the graph as opened"));
  connect(discard, &QPushButton::clicked, this, [this] {
    hide();
    deleteLater();
    emit discarded();
  });
  row->addWidget(discard);
}

QString restored_text(int edits, const QString& title, std::int64_t changed_at) {
  const QString what = edits == 1 ? RestoreBar::tr("Restored 1 edit of %1").arg(title)
                                  : RestoreBar::tr("Restored %1 edits of %2").arg(edits).arg(title);
  if (changed_at == 0) return what + u'.';
  const QDateTime then = QDateTime::fromSecsSinceEpoch(changed_at);
  const QString time = QLocale().toString(then.time(), QStringLiteral("HH:mm"));
  if (then.date() == QDate::currentDate())
    return RestoreBar::tr("%1, last changed at %2.").arg(what, time);
  return RestoreBar::tr("%1, last changed on %2 at %3.")
      .arg(what, QLocale().toString(then.date(), QLocale::ShortFormat), time);
}

}  // namespace jointer::views

#include "views/window/restore_bar.h"

#include <QDateTime>
#include <QLocale>
#include <QPushButton>

#include "views/widgets/controls.h"
#include "views/widgets/wrapped_text.h"

namespace jointer::views {
namespace {

constexpr int kMaxShown = 5;

// "1 edit, 2 marks and the pipeline"
QString listed(QStringList parts) {
  const QString last = parts.takeLast();
  return parts.isEmpty() ? last
                         : RestoreBar::tr("%1 and %2").arg(parts.join(QStringLiteral(", ")), last);
}

// Undone edits and named states are restored along with the edits, so they are mentioned only if no
// edits were restored.
QStringList parts_of(const RestoredWork& work) {
  QStringList parts;
  const auto add = [&parts](int count, const QString& one, const QString& several) {
    if (count > 0) parts << (count == 1 ? one : several.arg(count));
  };
  add(work.edits, RestoreBar::tr("1 edit"), RestoreBar::tr("%1 edits"));
  if (work.edits == 0) {
    add(work.undone, RestoreBar::tr("1 undone edit"), RestoreBar::tr("%1 undone edits"));
    add(work.states, RestoreBar::tr("1 named state"), RestoreBar::tr("%1 named states"));
  }
  add(work.marks, RestoreBar::tr("1 mark"), RestoreBar::tr("%1 marks"));
  add(work.kernel_moves, RestoreBar::tr("1 kernel move"), RestoreBar::tr("%1 kernel moves"));
  if (work.has_pipeline) parts << RestoreBar::tr("the pipeline");
  if (work.has_options) parts << RestoreBar::tr("the estimate options");
  if (work.has_assumptions) parts << RestoreBar::tr("the assumptions");
  return parts;
}

}  // namespace

RestoreBar::RestoreBar(const QString& sentence, const QStringList& refused, bool can_discard,
                       QWidget* parent)
    : QFrame(parent) {
  setObjectName(QStringLiteral("restore_bar"));
  setFrameShape(QFrame::StyledPanel);
  QHBoxLayout* row = make_row(this, {10, 4, 6, 4});
  auto* text = new WrappedText(sentence, this);
  if (!refused.isEmpty()) {
    text->set_text((sentence.isEmpty() ? QString() : sentence + u' ') +
                   (refused.size() == 1
                        ? tr("1 edit no longer applies and was skipped: ")
                        : tr("%1 edits no longer apply and were skipped: ").arg(refused.size())) +
                   QStringList(refused.mid(0, kMaxShown)).join(QStringLiteral("; ")) +
                   (refused.size() > kMaxShown ? QStringLiteral(" ...") : QString()));
    text->setToolTip(refused.join(u'\n'));
  }
  row->addWidget(text, 1, Qt::AlignVCenter);
  const auto add = [&](const QString& answer, const char* name, const QString& tip,
                       void (RestoreBar::*answered)()) {
    connect(add_control(*row, new QPushButton(answer, this), name, tip), &QPushButton::clicked,
            this, [this, answered] {
              hide();
              deleteLater();
              emit(this->*answered)();
            });
  };
  add(can_discard ? tr("Keep") : tr("Close"), "keep", {}, &RestoreBar::kept);
  if (can_discard)
    add(tr("Discard"), "discard",
        tr("Return to the saved workspace or, if there is none, to the graph as opened"),
        &RestoreBar::discarded);
}

QString restored_text(const RestoredWork& work, const QString& title, std::int64_t changed_at) {
  const QStringList parts = parts_of(work);
  if (parts.isEmpty()) return {};
  const QString what = RestoreBar::tr("Restored %1 of %2").arg(listed(parts), title);
  if (changed_at == 0) return what + u'.';
  const QDateTime then = QDateTime::fromSecsSinceEpoch(changed_at);
  const QString time = QLocale().toString(then.time(), QStringLiteral("HH:mm"));
  if (then.date() == QDate::currentDate())
    return RestoreBar::tr("%1, last changed at %2.").arg(what, time);
  return RestoreBar::tr("%1, last changed on %2 at %3.")
      .arg(what, QLocale().toString(then.date(), QLocale::ShortFormat), time);
}

}  // namespace jointer::views

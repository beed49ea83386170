#include "views/palette/keys_help.h"

#include <QDialogButtonBox>
#include <QEvent>
#include <QPushButton>
#include <QVBoxLayout>

#include "views/palette/palette_model.h"
#include "views/theme/theme.h"

namespace jointer::views {

KeysGroup keys_of(const QString& title, const QList<QAction*>& actions) {
  KeysGroup group{title, {}};
  for (const QAction* action : actions) {
    if (action == nullptr || action->isSeparator()) continue;
    QStringList keys;
    for (const QKeySequence& sequence : action->shortcuts())
      if (!sequence.isEmpty()) keys << sequence.toString(QKeySequence::NativeText);
    if (keys.isEmpty()) continue;
    const QString text = plain_action_text(*action);
    group.rows << KeysGroup::Row{keys.join(QStringLiteral(", ")),
                                 action->whatsThis().isEmpty()
                                     ? text
                                     : QStringLiteral("%1 (%2)").arg(text, action->whatsThis())};
  }
  return group;
}

KeysHelp::KeysHelp(QList<KeysGroup> groups, QWidget* parent)
    : QDialog(parent), groups_(std::move(groups)) {
  setWindowTitle(tr("Keyboard and Mouse"));
  resize(560, 640);
  auto* rows = new QVBoxLayout(this);
  filter_ = new QLineEdit(this);
  filter_->setPlaceholderText(tr("Filter"));
  filter_->setClearButtonEnabled(true);
  rows->addWidget(filter_);
  page_ = new QTextBrowser(this);
  page_->setFrameShape(QFrame::NoFrame);
  page_->setAccessibleName(tr("Keys"));
  rows->addWidget(page_, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  buttons->button(QDialogButtonBox::Close)->setAutoDefault(false);  // not on Enter in the filter
  rows->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(filter_, &QLineEdit::textChanged, this, &KeysHelp::show_groups);
  show_groups();
}

void KeysHelp::show_groups() {
  const Theme& theme = Theme::of(palette());
  const QString wanted = filter_->text().trimmed();
  QString html;
  for (const KeysGroup& group : groups_) {
    QString rows;
    for (const KeysGroup::Row& row : group.rows)
      if (wanted.isEmpty() || row.keys.contains(wanted, Qt::CaseInsensitive) ||
          row.what.contains(wanted, Qt::CaseInsensitive))
        rows += QStringLiteral(
                    "<tr><td width=\"180\" style=\"padding: 3px 16px 3px 0\"><b>%1</b></td>"
                    "<td style=\"padding: 3px 0\">%2</td></tr>")
                    .arg(row.keys.toHtmlEscaped(), row.what.toHtmlEscaped());
    if (!rows.isEmpty())
      html += QStringLiteral(
                  "<h3 style=\"color: %1; margin: 14px 0 2px 0\">%2</h3><table>%3"
                  "</table>")
                  .arg(theme.muted_text.name(), group.title.toHtmlEscaped(), rows);
  }
  page_->setHtml(html.isEmpty() ? tr("No match for “%1”.").arg(wanted.toHtmlEscaped()) : html);
}

void KeysHelp::changeEvent(QEvent* event) {
  QDialog::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && page_ != nullptr) show_groups();
}

}  // namespace jointer::views

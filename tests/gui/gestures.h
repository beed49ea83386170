#pragma once

// Gestures of a user, for several tests.

#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QPointer>
#include <QPushButton>
#include <QTabBar>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTimer>
#include <QUrl>

#include "tests/support/child.h"
#include "tests/support/patience.h"

namespace jointer::test {

// Number of open documents.
inline int tab_count(const QWidget& window) {
  return child<QTabBar>(window, "documents").count();
}

inline void press(QPushButton& button) {
  QTest::mouseClick(&button, Qt::LeftButton);
}

// Replaces the text of a field.
inline void type(QAbstractSpinBox& box, const QString& text) {
  box.setFocus();
  box.selectAll();
  QTest::keyClicks(&box, text);
}

// Chooses an entry with the arrow keys.
inline void choose(QComboBox& box, const QString& text) {
  box.setFocus();
  // A key may have no effect, for example if the box is disabled.
  for (int n = box.count(); n > 0 && box.currentText() != text && box.currentIndex() > 0; --n)
    QTest::keyClick(&box, Qt::Key_Up);
  for (int n = box.count();
       n > 0 && box.currentText() != text && box.currentIndex() + 1 < box.count(); --n)
    QTest::keyClick(&box, Qt::Key_Down);
  QCOMPARE(box.currentText(), text);
}

// Drops files on a window, which must accept them.
inline void drop(QWidget& window, const QStringList& paths) {
  QMimeData data;
  QList<QUrl> urls;
  for (const QString& path : paths) urls.append(QUrl::fromLocalFile(path));
  data.setUrls(urls);
  const QPoint at = window.rect().center();
  QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &enter);
  QVERIFY(enter.isAccepted());
  QDropEvent event(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &event);
  QVERIFY(event.isAccepted());
}

// Triggers the menu entry with this text, ignoring `&` and dots.
inline void run_action(const QWidget& window, const QString& text) {
  for (QAction* action : window.findChildren<QAction*>()) {
    QString name = action->text();
    if (name.remove(u'&').remove(QStringLiteral("...")) != text || !action->isVisible()) continue;
    QVERIFY2(action->isEnabled(), qPrintable(text));
    return action->trigger();
  }
  QFAIL(qPrintable(QStringLiteral("there is no action `%1`").arg(text)));
}

// Types the path into the file dialog that opens next, even if that takes a while. A message box
// that this dialog shows in turn would block forever, so it is closed, and the test fails with its
// text.
inline void answer_file_dialog(const QString& path) {
  constexpr int kPollMs = 20;
  auto* timer = new QTimer(QApplication::instance());
  const auto poll = [timer, path, answered = QPointer<QFileDialog>(), is_answered = false,
                     polls = 0]() mutable {
    QWidget* shown = QApplication::activeModalWidget();
    if (auto* box = qobject_cast<QMessageBox*>(shown);
        box != nullptr && answered && box->parentWidget() == answered) {
      const QString text = box->text();
      timer->stop();
      timer->deleteLater();
      box->reject();
      answered->reject();
      QFAIL(qPrintable(text));
    }
    auto* dialog = qobject_cast<QFileDialog*>(shown);
    const bool is_over =
        is_answered ? !answered || dialog != answered : ++polls * kPollMs > kPatienceMs;
    if (is_over) {
      timer->stop();
      return timer->deleteLater();
    }
    if (dialog == nullptr) return;
    is_answered = true;
    answered = dialog;
    auto* edit = dialog->findChild<QLineEdit*>();
    edit->setText(path);
    // Posted, since a timer does not fire while it is being handled, not even in the message box.
    for (const auto type : {QEvent::KeyPress, QEvent::KeyRelease})
      QApplication::postEvent(edit, new QKeyEvent(type, Qt::Key_Return, Qt::NoModifier));
  };
  QObject::connect(timer, &QTimer::timeout, timer, poll);
  timer->start(kPollMs);
}

// Scrolls to a link of the page and returns its position.
inline QPoint place_of_link(QTextBrowser& page, const QString& text) {
  const QTextCursor cursor = page.document()->find(text);
  QTextCursor middle(page.document());
  middle.setPosition((cursor.anchor() + cursor.position()) / 2);
  page.setTextCursor(middle);
  page.ensureCursorVisible();
  return page.cursorRect(middle).center();
}

}  // namespace jointer::test

// Tests that the pages in place of a graph show their texts whole, in small windows and with long
// names.

#include <QAccessible>
#include <QClipboard>
#include <QGuiApplication>
#include <QKeySequence>
#include <QLabel>
#include <QTest>
#include <QVBoxLayout>
#include <memory>

#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "views/widgets/notice_bar.h"
#include "views/widgets/wrapped_text.h"
#include "views/window/message_bar.h"
#include "views/window/pages.h"
#include "views/window/recent_files.h"
#include "views/window/restore_bar.h"

namespace jointer {
namespace {

using namespace views;

const QString kName =
    QStringLiteral("llama3_70b_tp8_fsdp32_ep4_rank_0_of_1024_&_joint_graph.json.zst");
const QString kPath = QStringLiteral("/mnt/checkpoints/") + kName.repeated(4) + u'/' + kName;

// The first text that is wider or taller than its space; empty if there is none.
QString cut_text(const QWidget& page) {
  for (const auto* text : page.findChildren<WrappedText*>())
    if (text->height() < text->heightForWidth(text->width()) ||
        text->document()->idealWidth() > text->viewport()->width())
      return text->toPlainText();
  for (const auto* label : page.findChildren<QLabel*>())
    if (label->height() < label->heightForWidth(label->width())) return label->text();
  return {};
}

QString name_of(QObject& object) {
  QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(&object);
  return interface == nullptr ? QString() : interface->text(QAccessible::Name);
}

}  // namespace

class PagesTest : public QObject {
  Q_OBJECT

 private slots:
  void texts_are_shown_whole_data();
  void texts_are_shown_whole();
  void a_message_can_be_copied();
  void bars_show_long_paths_whole_data() { texts_are_shown_whole_data(); }
  void bars_show_long_paths_whole();
  void names_of_recent_files_are_shown_as_they_are();
  void a_screen_reader_gets_the_names_of_controls();
};

void PagesTest::texts_are_shown_whole_data() {
  QTest::addColumn<QSize>("size");
  QTest::newRow("1280x800") << QSize(1280, 800);
  QTest::newRow("1600x1000") << QSize(1600, 1000);
  QTest::newRow("1280x720") << QSize(1280, 720);  // 2560x1440 pixels at scale 2
  QTest::newRow("small") << QSize(800, 600);
}

void PagesTest::texts_are_shown_whole() {
  QFETCH(const QSize, size);
  const QString message =
      kPath + ": " + QStringLiteral("node mm_12 reads view_7_x_y. ").repeated(80);
  std::vector<std::unique_ptr<QWidget>> pages;
  pages.push_back(std::make_unique<EmptyPage>());
  pages.push_back(std::make_unique<LoadingPage>(kName));
  pages.push_back(std::make_unique<ErrorPage>(kName, message));
  for (const auto& page : pages) {
    page->resize(size);
    page->show();
    QVERIFY(QTest::qWaitForWindowExposed(page.get()));
    QTRY_COMPARE(cut_text(*page), QString());
  }
  const auto& error = test::child<WrappedText>(*pages.back(), "message");
  QCOMPARE(error.toPlainText(), message);
}

void PagesTest::a_message_can_be_copied() {
  ErrorPage page(kName, kPath);
  page.show();
  QVERIFY(QTest::qWaitForWindowActive(&page));
  auto& message = test::child<WrappedText>(page, "message");
  QTest::mouseClick(message.viewport(), Qt::LeftButton, {}, QPoint(5, 5));
  QTest::keyClick(&message, Qt::Key_A, Qt::ControlModifier);
  QTest::keyClick(&message, Qt::Key_C, Qt::ControlModifier);
  QCOMPARE(QGuiApplication::clipboard()->text(), kPath);
}

void PagesTest::bars_show_long_paths_whole() {
  QFETCH(const QSize, size);
  NoticeBar notice;
  notice.set_text(tr("%1 cannot be written.").arg(kPath));
  notice.add_button("Copy", "copy");
  RestoreBar restored(tr("Restored 2 edits of %1.").arg(kPath), {kPath, "mm_12 is gone."}, true);
  MessageBar messages;
  messages.add("short");
  messages.add(kPath + ": " + QStringLiteral("node mm_12 reads view_7_x_y. ").repeated(20));
  for (QWidget* bar : {static_cast<QWidget*>(&notice), static_cast<QWidget*>(&restored),
                       static_cast<QWidget*>(&messages)}) {
    QWidget window;
    auto* column = new QVBoxLayout(&window);
    column->addWidget(bar);
    column->addStretch(1);
    window.resize(size);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QTRY_COMPARE(cut_text(window), QString());
    bar->setParent(nullptr);
  }
}

void PagesTest::names_of_recent_files_are_shown_as_they_are() {
  EmptyPage page;
  page.resize(800, 600);
  page.set_recent({"/a/r&d_capture.json", "/a/fw_1.json\n/a/bw_1.json", kPath});
  page.show();
  QVERIFY(QTest::qWaitForWindowExposed(&page));
  QStringList shown;
  for (const auto* button : page.findChildren<QPushButton*>())
    if (button->isFlat()) {
      QVERIFY2(QKeySequence::mnemonic(button->text()).isEmpty(), qPrintable(button->text()));
      QVERIFY2(button->width() >= button->sizeHint().width(), qPrintable(button->text()));
      shown << QString(button->text()).replace("&&", "&");
    }
  QCOMPARE(shown.mid(0, 2), QStringList({"r&d_capture.json", "fw_1.json + bw_1.json"}));
}

void PagesTest::a_screen_reader_gets_the_names_of_controls() {
  std::vector<std::unique_ptr<QWidget>> pages;
  auto start = std::make_unique<EmptyPage>();
  start->set_recent({kPath});
  pages.push_back(std::move(start));
  pages.push_back(std::make_unique<LoadingPage>(kName));
  pages.push_back(std::make_unique<ErrorPage>(kName, kPath));
  QStringList nameless;
  for (const auto& page : pages) {
    page->resize(800, 600);
    page->show();
    QVERIFY(QTest::qWaitForWindowExposed(page.get()));
    QWidgetList controls = page->findChildren<QWidget*>();
    controls.prepend(page.get());
    int named = 0;
    for (QWidget* control : controls) {
      const bool is_read = control->focusPolicy() != Qt::NoFocus ||
                           qobject_cast<QLabel*>(control) != nullptr ||
                           qobject_cast<QProgressBar*>(control) != nullptr;
      if (!is_read || !control->isVisible()) continue;
      if (name_of(*control).isEmpty())
        nameless << QStringLiteral("%1 in %2")
                        .arg(control->metaObject()->className(), page->metaObject()->className());
      else
        ++named;
    }
    QVERIFY(named >= 4);
  }
  QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(u'\n')));
  QWidget& error = *pages.back();
  QCOMPARE(name_of(error), QStringLiteral("Could not open %1").arg(kName));
  QCOMPARE(name_of(test::child<WrappedText>(error, "message")), kPath);
  QStringList links;
  for (QPushButton* button : pages.front()->findChildren<QPushButton*>())
    if (button->isFlat()) links << name_of(*button);
  QCOMPARE(links, QStringList{RecentFiles::label(kPath)});  // not elided
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::PagesTest, "pages")
#include "pages_test.moc"

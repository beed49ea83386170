#pragma once

// The base of test classes that open the real window, with separate settings and history.

#include <QApplication>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <array>
#include <memory>

#include "app/desktop/first_minutes.h"
#include "app/desktop/main_window.h"
#include "tests/gui/gui_test.h"
#include "tests/support/fake_benchmarks.h"
#include "tests/support/paths.h"
#include "tests/support/slow.h"
#include "views/theme/theme_choice.h"

namespace jointer::test {

class AppWindow : public QObject {
 protected:
  // Forgets the settings and files of earlier windows.
  void make_folder() { folder_ = std::make_unique<QTemporaryDir>(); }
  void make_window() { make_window(service_); }
  // `service` must outlive the window.
  void make_window(views::BenchmarkService& service) {
    settings_ =
        std::make_unique<QSettings>(folder_->filePath("settings.ini"), QSettings::IniFormat);
    desktop::FirstMinutes::set_dismissed(*settings_, true);
    apply_theme(*qApp, views::ThemeChoice::light);
    window_ = std::make_unique<desktop::MainWindow>(
        *settings_, AnalysisOptions{}, service, BenchmarkHistory(folder_->path().toStdString()));
    window_->resize(1600, 1000);
    window_->show();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }
  // A window with new settings.
  void make_first_window() {
    make_folder();
    make_window();
  }
  void close_window() {
    window_.reset();
    settings_.reset();
  }
  // Opens a file in the window, and returns true once it is open.
  bool open_file(const std::string& path) {
    QSignalSpy opened(window_.get(), &desktop::MainWindow::opened);
    window_->open({.path = path});
    return opened.wait(kPatienceMs);
  }
  // Opens the sample in a new window with new settings.
  bool open_sample() {
    make_first_window();
    return open_file(source_path(kSample));
  }
  [[nodiscard]] views::Document& document() const { return *window_->current_tab()->document(); }
  [[nodiscard]] views::Editing& editing() const { return document().editing(); }
  [[nodiscard]] views::TimelineView& timeline() const {
    return *window_->current_tab()->timeline();
  }
  // Shows the pane of a dock; null if that takes too long or the pane is of a different type.
  template <class Pane>
  Pane* show_pane(const char* name) {
    views::PaneDock* dock = window_->dock(name);
    dock->show();
    dock->raise();
    if (!QTest::qWaitFor([dock] { return dock->pane() != nullptr; }, kPatienceMs)) return nullptr;
    return qobject_cast<Pane*>(dock->pane());
  }

  // For tests at the sizes of small and large screens. A screen of 2560x1440 pixels at scale 2 is
  // 1280x720 points.
  static constexpr std::array<QSize, 3> kSizes{{{1280, 800}, {1600, 1000}, {1280, 720}}};
  static void add_sizes() {
    QTest::addColumn<QSize>("size");
    for (const QSize size : kSizes) QTest::addRow("%dx%d", size.width(), size.height()) << size;
  }
  void resize() {
    QFETCH(QSize, size);
    window_->resize(size);
  }

  // Clicks the button with this object name that is on screen.
  void click_button(const char* name) const {
    for (auto* button : window_->findChildren<QToolButton*>(QLatin1String(name)))
      if (button->isVisible()) return QTest::mouseClick(button, Qt::LeftButton);
    QFAIL("no button is on screen");
  }

  std::unique_ptr<QTemporaryDir> folder_;
  FakeBenchmarks service_;
  std::unique_ptr<QSettings> settings_;
  std::unique_ptr<desktop::MainWindow> window_;
};

}  // namespace jointer::test

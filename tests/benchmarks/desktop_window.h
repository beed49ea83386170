#pragma once

// The window of jointer-desktop, for benchmarks.

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

#include "app/desktop/first_minutes.h"
#include "app/desktop/local_benchmarks.h"
#include "app/desktop/main_window.h"
#include "views/theme/theme_choice.h"

namespace jointer::benchmarks {

// Shown at 1600x1000 in the light theme, with default settings and without the questions of the
// first start. Needs a QApplication.
class DesktopWindow {
 public:
  DesktopWindow() {
    views::apply_theme(*qApp, views::ThemeChoice::light);
    desktop::FirstMinutes::set_dismissed(settings_, true);
    window_.resize(1600, 1000);
    window_.show();
    QObject::connect(&window_, &desktop::MainWindow::open_failed, &window_,
                     [this] { has_failed_ = true; });
  }

  desktop::MainWindow& operator*() { return window_; }
  desktop::MainWindow* operator->() { return &window_; }
  // True once a request to open a graph has succeeded or failed.
  [[nodiscard]] bool has_opened() {
    return has_failed_ || window_.current_tab()->document() != nullptr;
  }
  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  QTemporaryDir folder_;
  QSettings settings_{folder_.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat};
  desktop::LocalBenchmarks runs_;
  desktop::MainWindow window_{settings_, {}, runs_, BenchmarkHistory(folder_.path().toStdString())};
  bool has_failed_ = false;
};

}  // namespace jointer::benchmarks

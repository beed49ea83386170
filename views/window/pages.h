#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QStringList>
#include <QVBoxLayout>

#include "core/base/result.h"
#include "views/session/open/loader.h"

namespace jointer::views {

// A page that is shown in place of a graph: a centered column that scrolls if it does not fit.
class Page : public QScrollArea {
  Q_OBJECT
 public:
  explicit Page(QWidget* parent = nullptr);

 protected:
  [[nodiscard]] QVBoxLayout* column() const { return column_; }
  // Adds a heading at the top, which is also the page's accessible name.
  void set_heading(const QString& text);

 private:
  QVBoxLayout* column_ = nullptr;
};

// The page that is shown while no graph is open, with ways to open one.
class EmptyPage : public Page {
  Q_OBJECT
 public:
  explicit EmptyPage(QWidget* parent = nullptr);
  // `files`: recently opened files, newest first, as listed by RecentFiles.
  void set_recent(const QStringList& files);

 signals:
  void open_requested();
  void sample_requested();
  void file_requested(const QString& path);

 private:
  QWidget* recent_ = nullptr;
};

// The page that is shown while a document is loading, with the progress and a Cancel button.
class LoadingPage : public Page {
  Q_OBJECT
 public:
  explicit LoadingPage(const QString& name, QWidget* parent = nullptr);
  void show_progress(double fraction, const QString& what, qint64 left_ms);

 signals:
  void cancel_requested();

 private:
  QProgressBar* bar_ = nullptr;
  QLabel* what_ = nullptr;
};

// The page that is shown if a document could not be opened, with the error and buttons to try again
// or open another file.
class ErrorPage : public Page {
  Q_OBJECT
 public:
  ErrorPage(const QString& name, const QString& message, QWidget* parent = nullptr);

 signals:
  void retry_requested();
  void open_requested();
};

}  // namespace jointer::views

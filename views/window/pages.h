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

// A page in place of a graph: a column in the middle, which scrolls if it does not fit.
class Page : public QScrollArea {
  Q_OBJECT
 public:
  explicit Page(QWidget* parent = nullptr);

 protected:
  [[nodiscard]] QVBoxLayout* column() const { return column_; }

 private:
  QVBoxLayout* column_ = nullptr;
};

// Shown while no graph is open: ways to open one.
class EmptyPage : public Page {
  Q_OBJECT
 public:
  explicit EmptyPage(QWidget* parent = nullptr);
  // Recently opened files, newest first, as RecentFiles lists them.
  void set_recent(const QStringList& files);

 signals:
  void open_requested();
  void sample_requested();
  void file_requested(const QString& path);

 private:
  QWidget* recent_ = nullptr;
};

// Shown while a document is loading: progress and a Cancel button.
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

// Shown when a document could not be opened: the error, and buttons to retry or open another file.
class ErrorPage : public Page {
  Q_OBJECT
 public:
  ErrorPage(const QString& name, const QString& message, QWidget* parent = nullptr);

 signals:
  void retry_requested();
  void open_requested();
};

}  // namespace jointer::views

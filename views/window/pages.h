#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStringList>
#include <QWidget>

#include "core/base/result.h"
#include "views/document/loader.h"

namespace jointer::views {

// What is shown while nothing is open: what to do, with buttons that do it.
class EmptyPage : public QWidget {
  Q_OBJECT
 public:
  explicit EmptyPage(QWidget* parent = nullptr);
  // Files opened lately, the last one first.
  void set_recent(const QStringList& files);

 signals:
  void open_requested();
  void sample_requested();
  void file_requested(const QString& path);

 private:
  QWidget* recent_ = nullptr;
};

// A document that is still being read: how far, doing what, and a way out.
class LoadingPage : public QWidget {
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

// A document that could not be opened: the one line that says why, and what can be done.
class ErrorPage : public QWidget {
  Q_OBJECT
 public:
  ErrorPage(const QString& name, const QString& message, QWidget* parent = nullptr);

 signals:
  void retry_requested();
  void open_requested();
};

}  // namespace jointer::views

#pragma once

#include <QObject>
#include <QPointer>
#include <QWidget>

#include "views/session/document/document.h"
#include "views/session/kernels/predicted_kernels.h"

namespace jointer::views {

// Watches a document's predicted kernels while a widget is on screen, so that the widget causes no
// computation while it is hidden or covered.
class KernelWatch : public QObject {
  Q_OBJECT
 public:
  // `seen`: the widget whose paint events show that it is on screen; for a scroll area, its
  // viewport. It must outlive this object.
  KernelWatch(Document& document, QWidget& seen, bool is_needed = true);
  ~KernelWatch() override;

  // Nothing is watched while the kernels are not needed.
  void set_needed(bool is_needed);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void follow();
  void watch(bool is_on);

  QPointer<PredictedKernels> kernels_;  // null once the document is gone
  QWidget& seen_;
  bool is_needed_;
};

}  // namespace jointer::views

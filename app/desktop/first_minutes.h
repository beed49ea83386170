#pragma once

#include <QObject>
#include <QPointer>
#include <QSettings>

#include "app/desktop/documents.h"
#include "app/desktop/pane_docks.h"
#include "views/window/first_questions.h"

namespace jointer::desktop {

// Shows new users three questions above a graph, and answers them there, in panes and in the
// timeline. Once dismissed, the questions return only on request.
class FirstMinutes : public QObject {
  Q_OBJECT
 public:
  // All arguments must outlive this object.
  FirstMinutes(Documents& documents, PaneDocks& panes, QSettings& settings);

  // Records in the settings whether the user has dismissed the questions.
  static void set_dismissed(QSettings& settings, bool is_dismissed);

  // Shows the questions above the current graph, or dismisses them if a tab already shows them.
  void toggle();

 private:
  void show();
  void dismiss();
  void answer(views::FirstQuestions::Question question);
  void answer_peak();
  void answer_communication(views::Document& document);
  void answer_what_if(views::Document& document);

  Documents& documents_;
  PaneDocks& panes_;
  QSettings& settings_;
  QPointer<views::FirstQuestions> bar_;  // its tab owns it
};

}  // namespace jointer::desktop

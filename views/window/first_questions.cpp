#include "views/window/first_questions.h"

namespace jointer::views {

FirstQuestions::FirstQuestions(QWidget* parent) : NoticeBar(parent, Tone::hint) {
  setObjectName(QStringLiteral("first_questions"));
  set_text(tr("New to Jointer? Ask this graph:"));
  const auto add = [this](Question question, const QString& text, const char* name) {
    connect(add_button(text, name), &QPushButton::clicked, this,
            [this, question] { emit asked(question); });
  };
  add(Question::peak, tr("What Causes the Peak?"), "ask_peak");
  add(Question::communication, tr("Which Communication Costs Most?"), "ask_communication");
  add(Question::what_if, tr("What If I Move It?"), "ask_what_if");
  QPushButton* dismiss = add_button(tr("Don't Show Again"), "dismiss_questions");
  dismiss->setToolTip(
      tr("Hide these questions (Shift+Esc). Help > First Questions shows them again."));
  connect(dismiss, &QPushButton::clicked, this, &FirstQuestions::dismissed);
}

}  // namespace jointer::views

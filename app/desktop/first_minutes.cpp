#include "app/desktop/first_minutes.h"

#include "views/session/edit/editing.h"
#include "views/session/edit/move_planner.h"
#include "views/timeline/timeline_view.h"
#include "views/window/first_answers.h"

namespace jointer::desktop {

using namespace views;

namespace {

const QString kDismissed = QStringLiteral("first_questions/dismissed");

}  // namespace

FirstMinutes::FirstMinutes(Documents& documents, PaneDocks& panes, QSettings& settings)
    : documents_(documents), panes_(panes), settings_(settings) {
  connect(&documents_, &Documents::opened, this, [this] {
    if (!settings_.value(kDismissed).toBool()) show();
  });
}

void FirstMinutes::set_dismissed(QSettings& settings, bool is_dismissed) {
  settings.setValue(kDismissed, is_dismissed);
}

void FirstMinutes::toggle() {
  if (bar_ != nullptr)
    dismiss();
  else
    show();
}

void FirstMinutes::show() {
  DocumentTab* tab = documents_.tab();
  if (bar_ != nullptr || tab == nullptr || tab->session() == nullptr) return;
  bar_ = new FirstQuestions(tab);
  connect(bar_, &FirstQuestions::asked, this, &FirstMinutes::answer);
  connect(bar_, &FirstQuestions::dismissed, this, &FirstMinutes::dismiss);
  tab->insert_bar(bar_);
}

void FirstMinutes::dismiss() {
  set_dismissed(settings_, true);
  if (bar_ == nullptr) return;
  bar_->hide();
  bar_->deleteLater();
  bar_ = nullptr;
}

void FirstMinutes::answer(FirstQuestions::Question question) {
  Document* document = documents_.document();
  if (document == nullptr) return;
  switch (question) {
    case FirstQuestions::Question::peak:
      return answer_peak();
    case FirstQuestions::Question::communication:
      return answer_communication(*document);
    case FirstQuestions::Question::what_if:
      return answer_what_if(*document);
  }
}

// The peak of the graph that the timeline shows, which may be the pair.
void FirstMinutes::answer_peak() {
  panes_.bring_up(QStringLiteral("alive"));
  documents_.with_timeline([this](TimelineView& view) {
    bar_->set_text(views::answer_peak(view.content().document().snapshot()).text);
    view.show_peak();
  });
}

void FirstMinutes::answer_communication(Document& document) {
  const FirstAnswer answer = views::answer_communication(document.snapshot());
  bar_->set_text(answer.text);
  if (!answer.node) return;
  panes_.bring_up(QStringLiteral("exposed"));
  document.selection().select(answer.node);
  documents_.with_timeline([](TimelineView& view) { view.range().show_selection(); });
}

void FirstMinutes::answer_what_if(Document& document) {
  const FirstAnswer answer = views::answer_what_if(document.snapshot());
  bar_->set_text(answer.text);
  if (!answer.node) return panes_.bring_up(QStringLiteral("pipeline"));
  document.selection().select(answer.node);
  documents_.with_timeline([](TimelineView& view) {
    view.range().show_selection();
    view.setFocus();
  });
  document.editing().planner().take(answer.node);
}

}  // namespace jointer::desktop

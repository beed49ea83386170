#include "app/desktop/closing.h"

#include "views/session/workspace/autosave.h"

namespace jointer::desktop {

using namespace views;

namespace {

bool is_dirty(const DocumentTab& tab) {
  return tab.session() != nullptr && tab.session()->autosave().is_dirty();
}

bool is_saving(const DocumentTab& tab) {
  return tab.session() != nullptr && tab.session()->autosave().is_saving();
}

}  // namespace

Closing::Closing(QMainWindow& window, Documents& documents, Workspaces& workspaces)
    : window_(window), documents_(documents), workspaces_(workspaces) {
  connect(&documents_, &Documents::close_requested, this, &Closing::close);
}

void Closing::close(DocumentTab* tab) {
  if (tab == nullptr) return;
  is_closing_window_ = false;
  if (is_dirty(*tab))
    ask(tab);
  else if (is_saving(*tab))
    close_when_saved(tab);
  else
    documents_.close(tab);
}

bool Closing::may_close_window() {
  for (DocumentTab* tab : documents_.all()) {
    if (!is_dirty(*tab) && !is_saving(*tab)) continue;
    is_closing_window_ = true;
    if (is_dirty(*tab))
      ask(tab);
    else
      close_when_saved(tab);
    return false;
  }
  return true;
}

void Closing::ask(DocumentTab* tab) {
  if (question_ != nullptr) return question_->raise();
  documents_.show(tab);
  question_ =
      new QMessageBox(QMessageBox::Warning, tr("Unsaved Changes"),
                      tr("Save the changes to %1 before closing?").arg(tab->title()),
                      QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, &window_);
  question_->setObjectName(QStringLiteral("unsaved_changes"));
  question_->setTextFormat(Qt::PlainText);
  question_->setAttribute(Qt::WA_DeleteOnClose);
  question_->setDefaultButton(QMessageBox::Save);
  connect(question_, &QDialog::finished, tab,
          [this, tab](int button) { handle_answer(tab, button); });
  question_->open();
}

void Closing::handle_answer(DocumentTab* tab, int button) {
  question_.clear();  // closed, but not deleted yet
  if (button == QMessageBox::Save) return save_and_close(tab);
  if (button != QMessageBox::Discard) {
    is_closing_window_ = false;
    return;
  }
  tab->session()->autosave().forget();
  close_now(tab);
}

// The document stays open if saving fails or if the user chooses no file.
void Closing::save_and_close(DocumentTab* tab) {
  QObject* saving = close_when_saved(tab);
  documents_.show(tab);
  if (!workspaces_.save()) saving->deleteLater();
}

QObject* Closing::close_when_saved(DocumentTab* tab) {
  QPointer<QObject>& known = closing_when_saved_[tab];
  if (known) return known;
  Autosave* autosave = &tab->session()->autosave();
  auto* saving = new QObject(autosave);
  known = saving;
  connect(autosave, &Autosave::failed, saving, &QObject::deleteLater);
  connect(autosave, &Autosave::saved, saving, [this, tab, autosave, saving] {
    if (autosave->is_saving()) return;
    saving->deleteLater();
    is_dirty(*tab) ? ask(tab) : close_now(tab);  // edits may have been made during the save
  });
  return saving;
}

void Closing::close_now(DocumentTab* tab) {
  documents_.close(tab);
  if (is_closing_window_) window_.close();
}

}  // namespace jointer::desktop

#include "app/desktop/closing.h"

#include "views/session/workspace/autosave.h"

namespace jointer::desktop {

using namespace views;

namespace {

bool is_dirty(const DocumentTab& tab) {
  return tab.session() != nullptr && tab.session()->autosave().is_dirty();
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
  else
    documents_.close(tab);
}

bool Closing::may_close_window() {
  for (DocumentTab* tab : documents_.all()) {
    if (!is_dirty(*tab)) continue;
    is_closing_window_ = true;
    ask(tab);
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
          [this, tab](int button) { take_answer(tab, button); });
  question_->open();
}

void Closing::take_answer(DocumentTab* tab, int button) {
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
  Autosave* autosave = &tab->session()->autosave();
  auto* saving = new QObject(autosave);
  connect(autosave, &Autosave::failed, saving, &QObject::deleteLater);
  connect(autosave, &Autosave::saved, saving, [this, tab, saving] {
    saving->deleteLater();
    is_dirty(*tab) ? ask(tab) : close_now(tab);  // edits may have been made during the save
  });
  documents_.show(tab);
  if (!workspaces_.save()) saving->deleteLater();
}

void Closing::close_now(DocumentTab* tab) {
  documents_.close(tab);
  if (is_closing_window_) window_.close();
}

}  // namespace jointer::desktop

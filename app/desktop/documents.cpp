#include "app/desktop/documents.h"

#include <QDir>
#include <QSignalBlocker>
#include <QToolButton>

#include "views/session/workspace/autosave.h"
#include "views/widgets/button_text.h"

namespace jointer::desktop {

using namespace views;

Documents::Documents(QTabBar& tabs, QStackedWidget& pages, QWidget& empty_page,
                     DocumentTab::MakeSession make_session)
    : tabs_(tabs), pages_(pages), empty_page_(empty_page), make_session_(std::move(make_session)) {
  connect(&tabs_, &QTabBar::currentChanged, this, &Documents::show_current);
  show_current();
}

void Documents::close_all() {
  tabs_.disconnect(this);
  for (DocumentTab* tab : all()) delete tab;
}

DocumentTab* Documents::open(const OpenRequest& request, const AnalysisOptions& analysis) {
  auto* tab = new DocumentTab(request, analysis, make_session_, &pages_);
  connect(tab, &DocumentTab::replacing, this, [this, tab] { emit replacing(tab); });
  connect(tab, &DocumentTab::ready, this, [this, tab] { finish_loading(tab); });
  connect(tab, &DocumentTab::several, this,
          [this, tab](const std::vector<GraphEntry>& entries, const Error& error) {
            emit several(tab, entries, error);
          });
  connect(tab, &DocumentTab::failed, this,
          [this, tab](const Error& error) { emit failed(tab, error); });
  connect(tab, &DocumentTab::cancelled, this, [this, tab] { close(tab); });
  connect(tab, &DocumentTab::open_requested, this, &Documents::open_requested);
  pages_.addWidget(tab);
  tab->load();
  const QSignalBlocker quiet(&tabs_);  // a first tab becomes current before its data is set
  const int index = tabs_.addTab(QString());
  tabs_.setTabData(index, QVariant::fromValue<QObject*>(tab));
  auto* close_button = new QToolButton(&tabs_);
  close_button->setText(QStringLiteral("\u00d7"));
  close_button->setAutoRaise(true);
  close_button->setToolTip(tr("Close"));
  close_button->setAccessibleName(tr("Close"));
  close_button->setFixedSize(20, 20);
  connect(close_button, &QToolButton::clicked, this, [this, tab] { emit close_requested(tab); });
  tabs_.setTabButton(index, QTabBar::RightSide, close_button);
  tabs_.setCurrentIndex(index);
  refresh_texts(tab);
  show_current();
  return tab;
}

void Documents::close(DocumentTab* tab) {
  const int index = index_of(tab);
  if (index < 0) return;
  tabs_.removeTab(index);
  pages_.removeWidget(tab);
  emit closed(tab);
  tab->deleteLater();
}

void Documents::step(int direction) {
  if (const int n = tabs_.count(); n > 0)
    tabs_.setCurrentIndex((tabs_.currentIndex() + direction + n) % n);
}

void Documents::show(DocumentTab* tab) {
  tabs_.setCurrentIndex(index_of(tab));
}

std::vector<DocumentTab*> Documents::all() const {
  std::vector<DocumentTab*> tabs;
  for (int i = 0; i < tabs_.count(); ++i) tabs.push_back(tab_at(i));
  return tabs;
}

void Documents::refresh_texts(DocumentTab* tab) {
  const int index = index_of(tab);
  if (index < 0) return;
  const Autosave* autosave = tab->session() == nullptr ? nullptr : &tab->session()->autosave();
  const bool is_dirty = autosave != nullptr && autosave->is_dirty();
  tabs_.setTabText(index,
                   button_text(tab->title()) + (is_dirty ? QStringLiteral(" *") : QString()));
  QString tip = QDir::toNativeSeparators(QString::fromStdString(tab->request().path));
  if (!tab->request().backward.empty())
    tip += u'\n' + QDir::toNativeSeparators(QString::fromStdString(tab->request().backward));
  if (autosave != nullptr && !autosave->path().isEmpty())
    tip = QDir::toNativeSeparators(autosave->path()) + u'\n' + tip;
  tabs_.setTabToolTip(index, tip);
  emit texts_changed();
}

Session* Documents::session() const {
  const DocumentTab* current = tab();
  return current == nullptr ? nullptr : current->session();
}

Document* Documents::document() const {
  const DocumentTab* current = tab();
  return current == nullptr ? nullptr : current->document();
}

TimelineView* Documents::timeline() const {
  const DocumentTab* current = tab();
  return current == nullptr ? nullptr : current->timeline();
}

void Documents::with_timeline(const std::function<void(TimelineView&)>& action) const {
  if (TimelineView* view = timeline()) action(*view);
}

DocumentTab* Documents::tab_at(int index) const {
  return qobject_cast<DocumentTab*>(tabs_.tabData(index).value<QObject*>());
}

int Documents::index_of(const DocumentTab* tab) const {
  int index = tabs_.count() - 1;
  while (index >= 0 && tab_at(index) != tab) --index;
  return index;
}

void Documents::finish_loading(DocumentTab* loaded_tab) {
  emit loaded(loaded_tab);
  refresh_texts(loaded_tab);
  if (loaded_tab == tab()) show_current();
  emit opened(loaded_tab);
}

void Documents::show_current() {
  DocumentTab* current = tab();
  pages_.setCurrentWidget(current == nullptr ? &empty_page_ : current);
  tabs_.setVisible(current != nullptr);
  emit current_changed();
}

}  // namespace jointer::desktop

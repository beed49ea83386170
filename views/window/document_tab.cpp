#include "views/window/document_tab.h"

#include <QFileInfo>
#include <utility>

#include "views/session/workspace/autosave.h"
#include "views/widgets/controls.h"

namespace jointer::views {

DocumentTab::DocumentTab(OpenRequest request, AnalysisOptions options, MakeSession make_session,
                         QWidget* parent)
    : QWidget(parent),
      request_(std::move(request)),
      options_(std::move(options)),
      make_session_(std::move(make_session)) {
  stack_ = new QStackedLayout(this);
}

// Deletes the page before the document that it shows.
DocumentTab::~DocumentTab() {
  delete page_;
}

void DocumentTab::load() {
  delete loader_;
  OpenRequest request = request_;
  if (session_) request.assumptions = document()->wanted_assumptions();
  loader_ = new Loader(request, session_ ? document()->wanted_options() : options_, this);
  connect(loader_, &Loader::loaded, this, &DocumentTab::show_graph);
  connect(loader_, &Loader::several, this, &DocumentTab::several);
  connect(loader_, &Loader::failed, this, &DocumentTab::show_error);
  connect(loader_, &Loader::cancelled, this, &DocumentTab::cancelled);
  if (!session_) {
    auto* page = new LoadingPage(title(), this);
    connect(loader_, &Loader::progressed, page, &LoadingPage::show_progress);
    connect(page, &LoadingPage::cancel_requested, loader_, &Loader::cancel);
    show_page(page);
  }
  loader_->start();
}

QString DocumentTab::title() const {
  if (session_) return document()->title();
  const auto name = [](const std::string& path) {
    return path == "-" ? tr("standard input") : QFileInfo(QString::fromStdString(path)).fileName();
  };
  if (request_.backward.empty()) return name(request_.path);
  return tr("%1 + %2").arg(name(request_.path), name(request_.backward));
}

void DocumentTab::insert_bar(QWidget* bar) {
  if (auto* column = qobject_cast<QVBoxLayout*>(page_->layout())) column->insertWidget(0, bar);
}

void DocumentTab::show_graph(const SnapshotPtr& snapshot) {
  if (session_ && session_->autosave().is_saving()) {
    // Wait for the saves, which belong to the old session. If another load begins first, it deletes
    // `loader_`, and this load is dropped.
    connect(
        &session_->autosave(), &Autosave::saves_ended, loader_,
        [this, snapshot] { show_graph(snapshot); },
        static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
    return;
  }
  if (session_) emit replacing();
  loader_->deleteLater();
  loader_ = nullptr;
  delete std::exchange(page_, nullptr);
  // Keep the old session: panes use its document until `ready` is emitted.
  const std::unique_ptr<Session> old = std::exchange(session_, make_session_(request_, snapshot));
  auto* page = new QWidget(this);
  QVBoxLayout* column = make_column(page, {}, 0);
  auto* timelines = new TimelineStack(*document(), page);
  column->addWidget(timelines, 1);
  show_page(page, timelines);
  timeline()->setFocus();
  emit ready();
}

void DocumentTab::show_error(const Error& error) {
  loader_->deleteLater();
  loader_ = nullptr;
  if (!session_) {
    auto* page = new ErrorPage(title(), QString::fromStdString(error.message), this);
    connect(page, &ErrorPage::retry_requested, this, &DocumentTab::load);
    connect(page, &ErrorPage::open_requested, this, &DocumentTab::open_requested);
    show_page(page);
  }
  emit failed(error);
}

void DocumentTab::show_page(QWidget* page, TimelineStack* timelines) {
  timelines_ = timelines;
  stack_->addWidget(page);
  stack_->setCurrentWidget(page);
  // A button of the old page may have triggered this.
  if (page_ != nullptr) page_->deleteLater();
  page_ = page;
}

}  // namespace jointer::views

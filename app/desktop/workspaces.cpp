#include "app/desktop/workspaces.h"

#include <QDateTime>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <unordered_set>

#include "core/workspace/workspace_capture.h"
#include "views/session/document/marks.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/kernel_order_edits.h"
#include "views/session/pipeline/pipeline_session.h"
#include "views/session/translation/qstring.h"
#include "views/window/restore_bar.h"

namespace jointer::desktop {
namespace {

using namespace views;

// The time for which journals of documents that were closed without saving are kept.
constexpr std::int64_t kKeptDays = 90, kSecondsOfDay = 86400;

const QString kSuffix = QStringLiteral(".jointer");

// Replaces the parts of the workspace that the journal contains, since the journal is newer.
void add_journal(const LeftJournal& left, SavedWork& found) {
  found.journal = to_qstring(left.path);
  found.changed_at = left.state.changed_at;
  found.workspace.history = left.state.workspace.history;
  found.workspace.options = left.state.workspace.options;
  found.workspace.pipeline = left.state.workspace.pipeline;
  found.workspace.marks = left.state.workspace.marks;
  found.workspace.kernel_moves = left.state.workspace.kernel_moves;
  found.workspace.capture = left.state.workspace.capture;
}

}  // namespace

Workspaces::Workspaces(QMainWindow& window, Documents& documents, RecentFiles& recent,
                       LastFolder& folder, AnalysisOptions analysis)
    : window_(window),
      documents_(documents),
      recent_(recent),
      folder_(folder),
      analysis_(std::move(analysis)) {
  connect(&documents_, &Documents::replacing, this, &Workspaces::keep_saved);
  connect(&documents_, &Documents::loaded, this, &Workspaces::follow);
  connect(&documents_, &Documents::closed, this, [this](DocumentTab* tab) {
    found_.erase(tab);
    openings_.erase(tab);
  });
}

// --- Opening ---

void Workspaces::open(const OpenRequest& request, const std::string& device) {
  if (request.backward.empty() && is_workspace_file(request.path))
    open_workspace(request, device);
  else
    open_graph(request, analysis_, device);
}

void Workspaces::open_all(const std::vector<OpenRequest>& requests, const std::string& device) {
  for (const OpenRequest& request : requests) open(request, device);
}

DocumentTab* Workspaces::open_made(const OpenRequest& request, const AnalysisOptions& analysis) {
  return open_graph(request, analysis, {});
}

DocumentTab* Workspaces::open_graph(const OpenRequest& request, const AnalysisOptions& analysis,
                                    const std::string& device) {
  DocumentTab* tab = documents_.open(request, analysis);
  openings_[tab].given = {.device = device, .assumptions = request.assumptions};
  return tab;
}

void Workspaces::open_workspace(const OpenRequest& request, const std::string& device) {
  auto workspace = read_workspace(request.path);
  // Opening the file as a graph fails in the same way, and the tab's page reports the error.
  if (!workspace) {
    open_graph(request, analysis_, device);
    return;
  }
  SavedWork found{.workspace = *std::move(workspace),
                  .path = QFileInfo(to_qstring(request.path)).absoluteFilePath()};
  auto capture = locate_capture(found.workspace, request);
  if (!capture) {
    open_graph(request, analysis_, device);
    if (capture.error().kind == Error::Kind::input)
      ask_for_capture(request, device, found.workspace);
    return;
  }
  const std::vector<LeftJournal> left = left_journals(journal_folder_.toStdString());
  if (const LeftJournal* journal = journal_of(left, request)) add_journal(*journal, found);
  open_found(std::move(found), *capture, {.device = device, .assumptions = request.assumptions});
}

void Workspaces::open_found(SavedWork found, const OpenRequest& request,
                            const GivenOptions& given) {
  override_with(found.workspace, given);
  const AnalysisOptions analysis = with_workspace(analysis_, found.workspace.options);
  DocumentTab* tab = documents_.open(request, analysis);
  openings_[tab] = {.given = given, .is_restored = true};
  found_.emplace(tab, std::move(found));
}

void Workspaces::ask_for_capture(const OpenRequest& asked, const std::string& device,
                                 const Workspace& workspace) {
  const MissingFiles missing = missing_files(workspace.capture, asked.path);
  const QString name = QFileInfo(to_qstring(asked.path)).fileName();
  const QString graph = to_qstring(missing.graph), backward = to_qstring(missing.backward);
  auto* box = new QMessageBox(
      QMessageBox::Question, tr("Capture Not Found"),
      graph.isEmpty() || backward.isEmpty()
          ? tr("%1 refers to a capture that has been moved or deleted. Where is %2 now?")
                .arg(name, graph.isEmpty() ? backward : graph)
          : tr("%1 refers to captures that have been moved or deleted. Where are %2 and %3 now?")
                .arg(name, graph, backward),
      QMessageBox::Cancel, &window_);
  box->setTextFormat(Qt::PlainText);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setObjectName(QStringLiteral("ask_for_capture"));
  QPushButton* choose = box->addButton(tr("Choose..."), QMessageBox::AcceptRole);
  connect(choose, &QPushButton::clicked, this, [this, asked, device, workspace, missing] {
    const auto ask = [&](const QString& title) {
      return QFileDialog::getOpenFileName(&window_, title, folder_.path).toStdString();
    };
    SavedWork found{.workspace = workspace,
                    .path = QFileInfo(to_qstring(asked.path)).absoluteFilePath()};
    CaptureReference& capture = found.workspace.capture;
    const bool is_pair = !capture.backward.empty() || !capture.relative_backward.empty();
    if (!missing.graph.empty()) {
      capture.path = ask(is_pair ? tr("Choose Forward Graph") : tr("Choose Capture"));
      if (capture.path.empty()) return;
      capture.relative.clear();
    }
    if (!missing.backward.empty()) {
      capture.backward = ask(tr("Choose Backward Graph"));
      if (capture.backward.empty()) return;
      capture.relative_backward.clear();
    }
    const auto located = locate_capture(found.workspace, asked);
    if (!located) return emit failed(to_qstring(located.error().message));
    open_found(std::move(found), *located, {.device = device, .assumptions = asked.assumptions});
  });
  box->open();
}

void Workspaces::restore_left(const std::vector<OpenRequest>& asked) {
  if (journal_folder_.isEmpty()) return;
  remove_old_journals(journal_folder_.toStdString(),
                      QDateTime::currentSecsSinceEpoch() - kKeptDays * kSecondsOfDay);
  const std::vector<LeftJournal> all = left_journals(journal_folder_.toStdString());
  std::unordered_set<const LeftJournal*> asked_for;
  for (const OpenRequest& request : asked) asked_for.insert(journal_of(all, request));
  for (const LeftJournal& left : all) {
    if (left.state.is_closed || asked_for.contains(&left)) continue;
    SavedWork found{.path = to_qstring(left.state.workspace_path)};
    // Only the workspace stores benchmarks and the layout.
    if (auto saved = read_workspace(left.state.workspace_path)) found.workspace = *saved;
    add_journal(left, found);
    // If the capture is missing now, the next start looks for it again.
    if (const auto capture = locate_capture(found.workspace, {.path = left.path}))
      open_found(std::move(found), *capture, {});
  }
}

// --- Autosave ---

void Workspaces::follow(DocumentTab* tab) {
  Autosave* autosave = &tab->session()->autosave();
  connect(autosave, &Autosave::dirty_changed, this, [this, tab] { documents_.refresh_texts(tab); });
  connect(autosave, &Autosave::failed, this, [this, tab](const QString& why) {
    emit failed(tab == documents_.tab() ? why : tr("%1: %2").arg(tab->title(), why));
  });
  connect(autosave, &Autosave::saved, this, [this, tab](const QString& path) {
    openings_[tab].given = {};  // the file contains the options now
    recent_.add(path, {});
    documents_.refresh_texts(tab);
    emit message(tr("Saved as %1.").arg(QDir::toNativeSeparators(path)));
  });

  // If this document replaces another one, that one must release its journal first.
  QMetaObject::invokeMethod(
      autosave, [this, tab, autosave] { restore_found(tab, *autosave); }, Qt::QueuedConnection);
}

void Workspaces::restore_found(DocumentTab* tab, Autosave& autosave) {
  SavedWork found;
  bool is_found = false;
  Opening& opening = openings_[tab];
  if (auto node = found_.extract(tab)) {
    found = std::move(node.mapped());
    is_found = true;
  } else if (!journal_folder_.isEmpty()) {
    const std::vector<LeftJournal> left = left_journals(journal_folder_.toStdString());
    const LeftJournal* journal = journal_of(left, tab->request());
    is_found = journal != nullptr;
    if (is_found) {
      found.path = to_qstring(journal->state.workspace_path);
      add_journal(*journal, found);
      if (!opening.is_restored) override_with(found.workspace, opening.given);
    }
  }
  opening.is_restored = true;
  if (found.path.isEmpty())
    recent_.add(to_qstring(tab->request().path), to_qstring(tab->request().backward));
  else
    recent_.add(found.path, {});
  if (!is_found) return;
  connect(
      &autosave, &Autosave::restored, this,
      [this, tab, found](int edits, const QStringList& refused) {
        show_restored(tab, found, edits, refused);
      },
      Qt::SingleShotConnection);
  connect(
      &autosave, &Autosave::restore_failed, this,
      [this, tab](const QString& why) {
        documents_.refresh_texts(tab);
        tab->insert_bar(
            new RestoreBar(tr("Your work was not restored: %1").arg(why), {}, false, tab));
      },
      Qt::SingleShotConnection);
  autosave.restore(found);
  // The layout belongs to the whole window, so it is restored only if this is the only document.
  if (!found.workspace.layout.empty() && documents_.count() == 1)
    window_.restoreState(QByteArray::fromBase64(QByteArray::fromStdString(found.workspace.layout)));
}

void Workspaces::reload() {
  if (DocumentTab* tab = documents_.tab()) tab->load();
}

// Unsaved edits are restored from the journal, and saved ones from the workspace. Edits may be
// saved while the graph is loading, so this is called once it has loaded.
void Workspaces::keep_saved(DocumentTab* tab) {
  const Autosave& autosave = tab->session()->autosave();
  if (autosave.is_dirty() || autosave.path().isEmpty()) return;
  auto workspace = autosave.without_changes(analysis_, openings_[tab].given);
  if (workspace)
    found_.insert_or_assign(tab,
                            SavedWork{.workspace = *std::move(workspace), .path = autosave.path()});
}

void Workspaces::show_restored(DocumentTab* tab, const SavedWork& found, int edits,
                               const QStringList& refused) {
  documents_.refresh_texts(tab);
  Autosave* autosave = &tab->session()->autosave();
  const bool was_left = !found.journal.isEmpty();
  const bool has_changed = autosave->has_changed(found);
  if (!was_left && refused.isEmpty() && !has_changed) return;
  const Document& document = *tab->document();
  const Editing& editing = document.editing();
  // If the workspace cannot be read, `discard` reports it.
  const auto before = autosave->without_changes(analysis_, openings_[tab].given);
  QStringList sentences{restored_text(
      {.edits = edits,
       .undone = editing.entry_count() - editing.place(),
       .states = static_cast<int>(editing.named().size()),
       .marks = static_cast<int>(document.marks().all().size()),
       .kernel_moves = static_cast<int>(document.kernel_order().move_count()),
       .has_pipeline = tab->session()->pipeline().draft().saved() != WorkspacePipeline(),
       .has_options =
           before && described(with_workspace(analysis_, before->options), document.graph()) !=
                         to_workspace(document.analysis().options),
       .has_assumptions =
           before && before->capture.assume != document.graph().assumptions().text()},
      tab->title(), found.changed_at)};
  if (has_changed) sentences << tr("The capture has changed since your work was saved.");
  sentences.removeAll(QString());
  if (sentences.isEmpty() && refused.isEmpty()) return;
  auto* bar = new RestoreBar(sentences.join(u' '), refused, was_left, tab);
  connect(bar, &RestoreBar::discarded, autosave,
          [this, tab, autosave] { autosave->discard(analysis_, openings_[tab].given); });
  tab->insert_bar(bar);
}

// --- Saving ---

bool Workspaces::save() {
  if (documents_.session() == nullptr) return false;
  Autosave* autosave = &documents_.session()->autosave();
  if (autosave->next_path().isEmpty()) return save_as();
  autosave->save(autosave->next_path(), window_.saveState());
  return true;
}

bool Workspaces::save_as() {
  if (documents_.session() == nullptr) return false;
  Autosave* autosave = &documents_.session()->autosave();
  if (documents_.document()->source().path == "-") {
    emit failed(
        tr("A graph that was read from standard input cannot be saved as a workspace. Save the "
           "input to a file and open that file."));
    return false;
  }
  const QString name = autosave->path().isEmpty()
                           ? QDir(folder_.path).filePath(documents_.document()->title() + kSuffix)
                           : autosave->path();
  QString path = QFileDialog::getSaveFileName(&window_, tr("Save Workspace"), name,
                                              tr("Workspaces (*%1)").arg(kSuffix));
  if (path.isEmpty()) return false;
  if (!path.endsWith(kSuffix)) path += kSuffix;
  folder_.remember(path);
  autosave->save(path, window_.saveState());
  return true;
}

}  // namespace jointer::desktop

#include "app/desktop/file_menu.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>

#include "app/desktop/export_menu.h"
#include "core/base/resources.h"
#include "views/session/open/open_requests.h"
#include "views/widgets/button_text.h"

namespace jointer::desktop {
namespace {

using namespace views;

const QString kFirstSample = QStringLiteral("samples/llama_8b_tp2_fsdp2.joint.json.zst");

}  // namespace

FileMenu::FileMenu(const MenuContext& context, Workspaces& workspaces, Closing& closing,
                   Recipes& recipes, RecentFiles& recent)
    : context_(context), workspaces_(workspaces), recent_(recent) {
  QMenu* menu = context_.bar.addMenu(tr("&File"));
  const auto add = context_.adder(menu, this);
  add(tr("&Open..."), {QKeySequence::Open}, Needs::nothing, &FileMenu::choose_files);
  add(tr("Open &Pair..."), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O)}, Needs::nothing,
      &FileMenu::choose_pair);
  add(tr("Open Log &Folder..."), {}, Needs::nothing, &FileMenu::choose_folder);
  fill_sample_menu(menu->addMenu(tr("Open Sa&mple")));
  recent_menu_ = menu->addMenu(tr("Open &Recent"));
  menu->addSeparator();
  context_.actions.add(menu, tr("&Save"), {QKeySequence::Save}, Needs::document, &workspaces_,
                       &Workspaces::save);
  context_.actions.add(menu, tr("Save &As..."), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S)},
                       Needs::document, &workspaces_, &Workspaces::save_as);
  context_.actions.add(menu, tr("Re&load"), {QKeySequence(Qt::Key_F5)}, Needs::document,
                       &workspaces_, &Workspaces::reload);
  new ExportMenu(context_, menu->addMenu(tr("&Export")), this);
  recipes.add_actions(menu);
  menu->addSeparator();
  context_.actions.add(menu, tr("&Close"), {QKeySequence(Qt::CTRL | Qt::Key_W)}, Needs::nothing,
                       &closing, [this, &closing] { closing.close(context_.documents.tab()); });
  context_.actions.add(menu, tr("&Quit"), {QKeySequence(Qt::CTRL | Qt::Key_Q)}, Needs::nothing,
                       &context_.window, &QWidget::close);
  connect(&recent_, &RecentFiles::changed, this, &FileMenu::fill_recent_menu);
  fill_recent_menu();
}

void FileMenu::fill_recent_menu() {
  recent_menu_->clear();
  const QStringList entries = recent_.list();
  for (const QString& entry : entries) {
    QAction* action = recent_menu_->addAction(button_text(RecentFiles::label(entry)));
    action->setStatusTip(RecentFiles::forward_of(entry));
    connect(action, &QAction::triggered, this, [this, entry] { open_recent(entry); });
  }
  if (!entries.isEmpty()) {
    recent_menu_->addSeparator();
    connect(recent_menu_->addAction(tr("Clear List")), &QAction::triggered, &recent_,
            &RecentFiles::clear);
  }
  recent_menu_->setEnabled(!entries.isEmpty());
}

void FileMenu::fill_sample_menu(QMenu* menu) {
  const QDir folder(QString::fromStdString(find_resource("samples")));
  for (const QString& name : folder.entryList({QStringLiteral("*.json.zst")}, QDir::Files)) {
    const QString path = folder.filePath(name);
    connect(menu->addAction(button_text(name.chopped(9))), &QAction::triggered, this,
            [this, path] { workspaces_.open({.path = path.toStdString()}); });
  }
  menu->setEnabled(!menu->isEmpty());
}

void FileMenu::choose_files() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      &context_.window, tr("Open Graphs"), context_.folder.path, graph_file_filter());
  if (paths.isEmpty()) return;
  context_.folder.remember(paths.front());
  workspaces_.open_all(requests_for(paths));
}

void FileMenu::choose_pair() {
  const QString forward = QFileDialog::getOpenFileName(&context_.window, tr("Open Forward Graph"),
                                                       context_.folder.path, graph_file_filter());
  if (forward.isEmpty()) return;
  context_.folder.remember(forward);
  const QString backward = QFileDialog::getOpenFileName(
      &context_.window, tr("Open Backward Graph for %1").arg(QFileInfo(forward).fileName()),
      context_.folder.path, graph_file_filter());
  if (!backward.isEmpty())
    workspaces_.open({.path = forward.toStdString(), .backward = backward.toStdString()});
}

void FileMenu::choose_folder() {
  const QString path = QFileDialog::getExistingDirectory(
      &context_.window, tr("Open TORCH_TRACE Log Folder"), context_.folder.path);
  if (path.isEmpty()) return;
  context_.folder.path = path;
  workspaces_.open({.path = path.toStdString()});
}

void FileMenu::open_sample() {
  const std::string path = find_resource(kFirstSample.toStdString());
  if (path.empty())
    return context_.status.say(
        tr("The sample graph is not installed. Reinstall Jointer, or open another graph."));
  workspaces_.open({.path = path});
}

void FileMenu::open_recent(const QString& entry) {
  workspaces_.open({.path = RecentFiles::forward_of(entry).toStdString(),
                    .backward = RecentFiles::backward_of(entry).toStdString()});
}

}  // namespace jointer::desktop

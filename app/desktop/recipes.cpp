#include "app/desktop/recipes.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <utility>

#include "core/base/bytes.h"
#include "core/edit/replay.h"
#include "views/session/edit/editing.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/qstring.h"
#include "views/session/work/task.h"
#include "views/widgets/controls.h"

namespace jointer::desktop {
namespace {

using namespace views;

const QString kRecipeSuffix = QStringLiteral(".recipe.json");

}  // namespace

void Recipes::add_actions(QMenu* menu) {
  context_.actions.add(menu, tr("Export Rec&ipe..."), {}, Needs::edits, this,
                       &Recipes::export_recipe);
  context_.actions.add(menu, tr("Appl&y Recipe..."), {}, Needs::document, this,
                       &Recipes::choose_recipe);
}

void Recipes::export_recipe() {
  const Document* document = context_.documents.document();
  if (document == nullptr) return;
  const QString path = QFileDialog::getSaveFileName(
      &context_.window, tr("Export Recipe"),
      QDir(context_.folder.path).filePath(document->title() + kRecipeSuffix),
      QStringLiteral("*%1").arg(kRecipeSuffix));
  if (path.isEmpty()) return;
  context_.folder.remember(path);
  const auto written = document->editing().write_recipe(path);
  if (!written) return context_.status.warn(to_qstring(written.error().message));
  context_.status.say(tr("Wrote %1.").arg(QDir::toNativeSeparators(path)));
}

void Recipes::choose_recipe() {
  const QString path =
      QFileDialog::getOpenFileName(&context_.window, tr("Apply Recipe"), context_.folder.path,
                                   tr("Recipes (*.json);;All files (*)"));
  if (path.isEmpty()) return;
  context_.folder.remember(path);
  apply(path);
}

void Recipes::apply(const QString& path) {
  if (Document* document = context_.documents.document()) apply(path, *document);
}

void Recipes::apply(const QString& path, Document& document) {
  const auto try_it = [path, now = document.shared_snapshot(), opened = document.baseline()] {
    return try_recipe(path, now->graph, opened->graph);
  };
  run_in_background(&document, try_it, [this, &document, path](const Result<Trial>& trial) {
    const QString name = QFileInfo(path).fileName();
    if (!trial) {
      const QString text =
          tr("%1 was not applied: %2").arg(name, to_qstring(trial.error().message));
      context_.status.say(text);
      return show_warning(tr("Apply Recipe"), text, &context_.window);
    }
    if (!trial->replay.other_graph.empty()) return ask(name, *trial, document);
    finish(name, trial->replay, document);
  });
}

Result<Recipes::Trial> Recipes::try_recipe(const QString& path, const Graph& now,
                                           const Graph& opened) {
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path.toStdString()));
  JOINTER_TRY(const Recipe recipe, read_recipe(bytes.view()));
  Graph graph = now;
  JOINTER_TRY(Replay done, replay(graph, recipe, true));
  if (!done.other_graph.empty()) {
    graph = opened;
    JOINTER_TRY(const Replay from_start, replay(graph, recipe, true));
    done.other_graph = from_start.other_graph;
  }
  return Trial{.graph = to_qstring(recipe.name), .replay = std::move(done)};
}

void Recipes::ask(const QString& name, const Trial& trial, Document& document) {
  auto* box = new QMessageBox(QMessageBox::Warning, tr("Apply Recipe"),
                              tr("%1: %2.").arg(name, to_qstring(trial.replay.other_graph)),
                              QMessageBox::Cancel, &context_.window);
  box->setObjectName(QStringLiteral("ask_about_other_graph"));
  box->setTextFormat(Qt::PlainText);
  box->setAttribute(Qt::WA_DeleteOnClose);
  QString more = tr("If you apply it to %1 anyway, changes that do not fit are skipped.")
                     .arg(document.title());
  if (!trial.graph.isEmpty())
    more.prepend(tr("The recipe was made for the graph %1.").arg(trial.graph) + u' ');
  box->setInformativeText(more);
  const QPushButton* apply = box->addButton(tr("Apply Anyway"), QMessageBox::AcceptRole);
  box->setDefaultButton(QMessageBox::Cancel);
  connect(apply, &QPushButton::clicked, &document,
          [this, name, replay = trial.replay, &document] { finish(name, replay, document); });
  box->open();
}

void Recipes::show_message(const QString& text, const QString& details) {
  auto* box = new QMessageBox(QMessageBox::Warning, tr("Apply Recipe"), text, QMessageBox::Ok,
                              &context_.window);
  box->setTextFormat(Qt::PlainText);
  box->setInformativeText(details.section(u'\n', 0, 4));
  box->setDetailedText(details);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

void Recipes::finish(const QString& name, const Replay& replay, Document& document) {
  document.editing().apply_all(replay.done);
  // Counts changes, not edits, since an edit may be applied in part.
  const QString skipped = counted_text(replay.skipped.size(), tr("1 change was skipped"),
                                       tr("%1 changes were skipped"));
  QString text = replay.skipped.empty() ? tr("Applied %1.").arg(name)
                 : replay.done.empty()  ? tr("%1 was not applied; %2.").arg(name, skipped)
                                        : tr("%1 was partially applied; %2.").arg(name, skipped);
  if (!replay.other_rank.empty()) text += tr(" Note: %1.").arg(to_qstring(replay.other_rank));
  QString details;
  for (const SkippedEdit& each : replay.skipped)
    details += tr("%1: %2\n").arg(to_qstring(each.title), to_qstring(each.why));
  context_.status.say(text);
  if (!details.isEmpty()) show_message(text, details);
}

}  // namespace jointer::desktop

#include "views/sac/policy_exchange.h"

#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <algorithm>
#include <array>

#include "core/base/bytes.h"
#include "core/edit/append.h"
#include "core/policy/import.h"
#include "core/policy/with_fsdp.h"
#include "views/session/edit/editing.h"
#include "views/session/open/open_graph.h"
#include "views/session/work/task.h"

namespace jointer::views {
namespace {

struct Format {
  PolicyFormat format;
  const char* name;
  const char* suffix;
};
constexpr std::array kFormats{
    Format{PolicyFormat::torchtitan,
           QT_TRANSLATE_NOOP("PolicyExchange", "torchtitan's Operator Set"), ".py"},
    Format{PolicyFormat::selectors, QT_TRANSLATE_NOOP("PolicyExchange", "Selectors"), ".txt"},
    Format{PolicyFormat::recipe, QT_TRANSLATE_NOOP("PolicyExchange", "Tag Recipe"), ".recipe.json"},
};

QString suffix_of(PolicyFormat format) {
  for (const Format& f : kFormats)
    if (f.format == format) return QString::fromLatin1(f.suffix);
  return {};
}

// The first sentence, and the number of those that follow.
QString first_of(const std::vector<std::string>& sentences) {
  const QString first = QString::fromStdString(sentences.front());
  if (sentences.size() == 1) return first;
  return PolicyExchange::tr("%1 (and %2 more)").arg(first).arg(sentences.size() - 1);
}

// "Copied. Not exported: 3 tensors ..."
QString with_omissions(const QString& done, const PolicyExport& made) {
  if (made.differences.empty()) return done;
  return PolicyExchange::tr("%1 Not exported: %2").arg(done, first_of(made.differences));
}

// "Imported operator list, 14 operators. No call of this graph is ..."
QString import_summary(const ImportedPolicy& policy) {
  const QString what = PolicyExchange::tr("Imported %1.").arg(QString::fromStdString(policy.what));
  return policy.notes.empty() ? what : what + u' ' + first_of(policy.notes);
}

// Exported text refers to the graph as opened, since training code has that one, or to the current
// graph if edits changed its nodes or their order.
const Graph& graph_of(const SacState& state, const Snapshot& opened) {
  const Graph& now = state.snapshot->graph;
  const bool has_same_calls = std::ranges::equal(now.order(), opened.graph.order());
  return has_same_calls ? opened.graph : now;
}

}  // namespace

PolicyExchange::PolicyExchange(SacSession& session, QWidget* window)
    : QObject(window), session_(session), window_(window), menu_(new QMenu(window)) {
  for (const Format& format : kFormats) {
    QAction* action = menu_->addAction(tr("Copy %1").arg(tr(format.name)), this,
                                       [this, &format] { copy(format.format); });
    action->setData(static_cast<int>(format.format));
  }
  menu_->addSeparator();
  for (const Format& format : kFormats)
    menu_->addAction(tr("Export %1...").arg(tr(format.name)), this,
                     [this, &format] { ask_where(format.format); });
  menu_->addSeparator();
  menu_->addAction(tr("Import from Clipboard"), this,
                   [this] { take(QGuiApplication::clipboard()->text()); });
  menu_->addAction(tr("Import from File..."), this, &PolicyExchange::ask_what);
}

// Runs on a worker thread, since it takes a while to find operator lists that express a plan.
void PolicyExchange::export_then(PolicyFormat format,
                                 std::function<void(const PolicyExport&)> use) {
  const SacStatePtr state = session_.state();
  if (!state || !state->can_change()) return emit message(tr("There is no plan to export yet."));
  const auto make = [state, format, opened = session_.open_graph().baseline()] {
    const Graph& graph = graph_of(*state, *opened);
    // The plan of a flat training step refers to the graph itself, on which no partitioner runs
    // again.
    if (state->is_step()) return export_plan(state->snapshot->graph, state->plan, format, graph);
    return export_plan(state->base->partition.joint, state->plan, format, graph,
                       {.partitioner = state->base->settings.partitioner,
                        .memory = state->snapshot->analysis.options.memory});
  };
  run_in_background(this, make, [this, use](const Result<PolicyExport>& made) {
    if (made)
      use(*made);
    else
      emit message(QString::fromStdString(made.error().message));
  });
}

void PolicyExchange::copy(PolicyFormat format) {
  export_then(format, [this](const PolicyExport& made) {
    QGuiApplication::clipboard()->setText(QString::fromStdString(made.text));
    emit message(with_omissions(tr("Copied."), made));
  });
}

void PolicyExchange::write(PolicyFormat format, const QString& path) {
  export_then(format, [this, path](const PolicyExport& made) {
    const auto written = write_bytes(path.toStdString(), made.text);
    emit message(written ? with_omissions(tr("Wrote %1.").arg(QDir::toNativeSeparators(path)), made)
                         : QString::fromStdString(written.error().message));
  });
}

void PolicyExchange::ask_where(PolicyFormat format) {
  const QString path = QFileDialog::getSaveFileName(
      window_, tr("Export"), session_.open_graph().title() + suffix_of(format),
      QStringLiteral("*%1").arg(suffix_of(format)));
  if (!path.isEmpty()) write(format, path);
}

void PolicyExchange::ask_what() {
  const QString path = QFileDialog::getOpenFileName(
      window_, tr("Operator sets, selectors, recipes, partitioner logs"), {}, tr("All files (*)"));
  if (!path.isEmpty()) read(path);
}

void PolicyExchange::read(const QString& path) {
  const auto bytes = read_bytes(path.toStdString());
  if (!bytes) return emit message(QString::fromStdString(bytes.error().message));
  take(QString::fromUtf8(bytes->view().data(), static_cast<qsizetype>(bytes->view().size())));
}

// Adds one history entry with the tags and, for a joint graph, the plan solved with them.
void PolicyExchange::take(const QString& text) {
  const SacStatePtr state = session_.state();
  if (!state || !state->can_change()) return emit message(tr("There is no graph to tag yet."));
  const auto read = [snapshot = session_.open_graph().shared_snapshot(),
                     opened = session_.open_graph().baseline(), text] {
    return import_policy(snapshot->graph, text.toStdString(), fsdp_policy(opened->graph));
  };
  run_in_background(this, read, [this](const Result<ImportedPolicy>& policy) {
    if (!policy) return emit message(QString::fromStdString(policy.error().message));
    if (policy->edits.empty())
      return emit message(tr("The imported policy does not apply to this graph."));
    Edit edit = policy->edits.front();
    for (std::size_t i = 1; i < policy->edits.size(); ++i) append(edit, policy->edits[i]);
    if (edit.by.empty()) edit.by = std::string(kImport);
    edit.notes.insert(edit.notes.end(), policy->notes.begin(), policy->notes.end());
    SolveSettings settings = session_.state() && session_.state()->base
                                 ? session_.state()->base->settings
                                 : SolveSettings();
    settings.ignore_tags = false;
    session_.apply_and_solve(std::move(edit), settings);
    emit message(import_summary(*policy));
  });
}

}  // namespace jointer::views

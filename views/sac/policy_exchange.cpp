#include "views/sac/policy_exchange.h"

#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMessageBox>
#include <QPushButton>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "core/base/bytes.h"
#include "core/edit/append.h"
#include "core/policy/import.h"
#include "core/policy/with_fsdp.h"
#include "views/session/edit/editing.h"
#include "views/session/open/open_graph.h"
#include "views/session/text/number_text.h"
#include "views/session/work/task.h"
#include "views/widgets/controls.h"

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

QString name_of(PolicyFormat format) {
  for (const Format& f : kFormats)
    if (f.format == format) return PolicyExchange::tr(f.name);
  return {};
}

// For example, "peak 40.9 GiB, step 1.059 s, 321 activations saved".
QString effect_text(const PlanEffect& effect) {
  const QString step = effect.step_ns > 0
                           ? PolicyExchange::tr(", step %1").arg(time_text(effect.step_ns))
                           : QString();
  return PolicyExchange::tr("peak %1%2, %3 saved")
      .arg(bytes_text(effect.peak_bytes), step,
           counted_text(effect.activations, PolicyExchange::tr("1 activation"),
                        PolicyExchange::tr("%1 activations")));
}

// The distance between the plan that exported text produces and the plan to export: the difference
// between their peaks, in bytes, or -1 if they are the same plan. The maximum if the effect of the
// text is not known.
std::int64_t distance_of(const PolicyExport& made) {
  if (made.gives_plan) return -1;
  if (!made.effect) return std::numeric_limits<std::int64_t>::max();
  return std::abs(made.effect->of_text.peak_bytes - made.effect->of_plan.peak_bytes);
}

// The first sentence, and the number of sentences that follow.
QString first_of(const std::vector<std::string>& sentences) {
  const QString first = to_qstring(sentences.front());
  if (sentences.size() == 1) return first;
  return PolicyExchange::tr("%1 (and %2 more)").arg(first, QString::number(sentences.size() - 1));
}

// For example, "Copied. Not exported: 3 tensors ...".
QString with_omissions(const QString& done, const PolicyExport& made) {
  if (made.differences.empty()) return done;
  return PolicyExchange::tr("%1 Not exported: %2").arg(done, first_of(made.differences));
}

// For example, "Imported operator set, 14 operators. No call of this graph is ...".
QString import_summary(const ImportedPolicy& policy) {
  const QString what = PolicyExchange::tr("Imported %1.").arg(to_qstring(policy.what));
  return policy.notes.empty() ? what : what + u' ' + first_of(policy.notes);
}

// Exported text refers to the graph as opened, since training code uses that graph. If edits
// changed the nodes or their order, exported text refers to the current graph.
const Graph& graph_of(const SacState& state, const Snapshot& opened) {
  const Graph& now = state.snapshot->graph;
  const bool has_same_calls = std::ranges::equal(now.order(), opened.graph.order());
  return has_same_calls ? opened.graph : now;
}

// The reason why policies can be neither exported nor imported; empty if they can.
QString why_unavailable(const SacSession& session) {
  if (!session.state())
    return session.is_working()
               ? PolicyExchange::tr("The plan is still being computed; try again when it is ready.")
               : PolicyExchange::tr(
                     "The plan has not been computed. First compute it in the SAC "
                     "pane.");
  if (!session.state()->can_change())
    return PolicyExchange::tr(
        "Policies can be exported or imported only for joint graphs and flat training steps. For a "
        "pair, first press Open as Joint Graph in the SAC pane.");
  return {};
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
                     [this, &format] { choose_export_file(format.format); });
  menu_->addSeparator();
  menu_->addAction(tr("Import from Clipboard"), this,
                   [this] { take(QGuiApplication::clipboard()->text()); });
  menu_->addAction(tr("Import from File..."), this, &PolicyExchange::choose_import);
}

Result<PolicyExchange::Exported> PolicyExchange::make_export(const SacState& state,
                                                             const Snapshot& opened,
                                                             PolicyFormat format) {
  const Graph& graph = graph_of(state, opened);
  ReadBack read_back{.memory = state.snapshot->analysis.options.memory};
  const Analysis& analysis = state.snapshot->analysis;
  if (state.is_step()) {
    read_back.step_peak = state.figures.figures.peak_bytes;
  } else {
    read_back.partitioner = state.base->settings.partitioner;
    read_back.costs = analysis.costs_of_operators();
    read_back.simulation = analysis.options.simulation;
    read_back.transfers = analysis.transfers;
  }
  const Graph& planned = state.is_step() ? state.snapshot->graph : state.base->partition.joint;
  const auto made_as = [&](PolicyFormat as) {
    return export_plan(planned, state.plan, as, graph, read_back);
  };
  Exported exported;
  JOINTER_TRY(exported.made, made_as(format));
  if (exported.made.gives_plan || format != PolicyFormat::torchtitan) return exported;
  if (auto selectors = made_as(PolicyFormat::selectors);
      selectors && distance_of(*selectors) < distance_of(exported.made))
    exported.selectors = *std::move(selectors);
  return exported;
}

// Exports on a worker thread, since finding an operator set that expresses a plan takes a while.
void PolicyExchange::export_then(PolicyFormat format, std::function<void(const PolicyExport&)> use,
                                 std::function<void(PolicyFormat)> instead) {
  if (const QString why = why_unavailable(session_); !why.isEmpty()) return emit message(why);
  const SacStatePtr state = session_.state();
  const auto make = [state, format, opened = session_.open_graph().baseline()] {
    return make_export(*state, *opened, format);
  };
  run_in_background(this, make, [this, format, use, instead](const Result<Exported>& exported) {
    if (!exported)
      show_warning(tr("Export"), to_qstring(exported.error().message), window_);
    else if (exported->made.gives_plan)
      use(exported->made);
    else
      ask(format, *exported, use, instead);
  });
}

void PolicyExchange::ask(PolicyFormat format, const Exported& exported,
                         const std::function<void(const PolicyExport&)>& use,
                         const std::function<void(PolicyFormat)>& instead) {
  auto* box = new QMessageBox(QMessageBox::Warning, tr("Export"),
                              tr("%1 cannot express this plan.").arg(name_of(format)),
                              QMessageBox::Cancel, window_);
  box->setObjectName(QStringLiteral("cannot_express"));
  box->setTextFormat(Qt::PlainText);
  box->setAttribute(Qt::WA_DeleteOnClose);
  const std::optional<TextEffect>& effect = exported.made.effect;
  box->setInformativeText(effect
                              ? tr("The plan: %1.\nWith the exported text: %2.")
                                    .arg(effect_text(effect->of_plan), effect_text(effect->of_text))
                              : to_qstring(exported.made.differences.front()));
  const auto add = [&](const QString& text, std::function<void()> action) {
    connect(box->addButton(text, QMessageBox::ActionRole), &QPushButton::clicked, this,
            std::move(action));
  };
  if (format != PolicyFormat::recipe)
    add(tr("Use a Tag Recipe"), [instead] { instead(PolicyFormat::recipe); });
  if (exported.selectors)
    add(exported.selectors->effect
            ? tr("Use Selectors (Peak %1)")
                  .arg(bytes_text(exported.selectors->effect->of_text.peak_bytes))
            : tr("Use Selectors"),
        [instead] { instead(PolicyFormat::selectors); });
  add(tr("Export Anyway"), [use, made = exported.made] { use(made); });
  box->open();
}

void PolicyExchange::copy(PolicyFormat format) {
  const auto use = [this](const PolicyExport& made) {
    QGuiApplication::clipboard()->setText(to_qstring(made.text));
    emit message(with_omissions(tr("Copied."), made));
  };
  export_then(format, use, [this](PolicyFormat other) { copy(other); });
}

void PolicyExchange::write(PolicyFormat format, const QString& path) {
  const auto use = [this, path](const PolicyExport& made) {
    const auto written = write_bytes(path.toStdString(), made.text);
    if (!written) return show_warning(tr("Export"), to_qstring(written.error().message), window_);
    emit message(with_omissions(tr("Wrote %1.").arg(QDir::toNativeSeparators(path)), made));
  };
  export_then(format, use, [this](PolicyFormat other) { choose_export_file(other); });
}

void PolicyExchange::choose_export_file(PolicyFormat format) {
  const QString path =
      QFileDialog::getSaveFileName(window_, tr("Export %1").arg(name_of(format)),
                                   session_.open_graph().title() + suffix_of(format),
                                   QStringLiteral("*%1").arg(suffix_of(format)));
  if (!path.isEmpty()) write(format, path);
}

void PolicyExchange::choose_import() {
  const QString path = QFileDialog::getOpenFileName(
      window_, tr("Import Operator Set, Selectors, Recipe or Partitioner Log"), {},
      tr("All files (*)"));
  if (!path.isEmpty()) read(path);
}

void PolicyExchange::read(const QString& path) {
  const auto bytes = read_bytes(path.toStdString());
  if (!bytes) return show_warning(tr("Import"), to_qstring(bytes.error().message), window_);
  take(to_qstring(bytes->view()));
}

// Adds one history entry with the tags and, for a joint graph, the plan that is solved with them.
void PolicyExchange::take(const QString& text) {
  if (const QString why = why_unavailable(session_); !why.isEmpty()) return emit message(why);
  const auto read = [snapshot = session_.open_graph().shared_snapshot(),
                     opened = session_.open_graph().baseline(), text] {
    return import_policy(snapshot->graph, text.toStdString(), fsdp_policy(opened->graph));
  };
  run_in_background(this, read, [this](const Result<ImportedPolicy>& policy) {
    if (!policy) return show_warning(tr("Import"), to_qstring(policy.error().message), window_);
    if (policy->edits.empty())
      return show_warning(tr("Import"), tr("The imported policy does not apply to this graph."),
                          window_);
    Edit edit = policy->edits.front();
    for (std::size_t i = 1; i < policy->edits.size(); ++i) append(edit, policy->edits[i]);
    if (edit.by.empty()) edit.by = std::string(kImport);
    edit.notes.insert(edit.notes.end(), policy->notes.begin(), policy->notes.end());
    SolveSettings settings = session_.state() && session_.state()->base
                                 ? session_.state()->base->settings
                                 : SolveSettings();
    settings.ignore_tags = false;
    if (session_.apply_and_solve(std::move(edit), settings)) emit message(import_summary(*policy));
  });
}

}  // namespace jointer::views

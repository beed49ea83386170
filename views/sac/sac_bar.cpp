#include "views/sac/sac_bar.h"

#include <QHBoxLayout>

#include "core/policy/tagging.h"
#include "views/benchmark/flow_layout.h"
#include "views/document/document.h"
#include "views/sac/policy_exchange.h"

namespace jointer::views {
namespace {

constexpr int kMargin = 8, kSpacing = 6;
constexpr double kBudgetStep = 0.05;
const QString kApplySac = QStringLiteral("apply_sac");

}  // namespace

SacBar::SacBar(SacSession& session, QWidget* parent) : QWidget(parent), session_(session) {
  auto* row = new FlowLayout(this, kSpacing, 4);
  row->setContentsMargins(kMargin, 4, kMargin, 4);
  partitioner_ = new QComboBox(this);
  partitioner_->setAccessibleName(tr("Partitioner"));
  partitioner_->addItem(tr("min_cut"), static_cast<int>(Partitioner::min_cut));
  partitioner_->addItem(tr("default"), static_cast<int>(Partitioner::default_partition));
  partitioner_->setToolTip(
      tr("min_cut: torch's min_cut_rematerialization_partition, which recomputes what is cheap.\n"
         "default: torch's default_partition, which saves what the backward reads, tags aside."));
  row->addWidget(partitioner_);
  ignore_tags_ = new QCheckBox(tr("ignore tags"), this);
  ignore_tags_->setToolTip(tr("Solve as if nothing were tagged or ticked."));
  row->addWidget(ignore_tags_);
  budget_ = new QDoubleSpinBox(this);
  budget_->setRange(0, 1);
  budget_->setDecimals(3);
  budget_->setSingleStep(kBudgetStep);
  budget_->setPrefix(tr("budget "));
  budget_->setAccessibleName(tr("Activation budget"));
  budget_->setToolTip(
      tr("torch's activation_memory_budget: 1 keeps what the cut keeps, 0 keeps inputs only; "
         "between them a knapsack decides what is worth its memory."));
  row->addWidget(budget_);
  solve_ = new QPushButton(tr("Solve again"), this);
  solve_->setToolTip(tr("Partition anew under these settings, with what is ticked as tags."));
  row->addWidget(solve_);
  more_ = new QWidget(this);
  auto* more = new QHBoxLayout(more_);
  more->setContentsMargins(0, 0, 4, 0);
  more->setSpacing(2);
  const auto add_button = [&](const QString& text, const QString& tip) {
    auto* button = new QToolButton(more_);
    button->setText(text);
    button->setToolTip(tip);
    button->setAutoRaise(true);
    more->addWidget(button);
    return button;
  };
  const auto add_menu = [&](const QString& text, const QString& tip, QMenu* menu) {
    QToolButton* button = add_button(text, tip);
    button->setMenu(menu);
    button->setPopupMode(QToolButton::InstantPopup);
    return button;
  };
  presets_ = add_menu(tr("Presets"), tr("Lists and policies of upstream, as tags; then solve"),
                      make_presets());
  exchange_ = add_menu(tr("Exchange"), tr("Export and import what is saved"), make_exchange());
  pair_ = add_button(tr("Open as pair"),
                     tr("The forward and the backward of this plan in a tab of their own: to run, "
                        "compare, edit, export."));

  const auto only_min_cut = [this] {
    budget_->setEnabled(settings().partitioner == Partitioner::min_cut);
  };
  connect(partitioner_, &QComboBox::currentIndexChanged, this, only_min_cut);
  connect(solve_, &QPushButton::clicked, this, &SacBar::solve);
  connect(pair_, &QToolButton::clicked, this, &SacBar::pair_wanted);
  connect(&session_, &SacSession::changed, this, &SacBar::refresh);
  refresh();
}

SolveSettings SacBar::settings() const {
  return {.partitioner = static_cast<Partitioner>(partitioner_->currentData().toInt()),
          .ignore_tags = ignore_tags_->isChecked(),
          .activation_budget = budget_->value()};
}

// The controls show how the plan was solved, until a person changes them.
void SacBar::refresh() {
  const SacStatePtr state = session_.state();
  setVisible(state && state->can_change());
  more_->setVisible(state && state->can_change());
  if (!state || state->base == shown_ || !state->base) return;
  shown_ = state->base;
  const SolveSettings& settings = shown_->settings;
  partitioner_->setCurrentIndex(partitioner_->findData(static_cast<int>(settings.partitioner)));
  ignore_tags_->setChecked(settings.ignore_tags);
  budget_->setValue(settings.activation_budget);
}

void SacBar::solve() {
  session_.solve(settings());
}

// --- Presets ---

QMenu* SacBar::make_presets() {
  auto* menu = new QMenu(this);
  menu->setToolTipsVisible(true);
  const auto add = [&](const QString& text, const QString& tip, auto action) {
    QAction* entry = menu->addAction(text, this, action);
    entry->setToolTip(tip);
  };
  add(tr("apply_sac"),
      tr("torchtitan's list: saves what is dear to compute, and every second matrix product"),
      [this] { take_preset(kApplySac); });
  menu->addSeparator();
  for (const MemoryPolicyPreset& preset : memory_policy_presets()) {
    const QString name = QString::fromStdString(preset.name);
    add(tr("Policy “%1”").arg(name), QString::fromStdString(preset.summary),
        [this, name] { take_preset(name); });
  }
  menu->addSeparator();
  add(tr("Gathered parameters are made again"), tr("fsdp_reshard_after_fwd: always"),
      [this] { apply(fsdp_reshard_after_fwd(session_.document().graph(), true)); });
  add(tr("Gathered parameters are saved"), tr("fsdp_reshard_after_fwd: never"),
      [this] { apply(fsdp_reshard_after_fwd(session_.document().graph(), false)); });
  add(tr("Remove all tags"), tr("The partitioner decides about everything"),
      [this] { apply(remove_tags(session_.document().graph())); });
  return menu;
}

void SacBar::take_preset(const QString& name) {
  const Graph& graph = session_.document().graph();
  apply(name == kApplySac ? apply_sac(graph) : tag_with_memory_policy(graph, name.toStdString()));
}

// Tags are made to be obeyed.
void SacBar::apply(const Result<Edit>& edit) {
  if (!edit) return emit told(QString::fromStdString(edit.error().message));
  SolveSettings settings = this->settings();
  settings.ignore_tags = false;
  session_.apply_and_solve(*edit, settings);
}

QMenu* SacBar::make_exchange() {
  auto* exchange = new PolicyExchange(session_, this);
  connect(exchange, &PolicyExchange::told, this, &SacBar::told);
  return exchange->menu();
}

}  // namespace jointer::views

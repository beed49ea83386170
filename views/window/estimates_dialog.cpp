#include "views/window/estimates_dialog.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "core/graph/group_argument.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr int kMaxGpus = 1 << 16, kMaxOfGroup = 1 << 20;
constexpr int kUnknown = 0;  // stands for an unknown number

}  // namespace

EstimatesDialog::EstimatesDialog(Document& document, QWidget* parent)
    : QDialog(parent), document_(document) {
  setWindowTitle(tr("Estimates"));
  setObjectName(QStringLiteral("estimates_dialog"));
  auto* column = new QVBoxLayout(this);
  auto* scrolled = new QScrollArea(this);
  scrolled->setFrameShape(QFrame::NoFrame);
  scrolled->setWidgetResizable(true);
  scrolled->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget(scrolled);
  auto* form = new QFormLayout(content);
  add_estimator(*form);
  add_gpus(*form);
  add_sizes(*form);
  add_groups(*form);
  scrolled->setWidget(content);
  column->addWidget(scrolled, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Apply | QDialogButtonBox::Close, this);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  QPushButton* apply = buttons->button(QDialogButtonBox::Apply);
  apply->setDefault(true);
  connect(apply, &QPushButton::clicked, this, [this] {
    document_.analyze_with(options(), assumptions());
    accept();
  });
}

void EstimatesDialog::add_estimator(QFormLayout& form) {
  estimator_ = new QComboBox(this);
  estimator_->setObjectName(QStringLiteral("estimator"));
  estimator_->setEditable(true);
  for (const char* name : {"roofline", "kernels", "simple", "torch-2.11", "torch-2.15", "measured"})
    estimator_->addItem(QLatin1String(name));
  estimator_->setCurrentText(to_qstring(document_.wanted_options().estimator.name));
  estimator_->setToolTip(tr(
      "Accepts the same values as the command-line option --estimator, such as "
      "simple{coll_us=20,...}, profile{trace=\"trace.json\"} or measured{device=\"NVIDIA H200\"}"));
  form.addRow(tr("&Estimator:"), estimator_);
}

void EstimatesDialog::add_gpus(QFormLayout& form) {
  gpus_ = new QSpinBox(this);
  gpus_->setObjectName(QStringLiteral("gpus_per_node"));
  gpus_->setRange(1, kMaxGpus);
  gpus_->setValue(static_cast<int>(document_.wanted_options().estimator.gpus_per_node));
  gpus_->setToolTip(tr("Number of GPUs connected by fast links. Ranks fill nodes in order."));
  form.addRow(tr("&GPUs per node:"), gpus_);
}

void EstimatesDialog::add_number(QFormLayout& form, const QString& label,
                                 const QString& object_name, const std::string& assumption,
                                 const QString& unknown, const QString& unit) {
  const auto& assumed = document_.wanted_assumptions().named;
  auto* box = new QSpinBox(this);
  box->setObjectName(object_name);
  box->setRange(kUnknown, kMaxOfGroup);
  box->setSpecialValueText(unknown);
  box->setSuffix(unit);
  const auto known = assumed.find(assumption);
  box->setValue(known == assumed.end() ? kUnknown : static_cast<int>(known->second));
  form.addRow(label, box);
  numbers_.emplace_back(assumption, box);
}

void EstimatesDialog::add_sizes(QFormLayout& form) {
  const Graph& graph = document_.graph();
  const std::vector<UnsizedGroup> groups = unsized_groups(graph);
  if (groups.empty()) return;
  auto* text = new QLabel(
      tr("The capture lacks the number of ranks of these process groups. Collectives with more "
         "ranks take longer, above all if the ranks are on several nodes."),
      this);
  text->setWordWrap(true);
  form.addRow(text);
  for (const UnsizedGroup& group : groups) {
    const QString name = to_qstring(group.name);
    const Node& collective = graph.node(group.collective);
    const QString unknown = graph.part(collective.part).world_size
                                ? tr("Unknown (assume %1, the world size)")
                                : tr("Unknown (assume %1)");
    add_number(form,
               group.group ? tr("%1, number of ranks:").arg(name)
                           : tr("Collectives without a group, number of ranks:"),
               QStringLiteral("ranks_of_") + name, ranks_name(group.name),
               unknown.arg(default_group_size(graph, collective)), tr(" ranks"));
  }
}

void EstimatesDialog::add_groups(QFormLayout& form) {
  const Graph& graph = document_.graph();
  const std::vector<UnsizedGroup> unsized = unsized_groups(graph);
  bool is_first = true;
  for (std::size_t i = 0; i < graph.group_count(); ++i) {
    const ProcessGroup& group = graph.group(GroupId(i));
    const bool has_size =
        std::ranges::find(unsized, GroupId(i), &UnsizedGroup::group) == unsized.end();
    if ((has_size && group.ranks.size() < 2) || !has_guessed_ranks(graph, group)) continue;
    if (std::exchange(is_first, false)) {
      auto* text = new QLabel(
          tr("The capture does not list the ranks of these process groups. How far apart are "
             "successive ranks of a group? On a mesh of 8 × 8 GPUs, for example, they are 1 "
             "apart in one dimension and 8 apart in the other. The estimators torch-2.11 and "
             "torch-2.15 use only the sizes of groups."),
          this);
      text->setWordWrap(true);
      form.addRow(text);
    }
    const QString name = to_qstring(graph.text(group.name));
    add_number(form,
               has_size ? tr("%1, %2:").arg(
                              name, counted_text(group.ranks.size(), tr("1 rank"), tr("%1 ranks")))
                        : tr("%1, distance:").arg(name),
               QStringLiteral("stride_of_") + name, stride_name(graph.text(group.name)),
               tr("Unknown (assume consecutive)"), tr(" apart"));
  }
}

AnalysisOptions EstimatesDialog::options() const {
  AnalysisOptions options = document_.wanted_options();
  options.estimator.name = estimator_->currentText().trimmed().toStdString();
  options.estimator.gpus_per_node = gpus_->value();
  return options;
}

Assumptions EstimatesDialog::assumptions() const {
  Assumptions assumptions = document_.wanted_assumptions();
  for (const auto& [name, box] : numbers_) {
    assumptions.named.erase(name);
    if (box->value() != kUnknown) assumptions.named.emplace(name, box->value());
  }
  return assumptions;
}

}  // namespace jointer::views

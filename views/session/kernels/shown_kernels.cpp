#include "views/session/kernels/shown_kernels.h"

#include <utility>

#include "views/session/kernels/asked_kernels.h"
#include "views/session/kernels/kernel_order_edits.h"
#include "views/session/kernels/opened_kernels.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/kernels/traced_kernels.h"

namespace jointer::views {
namespace {

const SnapshotKernelsPtr kNoKernels;
const QString kNoProblem;

}  // namespace

ShownKernels::ShownKernels(const PredictedKernels& predicted, const KernelOrderEdits& order,
                           const AskedKernels& asked, const OpenedKernels& opened,
                           const TracedKernels& traced, QObject* parent)
    : QObject(parent),
      predicted_(predicted),
      order_(order),
      asked_(asked),
      opened_(opened),
      traced_(traced) {
  connect(&order_, &KernelOrderEdits::changed, this, [this] {
    if (source_ == Source::predicted) emit changed();
  });
  connect(&asked_, &AskedKernels::changed, this, [this] {
    if (source_ == Source::asked) emit changed();
  });
  connect(&opened_, &OpenedKernels::changed, this, &ShownKernels::follow_opened);
  connect(&opened_, &OpenedKernels::opened, this, [this] { set_source(Source::compiled); });
  connect(&traced_, &TracedKernels::changed, this, &ShownKernels::follow_traced);
  connect(&traced_, &TracedKernels::opened, this, [this] { set_source(Source::measured); });
}

void ShownKernels::follow_opened() {
  if (source_ != Source::compiled) return;
  if (!opened_.shown()) source_ = Source::predicted;
  emit changed();
}

void ShownKernels::follow_traced() {
  if (source_ != Source::measured) return;
  if (!traced_.shown()) source_ = Source::predicted;
  emit changed();
}

void ShownKernels::set_source(Source source) {
  if (std::exchange(source_, source) != source) emit changed();
}

const SnapshotKernelsPtr& ShownKernels::shown() const {
  if (source_ == Source::predicted) return order_.shown();
  if (source_ == Source::compiled) return opened_.shown();
  if (source_ == Source::measured) return traced_.shown();
  return asked_.answer() ? asked_.answer()->kernels : kNoKernels;
}

bool ShownKernels::is_current() const {
  if (!shown()) return true;
  if (source_ == Source::predicted) return predicted_.is_current() && order_.is_current();
  if (source_ == Source::measured) return traced_.is_current();
  return source_ == Source::compiled ? opened_.is_current() : !asked_.is_of_earlier_graph();
}

const QString& ShownKernels::problem() const {
  if (source_ == Source::compiled || source_ == Source::measured) return kNoProblem;
  if (source_ == Source::asked) return asked_.problem();
  return predicted_.problem().isEmpty() ? order_.problem() : predicted_.problem();
}

QString ShownKernels::state_text() const {
  const QString earlier = tr("for an earlier graph");
  switch (source_) {
    case Source::predicted:
      if (!predicted_.problem().isEmpty()) return tr("cannot be predicted");
      if (shown() && is_current()) return {};
      // The rows of the order may be missing although the kernels are known.
      return predicted_.is_current() && !order_.problem().isEmpty() ? tr("cannot be ordered")
                                                                    : tr("predicting...");
    case Source::asked:
      if (shown()) return is_current() ? QString() : earlier;
      if (asked_.is_running()) return tr("asking...");
      return asked_.problem().isEmpty() ? tr("not asked") : tr("no answer");
    case Source::compiled:
    case Source::measured:
      return is_current() ? QString() : earlier;
  }
  return {};
}

}  // namespace jointer::views

#include "views/session/kernels/shown_kernels.h"

#include <utility>

#include "views/session/kernels/asked_kernels.h"
#include "views/session/kernels/predicted_kernels.h"

namespace jointer::views {
namespace {

const SnapshotKernelsPtr kNoKernels;

}  // namespace

ShownKernels::ShownKernels(const PredictedKernels& predicted, const AskedKernels& asked,
                           QObject* parent)
    : QObject(parent), predicted_(predicted), asked_(asked) {
  connect(&predicted_, &PredictedKernels::changed, this, [this] {
    if (source_ == Source::predicted) emit changed();
  });
  connect(&asked_, &AskedKernels::changed, this, [this] {
    if (source_ == Source::asked) emit changed();
  });
}

void ShownKernels::set_source(Source source) {
  if (std::exchange(source_, source) != source) emit changed();
}

const SnapshotKernelsPtr& ShownKernels::shown() const {
  if (source_ == Source::predicted) return predicted_.shown();
  return asked_.answer() ? asked_.answer()->kernels : kNoKernels;
}

bool ShownKernels::is_current() const {
  return source_ == Source::predicted ? predicted_.is_current() : !asked_.is_of_earlier_graph();
}

const QString& ShownKernels::problem() const {
  return source_ == Source::predicted ? predicted_.problem() : asked_.problem();
}

}  // namespace jointer::views

#include "views/session/kernels/kernel_source_text.h"

#include "views/session/translation/tr.h"

namespace jointer::views {

QString kernel_source_word(ShownKernels::Source source) {
  switch (source) {
    case ShownKernels::Source::predicted:
      return tr("kernels");
    case ShownKernels::Source::asked:
      return tr("Inductor");
    case ShownKernels::Source::compiled:
      return tr("compiled");
    case ShownKernels::Source::measured:
      return tr("measured");
  }
  return {};
}

QString kernel_source_legend(ShownKernels::Source source) {
  switch (source) {
    case ShownKernels::Source::predicted:
      return tr("predicted");
    case ShownKernels::Source::asked:
      return tr("Inductor's answer");
    case ShownKernels::Source::compiled:
      return tr("compiled artifacts");
    case ShownKernels::Source::measured:
      return tr("measured (trace)");
  }
  return {};
}

QString kernel_source_title(ShownKernels::Source source) {
  switch (source) {
    case ShownKernels::Source::predicted:
      return tr("Predicted kernel");
    case ShownKernels::Source::asked:
      return tr("Inductor's kernel");
    case ShownKernels::Source::compiled:
      return tr("Compiled kernel");
    case ShownKernels::Source::measured:
      return tr("Measured kernel");
  }
  return {};
}

}  // namespace jointer::views

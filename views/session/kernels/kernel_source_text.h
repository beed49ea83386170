#pragma once

#include <QString>

#include "views/session/kernels/shown_kernels.h"

namespace jointer::views {

// The source of the kernels that panes show, in words that every pane uses.

// Where space is short: "kernels" for predicted ones, "Inductor", "compiled", "measured".
QString kernel_source_word(ShownKernels::Source source);
// In legends: "predicted", "Inductor's answer".
QString kernel_source_legend(ShownKernels::Source source);
// The title of a kernel: "Predicted kernel", "Inductor's kernel".
QString kernel_source_title(ShownKernels::Source source);

}  // namespace jointer::views

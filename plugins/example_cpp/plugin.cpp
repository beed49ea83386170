#include "plugins/cpp/plugin.h"

#include "sink_calls.h"

namespace {

using jointer::Parameter;

std::vector<jointer::Pass> passes() {
  return {{.info = {.name = "sink_calls",
                    .summary = "Moves calls of some operators to just before their first use.",
                    .stage = jointer::PassStage::reordering,
                    .parameters = {{.name = "operators",
                                    .type = Parameter::Type::list,
                                    .default_value =
                                        jointer::PassValue::List{"aten.full.*", "aten.arange.*"},
                                    .doc = "Operator patterns, such as aten.full.*."},
                                   {.name = "most",
                                    .type = Parameter::Type::integer,
                                    .min = 1,
                                    .doc = "Maximum number of calls to move; default: all."}},
                    .keeps_numerics = true,
                    .is_idempotent = false},
           .run = example::sink_calls}};
}

}  // namespace

JOINTER_PLUGIN(passes)

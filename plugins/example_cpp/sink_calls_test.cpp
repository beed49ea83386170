// Tests the pass as a function on a graph. The test uses only a graph literal, not a plugin.

#include "sink_calls.h"

#include <cstdio>

#include "core/graph/literal.h"
#include "core/graph/validate.h"

int main() {
  using namespace jointer;
  auto graph = parse_literal(R"(
    x: f32[8,8] = input
    zero: f32[8,8] = aten.full([8, 8], 0.0)
    a: f32[8,8] = aten.mm(x, x)
    b: f32[8,8] = aten.mm(a, x)
    c: f32[8,8] = aten.add.Tensor(b, zero)
    return [c]
  )");
  const Parameter operators{.name = "operators", .type = Parameter::Type::list};
  const auto arguments =
      Arguments::check(std::span(&operators, 1), {{"operators", PassValue::List{"aten.full.*"}}});
  if (!graph || !arguments) return 1;
  const PassContext::Options options;
  PassContext context(options);
  const auto done = example::sink_calls(*graph, *arguments, context);
  const bool is_sound = done && validate(*graph);
  const bool is_late =
      graph->position(graph->find("zero")) + 1 == graph->position(graph->find("c"));
  const bool is_said = context.decisions().size() == 1 && context.decisions()[0].action == "moved";
  if (is_sound && is_late && is_said) return 0;
  std::fprintf(stderr, "valid %d, just before its reader %d, reported %d\n", is_sound, is_late,
               is_said);
  return 1;
}

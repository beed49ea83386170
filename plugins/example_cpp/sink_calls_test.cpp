// Tests the pass as a function on a graph. The test uses only a graph literal, not a plugin.

#include "sink_calls.h"

#include <cstdio>
#include <string>
#include <string_view>

#include "core/graph/literal.h"
#include "core/graph/validate.h"

namespace {

using namespace jointer;

// Returns true if the pass moves the call `name` to right before `reader` and gives `reason`.
bool sinks(std::string_view text, std::string_view name, std::string_view reader,
           std::string_view reason) {
  auto graph = parse_literal(text);
  if (!graph) return false;
  const Parameter operators{.name = "operators", .type = Parameter::Type::list};
  const std::string target(graph->target(graph->node(graph->find(name))));
  const auto arguments =
      Arguments::check(std::span(&operators, 1), {{"operators", PassValue::List{target}}});
  if (!arguments) return false;
  const PassContext::Options options;
  PassContext context(options);
  const auto done = example::sink_calls(*graph, *arguments, context);
  const bool is_sound = done && validate(*graph);
  const bool is_late =
      graph->position(graph->find(name)) + 1 == graph->position(graph->find(reader));
  const bool is_said = context.decisions().size() == 1 && context.decisions()[0].reason == reason;
  if (is_sound && is_late && is_said) return true;
  std::fprintf(stderr, "valid %d, just before its reader %d, reported %d\n", is_sound, is_late,
               is_said);
  return false;
}

}  // namespace

int main() {
  const bool to_reader = sinks(R"(
    x: f32[8,8] = input
    zero: f32[8,8] = aten.full([8, 8], 0.0)
    a: f32[8,8] = aten.mm(x, x)
    b: f32[8,8] = aten.mm(a, x)
    c: f32[8,8] = aten.add.Tensor(b, zero)
    return [c]
  )",
                               "zero", "c", "c is the first call that reads it.");
  const bool to_write = sinks(R"(
    x: f32[8,8] = input
    y: f32[8,8] = input
    n: f32[8,8] = aten.neg(x)
    a: f32[8,8] = aten.mm(y, y)
    w: f32[8,8] = aten.add_.Tensor(x, a)
    b: f32[8,8] = aten.mul.Tensor(n, w)
    return [b]
  )",
                              "n", "w",
                              "Held by w: n must stay before it, because one of them writes to "
                              "memory that the other uses.");
  return to_reader && to_write ? 0 : 1;
}

// Passes that misbehave, and some that behave well.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <stdexcept>

#include "core/graph/literal.h"
#include "plugins/cpp/plugin.h"

namespace {

using namespace jointer;

using Run = Result<void> (*)(Graph&, const Arguments&, PassContext&);

Result<void> throw_exception(Graph& graph, const Arguments&, PassContext&) {
  graph.set_title("half done");
  throw std::runtime_error("the sky\nfell");
}

Result<void> throw_number(Graph&, const Arguments&, PassContext&) {
  throw 7;
}

Result<void> loop(Graph&, const Arguments&, PassContext&) {
  const volatile bool for_ever = true;
  while (for_ever) {
  }
  return {};
}

// Never returns by itself, but reports its progress.
Result<void> report(Graph&, const Arguments&, PassContext& context) {
  for (double done = 0;; done += 1e-7) JOINTER_CHECK(context.report(done));
}

Result<void> eat_memory(Graph&, const Arguments&, PassContext&) {
  constexpr std::size_t kBlock = std::size_t{8} << 20;
  std::vector<std::vector<char>> held;
  for (;;) held.emplace_back(kBlock, 'x');
}

Result<void> crash(Graph&, const Arguments&, PassContext&) {
  std::fprintf(stderr, "last words\n");
  std::raise(SIGSEGV);
  return {};
}

Result<void> leave(Graph&, const Arguments&, PassContext&) {
  ::_exit(0);
}

// Moves the first call before its inputs.
Result<void> break_order(Graph& graph, const Arguments&, PassContext&) {
  std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (graph.node(order[i]).kind == NodeKind::call) {
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i),
                  order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      break;
    }
  graph.set_order(std::move(order));
  return {};
}

// Writes to every open file, including the message pipe.
Result<void> write_garbage(Graph&, const Arguments&, PassContext&) {
  constexpr std::string_view kGarbage = "{\"event\": [\x01 nothing\n";
  for (int file = 3; file < 16; ++file)
    if (::write(file, kGarbage.data(), kGarbage.size()) < 0) continue;
  return {};
}

Result<void> print(Graph&, const Arguments&, PassContext&) {
  std::cout << "{\"event\": \"done\"}\n" << std::flush;
  std::printf("hello from printf\n");
  std::fflush(stdout);
  return {};
}

Result<void> refuse(Graph&, const Arguments&, PassContext&) {
  return fail(Error::Kind::usage, "it needs another graph");
}

// Moves one node right before another, if that is legal.
Result<void> swap(Graph& graph, const Arguments& arguments, PassContext& context) {
  const NodeId moved = graph.find(arguments.text("node"));
  const NodeId before = graph.find(arguments.text("before"));
  graph.move(std::span(&moved, 1), before);
  context.decide(graph, moved, "moved", "Requested by the test.");
  return {};
}

Result<void> make_another(Graph& graph, const Arguments&, PassContext&) {
  JOINTER_TRY(graph,
              parse_literal("device cpu\nx: f32[8] = input\nk: f32[8] = constant\nreturn [k]"));
  return {};
}

Result<void> tabulate(Graph&, const Arguments&, PassContext& context) {
  context.add_table({.title = "what it saw",
                     .columns = {{"size", PassTable::Unit::bytes}, {"kind", PassTable::Unit::text}},
                     .rows = {{.node = "a", .cells = {std::int64_t{32}, std::string("call")}},
                              {.node = "", .cells = {std::monostate(), std::string("all")}}}});
  return {};
}

Result<void> drop_output(Graph& graph, const Arguments&, PassContext&) {
  JOINTER_TRY(graph, parse_literal("device cpu\nx: f32[8] = input\nreturn []"));
  return {};
}

std::vector<Pass> passes() {
  std::vector<Pass> all;
  const auto add = [&](const char* name, Run run, std::vector<Parameter> parameters = {}) {
    all.push_back({.info = {.name = name,
                            .summary = "A pass for tests.",
                            .parameters = std::move(parameters)},
                   .run = run});
  };
  add("throw_exception", throw_exception);
  add("throw_number", throw_number);
  add("loop", loop);
  add("report", report);
  add("eat_memory", eat_memory);
  add("crash", crash);
  add("leave", leave);
  add("break_order", break_order);
  add("write_garbage", write_garbage);
  add("print", print);
  add("refuse", refuse);
  add("swap", swap,
      {{.name = "node", .type = Parameter::Type::text, .default_value = "b"},
       {.name = "before", .type = Parameter::Type::text, .default_value = "a"},
       {.name = "share",
        .type = Parameter::Type::number,
        .default_value = 0.5,
        .min = 0,
        .max = 1}});
  add("make_another", make_another);
  add("tabulate", tabulate);
  add("drop_output", drop_output);
  return all;
}

}  // namespace

JOINTER_PLUGIN(passes)

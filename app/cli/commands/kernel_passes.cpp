#include "app/cli/commands/kernel_passes.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/commands/table.h"
#include "core/base/units.h"

namespace jointer::cli {
namespace {

std::string time_text(const Json& ms) {
  return format_ns(std::llround(ms.get<double>() * 1e6));
}

Json move_json(const KernelPassMove& move, const std::function<std::string(kernels::OpId)>& name,
               const std::function<Json(kernels::OpId)>& nodes) {
  const auto name_or_none = [&](kernels::OpId op) { return op < 0 ? Json() : Json(name(op)); };
  const std::string at = move.at < 0 ? "" : name(move.at);
  return {{"kernel", name(move.op)},
          {"nodes", nodes(move.op)},
          {"communication_ms", move.communication_ms},
          {"compute_ms", move.compute_ms},
          {"initial_exposed_ms", move.initial_exposed_ms},
          {"final_exposed_ms", move.final_exposed_ms},
          {"improvement_ms", move.improvement_ms()},
          {"moves", move.moves},
          {"grouped", move.grouped},
          {"limit", to_string(move.limit)},
          {"limit_at", name_or_none(move.at)},
          {"limiting_factor", limit_sentence(move, at)},
          {"overlapping", move.overlapping},
          {"until", name_or_none(move.end)}};
}

}  // namespace

Json kernel_passes_json(std::span<const KernelPassReport> reports,
                        const std::function<std::string(kernels::OpId)>& name,
                        const std::function<Json(kernels::OpId)>& nodes) {
  Json passes = Json::array();
  for (const KernelPassReport& report : reports) {
    Json moves = Json::array();
    for (const KernelPassMove& move : report.moves) moves.push_back(move_json(move, name, nodes));
    Json order = Json::array();
    for (const kernels::OpId op : report.order) order.push_back(name(op));
    passes.push_back({{"pass", report.pass},
                      {"order", std::move(order)},
                      {"peak_before_bytes", report.peak_before},
                      {"peak_after_bytes", report.peak_after},
                      {"moves", std::move(moves)}});
  }
  return passes;
}

void print_kernel_passes(const Json& reports) {
  using enum Table::Align;
  for (const Json& report : reports) {
    fmt::print("\n{}: peak {} before, {} after\n", report["pass"].get<std::string>(),
               format_bytes(report["peak_before_bytes"].get<std::int64_t>()),
               format_bytes(report["peak_after_bytes"].get<std::int64_t>()));
    Table table({{"kernel", left},
                 {"communication", right},
                 {"overlapping compute", right},
                 {"exposed before", right},
                 {"after", right},
                 {"improvement", right},
                 {"passed", right},
                 {"moved along", right},
                 {"limiting factor", left}});
    for (const Json& move : report["moves"])
      table.add({move["kernel"].get<std::string>(), time_text(move["communication_ms"]),
                 time_text(move["compute_ms"]), time_text(move["initial_exposed_ms"]),
                 time_text(move["final_exposed_ms"]), time_text(move["improvement_ms"]),
                 format_count(move["moves"].get<std::int64_t>()),
                 format_count(move["grouped"].get<std::int64_t>()),
                 move["limiting_factor"].get<std::string>()});
    if (!table.empty()) fmt::print("{}", table.text());
  }
}

}  // namespace jointer::cli

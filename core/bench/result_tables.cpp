#include <fmt/core.h>

#include "core/base/cells.h"
#include "core/base/units.h"
#include "core/bench/result.h"

namespace jointer {
namespace {

// Returns the status on one line: "done", "running", or the failure.
std::string status_text(const BenchmarkResult& result) {
  if (result.succeeded()) return "done";
  const std::string why = result.failure();
  return why.empty() ? "running" : why;
}

std::string verified_text(const BenchmarkResult& result) {
  const auto verified = result.verified();
  if (!verified) return "";
  if (verified->bitwise) return "bitwise equal";
  return fmt::format("{} by {:.3g}{}",
                     verified->equal ? "equal within the bound, differs" : "differs",
                     verified->max_abs_diff,
                     verified->output.empty() ? "" : fmt::format(" at {}", verified->output));
}

template <class Number, class Format>
std::string text_or_nothing(const std::optional<Number>& number, Format format) {
  return number ? std::string(format(*number)) : std::string();
}

std::string decimal(double number) {
  return fmt::format("{:.6g}", number);
}

std::string ms_number(std::int64_t ns) {
  return fmt::format("{:.6f}", to_ms(ns));
}

std::string ranks_text(const BenchmarkResult& result) {
  if (!result.request.solo) return fmt::format("{}", result.ranks.size());
  return fmt::format("rank {} alone", *result.request.solo);
}

}  // namespace

std::string results_markdown(const std::vector<BenchmarkResult>& results) {
  std::string out =
      "| run | when | backend | ranks | device | predicted peak | peak | predicted step | step | "
      "tokens/s | TFLOP/s | MFU | verified | status |\n"
      "|---|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---|---|\n";
  for (const BenchmarkResult& r : results)
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                       markdown_cell(r.graph_name), markdown_cell(r.started_at),
                       to_string(r.request.backend), ranks_text(r), markdown_cell(r.device()),
                       format_bytes(r.predicted.peak_bytes),
                       text_or_nothing(r.peak_bytes, format_bytes), format_ns(r.predicted.step_ns),
                       r.step ? format_ns(r.step->median_ns) : "",
                       text_or_nothing(r.throughput.tokens_per_second, format_significant),
                       text_or_nothing(r.throughput.tflops, format_significant),
                       text_or_nothing(r.throughput.mfu, format_percent),
                       markdown_cell(verified_text(r)), markdown_cell(status_text(r)));
  return out;
}

std::string results_csv(const std::vector<BenchmarkResult>& results) {
  std::string out =
      "run,when,backend,ranks,device,predicted_peak_bytes,peak_bytes,requested_peak_bytes,"
      "reserved_peak_bytes,predicted_step_ms,step_ms,step_min_ms,step_max_ms,tokens_per_second,"
      "tflops,mfu,verified,status\r\n";
  const auto integer = [](std::int64_t number) { return fmt::format("{}", number); };
  for (const BenchmarkResult& r : results)
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", csv_cell(r.graph_name),
        csv_cell(r.started_at), to_string(r.request.backend), ranks_text(r), csv_cell(r.device()),
        r.predicted.peak_bytes, text_or_nothing(r.peak_bytes, integer),
        text_or_nothing(r.requested_peak_bytes, integer),
        text_or_nothing(r.reserved_peak_bytes, integer), ms_number(r.predicted.step_ns),
        r.step ? ms_number(r.step->median_ns) : "", r.step ? ms_number(r.step->min_ns) : "",
        r.step ? ms_number(r.step->max_ns) : "",
        text_or_nothing(r.throughput.tokens_per_second, decimal),
        text_or_nothing(r.throughput.tflops, decimal), text_or_nothing(r.throughput.mfu, decimal),
        csv_cell(verified_text(r)), csv_cell(status_text(r)));
  return out;
}

}  // namespace jointer

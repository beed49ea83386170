#include "views/session/benchmark/benchmark_text.h"

#include <cmath>

#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

// At most two significant digits, in Python's notation: "3e-05".
QString scientific(double number) {
  return QString::number(number, 'g', 2);
}

}  // namespace

QString when_text(const BenchmarkResult& result) {
  return to_qstring(result.started_at).left(16).replace(u'T', u' ');
}

QString ranks_text(const BenchmarkResult& result) {
  if (result.request.solo) return tr("rank %1 only").arg(*result.request.solo);
  return QString::number(result.ranks.size());
}

QString verified_text(const std::optional<RankVerified>& verified) {
  if (!verified) return {};
  if (verified->bitwise) return tr("bitwise equal");
  if (verified->equal)
    return tr("equal within %1 (largest difference %2)")
        .arg(scientific(verified->bound), scientific(verified->max_abs_diff));
  const QString output = to_qstring(verified->output);
  return output.isEmpty()
             ? tr("differs by %1").arg(scientific(verified->max_abs_diff))
             : tr("differs by %1 in %2").arg(scientific(verified->max_abs_diff), output);
}

QString status_text(const BenchmarkResult& result) {
  return result.succeeded() ? tr("done") : to_qstring(result.failure());
}

bool is_failure(const BenchmarkResult& result) {
  const auto verified = result.verified();
  return !result.succeeded() || (verified && !verified->equal);
}

std::optional<std::int64_t> change_of(std::optional<std::int64_t> measured,
                                      std::int64_t estimated) {
  if (!measured || estimated <= 0) return std::nullopt;
  return std::llround((static_cast<double>(*measured) / static_cast<double>(estimated) - 1) *
                      kPartsPerOne);
}

}  // namespace jointer::views

#pragma once

#include <QString>
#include <cstdint>
#include <optional>

namespace jointer::views {

// What the numbers of a column are, so that every table writes them alike.
enum class Unit : std::uint8_t {
  text,
  count,
  bytes,
  time,         // nanoseconds
  flops,        // floating-point operations
  step,         // a position in the program order
  share,        // a part of Column::whole, in the same unit as it
  thousandths,  // a real number times 1,000
  fraction,     // parts per million of one: 412,000 is "41.2 %"
  change,       // the same, of a difference: "+1.2 %"
};

struct Column {
  QString title;
  Unit unit = Unit::text;
  QString meaning;  // how it is made, one sentence; shown in tooltips
  // Of a share: what is 100 %, and the unit that its part and whole are in.
  std::int64_t whole = 0;
  Unit whole_unit = Unit::time;
  // Adds up over rows: belongs in the totals, followed by `total_title` ("12 nodes").
  bool adds_up = false;
  QString total_title;
  int most_width = 0;  // in pixels, where it is fitted to its texts; 0: the table's own limit
};

// Numbers as tables show them: three significant digits, binary units. Empty where there is none.
QString number_text(const Column& column, std::optional<std::int64_t> number);
// Every digit, for tooltips: "1,073,741,824 bytes", "0.412034 ms".
QString exact_text(const Column& column, std::int64_t number);
// Without separators and units, for spreadsheets: bytes and FLOPs as integers, times in
// milliseconds, shares as fractions.
QString raw_text(const Column& column, std::optional<std::int64_t> number);
// The title with the unit that raw_text writes: "time ms".
QString raw_title(const Column& column);

inline constexpr double kPartsPerOne = 1e6;

// Whether `a` is before `b` as people order names: digits count as numbers, case does not matter.
bool natural_less(const QString& a, const QString& b);

}  // namespace jointer::views

#pragma once

#include <QString>
#include <cstdint>
#include <optional>

namespace jointer::views {

// The unit of a column's numbers, which decides their format in all tables.
enum class Unit : std::uint8_t {
  text,
  count,
  bytes,
  time,         // nanoseconds
  flops,        // floating-point operations
  step,         // number of a call, or a number of positions, in program order
  share,        // part of Column::whole, in the same unit
  thousandths,  // real number multiplied by 1,000
  fraction,     // parts per million: 412,000 is "41.2%"
  change,       // difference in parts per million: "+1.2%"
};

struct Column {
  QString title;
  Unit unit = Unit::text;
  QString meaning;  // explains the column; shown as a tooltip
  // For shares: the number that equals 100%, and the unit of part and whole.
  std::int64_t whole = 0;
  Unit whole_unit = Unit::time;
  // True if the totals include the column's sum, followed by `total_title` ("12 nodes").
  bool adds_up = false;
  QString total_title;
  // Maximum width in pixels when the column is fitted to its contents; 0 for the table's limit. A
  // text column with its own limit also becomes narrower, and elides its text, if the columns after
  // it would not fit.
  int max_width = 0;
  // If the table is too narrow for its columns, those with a positive number are hidden, the
  // highest number first, until the others fit. 0: never hidden.
  int hide_priority = 0;
};

// A number as shown in tables: "1.23 GiB", "1,234". Empty if there is none.
QString number_text(const Column& column, std::optional<std::int64_t> number);
// All digits, for tooltips: "1,073,741,824 bytes", "0.412034 ms".
QString exact_text(const Column& column, std::int64_t number);
// A number for spreadsheets, without separators and units: bytes and FLOPs as integers, times in
// milliseconds, shares as fractions.
QString raw_text(const Column& column, std::optional<std::int64_t> number);
// The title with the unit used by raw_text: "time ms".
QString raw_title(const Column& column);

// Natural sort order: compares runs of digits as numbers and ignores case.
bool natural_less(const QString& a, const QString& b);

}  // namespace jointer::views

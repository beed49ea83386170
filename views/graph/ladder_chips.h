#pragma once

#include <QString>
#include <span>

#include "views/graph/ladder.h"

namespace jointer::views {

// The text of a row's chip for collectives of one kind and group, or for copies, such as "AG 12".
QString chip_text(const CollectiveMark& mark);
// The text that replaces chips that do not fit, such as "+3".
QString chip_count(std::size_t left_out);
// Returns the number of chips, counted from the last, that fit into `room`. If not all fit, the
// text that replaces the others (`count_width`) must fit as well. Widths include the gap between
// chips.
std::size_t fitting_chips(std::span<const double> widths, double room, double count_width);

}  // namespace jointer::views

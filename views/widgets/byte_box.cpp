#include "views/widgets/byte_box.h"

#include <algorithm>
#include <cmath>

#include "core/base/byte_units.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr double kMaxBytes = 100'000.0 * (1 << 30), kUsualUnit = 1 << 30;
const QString kUnitLetters = QStringLiteral("bikmgtpe");

}  // namespace

ByteBox::ByteBox(QWidget* parent) : QDoubleSpinBox(parent) {
  setDecimals(0);
  setRange(0, kMaxBytes);
}

std::int64_t ByteBox::bytes() const {
  return static_cast<std::int64_t>(std::llround(value()));
}

QString ByteBox::textFromValue(double value) const {
  return bytes_text(static_cast<std::int64_t>(std::llround(value)));
}

std::optional<std::int64_t> ByteBox::parse(const QString& text) const {
  QString clean = QString(text).remove(u' ');
  bool is_number = false;
  clean.toDouble(&is_number);
  if (is_number)
    clean += bytes() > 0 ? textFromValue(value()).section(u' ', 1) : QStringLiteral("GiB");
  const auto bytes = parse_byte_count(clean.toStdString());
  return bytes && *bytes >= 0 ? bytes : std::nullopt;
}

double ByteBox::valueFromText(const QString& text) const {
  if (!specialValueText().isEmpty() && text == specialValueText()) return minimum();
  if (text == textFromValue(value())) return value();
  return static_cast<double>(parse(text).value_or(bytes()));
}

QValidator::State ByteBox::validate(QString& text, int& /*at*/) const {
  const bool is_special = !specialValueText().isEmpty() && text == specialValueText();
  if (is_special || parse(text)) return QValidator::Acceptable;
  const QString letters = kUnitLetters + specialValueText();
  const bool may_become_one = std::ranges::all_of(text, [&](QChar letter) {
    return !letter.isLetter() || letters.contains(letter, Qt::CaseInsensitive);
  });
  return may_become_one ? QValidator::Intermediate : QValidator::Invalid;
}

void ByteBox::stepBy(int steps) {
  double unit = 1;
  while (value() / unit >= 1024) unit *= 1024;
  const double shown = value() / unit;
  const double step = shown < 1
                          ? kUsualUnit
                          : std::max(std::pow(10.0, std::floor(std::log10(shown)) - 1) * unit, 1.0);
  setValue(value() + steps * step);
  selectAll();
}

}  // namespace jointer::views

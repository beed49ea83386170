#pragma once

#include <QDoubleSpinBox>
#include <cstdint>
#include <optional>

namespace jointer::views {

// An input field for bytes, such as "33.1 MiB" or "31.2 GiB": three digits with a matching unit. A
// number entered without a unit gets the unit that was shown, or GiB if the value was 0. Only the
// display is rounded: a value that is not edited stays exact. Stepping changes the second
// significant digit; from 0, it adds 1 GiB.
class ByteBox : public QDoubleSpinBox {
  Q_OBJECT
 public:
  explicit ByteBox(QWidget* parent = nullptr);

  [[nodiscard]] std::int64_t bytes() const;
  void set_bytes(std::int64_t bytes) { setValue(static_cast<double>(bytes)); }

  [[nodiscard]] QString textFromValue(double value) const override;
  [[nodiscard]] double valueFromText(const QString& text) const override;
  [[nodiscard]] QValidator::State validate(QString& text, int& at) const override;
  void stepBy(int steps) override;

 private:
  [[nodiscard]] std::optional<std::int64_t> parse(const QString& text) const;
};

}  // namespace jointer::views

#pragma once

#include <QDoubleSpinBox>
#include <cstdint>
#include <optional>

namespace jointer::views {

// A field for bytes, which writes and reads "33.1 MiB", "31.2 GiB": three digits, the unit by size.
// A number without a unit has the one that is shown, or GiB where none is. What is not typed over
// keeps its exact value, however it is rounded on screen. A step is one of the second digit.
class ByteBox : public QDoubleSpinBox {
  Q_OBJECT
 public:
  explicit ByteBox(QWidget* parent = nullptr);

  [[nodiscard]] std::int64_t bytes() const;
  void set_bytes(std::int64_t bytes);

  [[nodiscard]] QString textFromValue(double value) const override;
  [[nodiscard]] double valueFromText(const QString& text) const override;
  [[nodiscard]] QValidator::State validate(QString& text, int& at) const override;
  void stepBy(int steps) override;

 private:
  [[nodiscard]] std::optional<std::int64_t> parse(const QString& text) const;
};

}  // namespace jointer::views

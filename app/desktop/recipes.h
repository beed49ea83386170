#pragma once

#include <QObject>

#include "app/desktop/menu_context.h"

namespace jointer::desktop {

// Writes the edits of the current document as a recipe, and applies recipes to the document.
class Recipes : public QObject {
  Q_OBJECT
 public:
  explicit Recipes(const MenuContext& context) : context_(context) {}

  void add_actions(QMenu* menu);
  // Applies the edits of a recipe that fit the graph of the current document, or of the given one,
  // and reports the skipped ones.
  void apply(const QString& path);
  void apply(const QString& path, views::Document& document);

 private:
  void export_recipe();
  void choose_recipe();

  MenuContext context_;
};

}  // namespace jointer::desktop

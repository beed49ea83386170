#pragma once

#include <QObject>

#include "app/desktop/menu_context.h"
#include "core/edit/replay.h"

namespace jointer::desktop {

// Writes the edits of the current document as a recipe, and applies recipes to documents.
class Recipes : public QObject {
  Q_OBJECT
 public:
  explicit Recipes(const MenuContext& context) : context_(context) {}

  void add_actions(QMenu* menu);
  // Applies a recipe to the current document, or to the given one, and reports the changes that do
  // not fit its graph, which are skipped. If the recipe was made for another graph, asks first.
  void apply(const QString& path);
  void apply(const QString& path, views::Document& document);

 private:
  struct Trial {
    QString graph;  // the graph that the recipe was made for; empty if the recipe does not name it
    Replay replay;
  };

  void export_recipe();
  void choose_recipe();
  // Replays, on a copy of the graph, the edits that fit. `opened` is the graph before its own
  // edits; a recipe made for it does not count as one for another graph.
  static Result<Trial> try_recipe(const QString& path, const Graph& now, const Graph& opened);
  // Asks whether to apply a recipe that was made for another graph.
  void ask(const QString& name, const Trial& trial, views::Document& document);
  // Applies the edits, and reports the skipped ones.
  void finish(const QString& name, const Replay& replay, views::Document& document);
  void show_message(const QString& text, const QString& details);

  MenuContext context_;
};

}  // namespace jointer::desktop

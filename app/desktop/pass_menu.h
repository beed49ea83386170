#pragma once

#include <QObject>
#include <functional>

#include "app/desktop/local_passes.h"
#include "app/desktop/menu_context.h"
#include "app/desktop/recipes.h"
#include "app/desktop/workspaces.h"
#include "views/pipeline/code_questions.h"
#include "views/pipeline/pipeline_pane.h"

namespace jointer::desktop {

// Commands for passes and for the pipeline of the current document.
class PassMenu : public QObject {
  Q_OBJECT
 public:
  // `passes`, `workspaces` and `recipes` must outlive this object, as must the objects that
  // `context` refers to.
  PassMenu(const MenuContext& context, LocalPasses& passes, Workspaces& workspaces,
           Recipes& recipes);

  // Replaces the pipeline of the current document. If the file is invalid, the pipeline pane says
  // so.
  void load_pipeline_file(const QString& path);

 private:
  void fill_pass_menu();
  void follow(const views::DocumentTab* tab);
  void connect_pane(QWidget* made);
  void with_pipeline(const std::function<void(views::PipelineSession&)>& action);
  void with_pipeline_pane(std::function<void(views::PipelinePane&)> action);
  void show_states(const views::EditHistory& before, const views::EditHistory& after);
  // `source`: the document that the graph was made from.
  void open_graph_of_step(const views::Document& source, const OpenRequest& graph,
                          const QString& recipe);

  MenuContext context_;
  LocalPasses& passes_;
  Workspaces& workspaces_;
  Recipes& recipes_;
  views::CodeQuestions* questions_ = nullptr;
  QMenu* pass_menu_ = nullptr;  // one submenu per stage
};

}  // namespace jointer::desktop

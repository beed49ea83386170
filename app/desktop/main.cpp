#include <QApplication>
#include <QElapsedTimer>
#include "views/theme/theme.h"
#include "views/timeline/timeline_view.h"
using namespace jointer;
using namespace jointer::views;
int main(int argc, char** argv) {
  QApplication app(argc, argv);
  app.setStyle("Fusion");
  const Theme& t =
      argc > 2 && std::string(argv[2]) == "dark" ? Theme::dark_theme() : Theme::light_theme();
  app.setPalette(t.palette());
  auto g = open_graph({.path = argv[1]});
  if (!g) {
    qWarning("%s", g.error().message.c_str());
    return 1;
  }
  auto s = make_snapshot(*std::move(g), {});
  Document doc({.path = argv[1]}, *s);
  TimelineView view(doc);
  view.resize(1600, 1000);
  view.show();
  app.processEvents();
  if (argc > 4) view.set_axis_kind(AxisKind::program_order);
  view.grab().save(argv[3]);
  qWarning("frame %.2f ms", view.last_frame_ms());
  for (int i = 0; i < 12; ++i) {
    view.zoom(1.6);
    view.grab();
    qWarning("frame %.2f ms", view.last_frame_ms());
  }
  view.grab().save(QString(argv[3]) + ".zoom.png");
}

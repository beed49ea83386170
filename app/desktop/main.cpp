// jointer-desktop: opens the main window (main_window.h), which shows the panes in views/.

#include <fmt/core.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "app/desktop/first_minutes.h"
#include "app/desktop/local_benchmarks.h"
#include "app/desktop/main_window.h"
#include "app/desktop/options.h"
#include "core/workspace/journal.h"
#include "views/session/open/go_to.h"
#include "views/session/sac/sac_session.h"
#include "views/theme/theme_choice.h"

namespace {

using namespace jointer;
using namespace jointer::desktop;

constexpr int kUsage = 2;
constexpr int kInput = 3;
// Time for the layout to settle before a picture is taken.
constexpr int kSettleMs = 300;

// Prints Qt's messages, except warnings about XDG_RUNTIME_DIR and about window functions that the
// offscreen platform lacks, which are noise without a display.
void pass_on_message(QtMsgType /*type*/, const QMessageLogContext& /*context*/,
                     const QString& message) {
  if (!message.startsWith(QStringLiteral("This plugin does not support")) &&
      !message.startsWith(QStringLiteral("QStandardPaths: XDG_RUNTIME_DIR")))
    fmt::print(stderr, "{}\n", message.toStdString());
}

int complain(const Error& error) {
  fmt::print(stderr, "jointer-desktop: {}\n", error.message);
  return error.kind == Error::Kind::usage ? kUsage : kInput;
}

// Selects the node in each graph that is opened. If a graph lacks it, reports an error and, with
// `ends_by_itself`, exits.
void select_when_shown(MainWindow& window, const QString& name, bool ends_by_itself) {
  const auto select = [name, ends_by_itself](views::DocumentTab* tab) {
    views::Document& document = *tab->document();
    const NodeId node = document.graph().find(name.toStdString());
    if (!node) {
      const int code =
          complain({Error::Kind::usage,
                    fmt::format("option --select: {}: no node named `{}`; press `/` in the window "
                                "to search",
                                tab->request().path, name.toStdString())});
      if (ends_by_itself) QCoreApplication::exit(code);
      return;
    }
    go_to(document, node);
  };
  QObject::connect(&window, &MainWindow::opened, &window, select);
}

void show_pane_when_shown(MainWindow& window, const QString& name) {
  QObject::connect(&window, &MainWindow::opened, &window, [&window, name] {
    views::PaneDock* dock = window.dock(name);
    dock->show();
    dock->raise();
  });
}

void show_measured_when_shown(MainWindow& window) {
  QObject::connect(&window, &MainWindow::opened, &window, [](views::DocumentTab* tab) {
    views::Benchmarks* benchmarks = &tab->session()->benchmarks();
    QObject::connect(
        benchmarks, &views::Benchmarks::rows_changed, benchmarks,
        [benchmarks] {
          if (!benchmarks->rows().empty()) benchmarks->show(benchmarks->rows().back().id);
        },
        Qt::SingleShotConnection);
    benchmarks->load();
  });
}

// Saves the picture and exits once no tab is computing a plan or loading benchmarks.
void take_picture(MainWindow& window, const QString& path) {
  for (const auto* tab : window.findChildren<views::DocumentTab*>()) {
    if (tab->session() == nullptr) continue;
    const views::SacSession& sac = tab->document()->sac();
    const bool waits_for_plan =
        sac.is_started() && !(sac.is_settled() && sac.reserved().is_settled());
    if (!waits_for_plan && tab->session()->benchmarks().is_settled()) continue;
    QTimer::singleShot(kSettleMs, &window, [&window, path] { take_picture(window, path); });
    return;
  }
  // Queued calls may still change the window.
  QCoreApplication::sendPostedEvents();
  if (window.grab().save(path)) return QCoreApplication::exit(0);
  const QString folder = QFileInfo(path).absolutePath();
  QCoreApplication::exit(
      complain({Error::Kind::usage,
                fmt::format("{}: {}", path.toStdString(),
                            QFileInfo::exists(folder)
                                ? "cannot write the screenshot; the name must end in .png or .jpg, "
                                  "and the folder must be writable"
                                : "its folder does not exist; create it, or choose another one")}));
}

void end_with_time(const QElapsedTimer& since_start) {
  fmt::print("first frame after {} ms\n", since_start.elapsed());
  QCoreApplication::exit(0);
}

// Ends the program once a widget has been painted.
class EndAfterPaint : public QObject {
 public:
  EndAfterPaint(const QElapsedTimer& since_start, QObject* parent)
      : QObject(parent), since_start_(since_start) {
    qApp->installEventFilter(this);
  }
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::Paint || !watched->isWidgetType()) return false;
    qApp->removeEventFilter(this);
    // This filter runs before the widget paints, so end in a later turn of the event loop.
    QMetaObject::invokeMethod(
        this, [this] { end_with_time(since_start_); }, Qt::QueuedConnection);
    return false;
  }

 private:
  const QElapsedTimer& since_start_;
};

// Exits after the first frame of a graph (without a graph, of the window) or, to take a picture,
// once every document has loaded. Also exits, with an error, if a document cannot be opened, or if
// the user would have to choose one of several graphs.
void end_when_shown(MainWindow& window, const Options& options, const QElapsedTimer& since_start) {
  const auto give_up = [](views::DocumentTab* /*tab*/, const Error& error) {
    QCoreApplication::exit(complain(error));
  };
  QObject::connect(&window, &MainWindow::open_failed, &window, give_up);
  QObject::connect(&window, &MainWindow::choosing, &window, give_up);  // there is no one to answer
  if (options.exit_after_first_frame) {
    if (options.open.empty()) new EndAfterPaint(since_start, &window);
    QObject::connect(&window, &MainWindow::opened, &window,
                     [&since_start](views::DocumentTab* tab) {
                       QObject::connect(
                           tab->timeline(), &views::TimelineView::painted, tab,
                           [&since_start] { end_with_time(since_start); }, Qt::QueuedConnection);
                     });
    return;
  }
  const auto picture = [&window, &options] { take_picture(window, options.picture); };
  if (options.open.empty()) {
    QTimer::singleShot(kSettleMs, &window, picture);
    return;
  }
  auto left = std::make_shared<std::size_t>(options.open.size());
  QObject::connect(&window, &MainWindow::opened, &window,
                   [&window, left, picture](views::DocumentTab* /*tab*/) {
                     if (--*left == 0) QTimer::singleShot(kSettleMs, &window, picture);
                   });
}

// A picture, the help and the version need no display. Anything else needs one; without it, Qt
// would abort with a core dump.
Result<void> find_display(int argc, char** argv) {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    if (const char* value = std::getenv(name); value != nullptr && *value != 0) return {};
  const auto asks = [&](std::string_view option) {
    return std::any_of(argv + 1, argv + argc, [option](std::string_view argument) {
      return argument.substr(0, option.size()) == option;
    });
  };
  for (const std::string_view option : {"--picture", "--help", "-h", "--version", "-v"})
    if (asks(option)) {
      qputenv("QT_QPA_PLATFORM", "offscreen");
      return {};
    }
  return fail(Error::Kind::usage,
              "no display found (DISPLAY and WAYLAND_DISPLAY are not set); `jointer-desktop FILE "
              "--picture OUT.png` and `jointer info|memory|overlap FILE` work without a display");
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto display = find_display(argc, argv); !display) return complain(display.error());
  if (qgetenv("QT_QPA_PLATFORM") == "offscreen") qInstallMessageHandler(pass_on_message);
  QElapsedTimer since_start;
  since_start.start();
  QApplication application(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("Jointer"));
  QApplication::setApplicationName(QStringLiteral("jointer-desktop"));
  QApplication::setApplicationDisplayName(QStringLiteral("Jointer"));
  QApplication::setApplicationVersion(QStringLiteral(JOINTER_VERSION));

  const Result<Options> options = parse_options(QApplication::arguments());
  if (!options) return complain(options.error());
  const bool ends_by_itself = !options->picture.isEmpty() || options->exit_after_first_frame;

  // With --picture or --exit-after-first-frame, the program uses default settings and leaves the
  // user's settings alone.
  QTemporaryDir scratch;
  const auto settings =
      ends_by_itself ? std::make_unique<QSettings>(scratch.filePath(QStringLiteral("settings.ini")),
                                                   QSettings::IniFormat)
                     : std::make_unique<QSettings>();
  if (ends_by_itself) FirstMinutes::set_dismissed(*settings, true);
  const auto kept = views::parse_theme_choice(settings->value(QStringLiteral("theme")).toString());
  views::is_system_dark();  // remembers the desktop's palette before it is replaced
  views::apply_theme(application,
                     options->theme.value_or(kept.value_or(views::ThemeChoice::system)));

  LocalBenchmarks benchmarks;
  MainWindow window(*settings, options->analysis, benchmarks,
                    BenchmarkHistory(BenchmarkHistory::default_folder()));
  if (options->size_is_given || ends_by_itself) window.resize(options->size);
  if (!options->select.isEmpty()) select_when_shown(window, options->select, ends_by_itself);
  if (!options->pane.isEmpty() && window.dock(options->pane) == nullptr)
    return complain(
        {Error::Kind::usage,
         fmt::format("option --pane: expected one of {1}, got `{0}`", options->pane.toStdString(),
                     MainWindow::pane_names().join(QStringLiteral(", ")).toStdString())});
  if (!options->pane.isEmpty()) show_pane_when_shown(window, options->pane);
  if (options->measured) show_measured_when_shown(window);
  if (ends_by_itself) end_when_shown(window, *options, since_start);
  if (!ends_by_itself) window.set_journal_folder(QString::fromStdString(default_journal_folder()));
  window.show();
  window.restore_left(options->open);
  window.open_all(options->open, options->analysis.estimator.device);
  return QApplication::exec();
}

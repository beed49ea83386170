#include "app/desktop/options.h"

#include <fmt/ranges.h>

#include <QCommandLineParser>
#include <QRegularExpression>

#include "app/desktop/main_window.h"
#include "core/cost/device.h"
#include "views/session/open/open_requests.h"
#include "views/session/translation/qstring.h"

namespace jointer::desktop {
namespace {

// Qt's sentence as the start of a message: without its period and in lower case.
QString in_message(QString sentence) {
  if (sentence.endsWith(QLatin1Char('.'))) sentence.chop(1);
  if (!sentence.isEmpty()) sentence[0] = sentence[0].toLower();
  return sentence;
}

Result<QSize> parse_size(const QString& text) {
  static const QRegularExpression kSize(QStringLiteral("^([0-9]{3,5})x([0-9]{3,5})$"));
  const auto match = kSize.match(text);
  if (!match.hasMatch())
    return fail(Error::Kind::usage,
                "option --size: expected WIDTHxHEIGHT with 3 to 5 digits each, such as 1600x1000, "
                "got `{}`",
                text.toStdString());
  return QSize(match.captured(1).toInt(), match.captured(2).toInt());
}

}  // namespace

Result<Options> parse_options(const QStringList& arguments) {
  QCommandLineParser parser;
  parser.setApplicationDescription(
      QStringLiteral("A workbench for PyTorch training graphs that shows where memory peaks and "
                     "which communication is exposed."));
  const auto option = [](const char* name, const char* about, const char* value = "") {
    return QCommandLineOption(QLatin1String(name), QLatin1String(about), QLatin1String(value));
  };
  const auto backward = option("backward", "The backward half of a partitioned pair.", "FILE");
  const auto graph = option("graph", "Index of the graph, from 0, if FILE contains several.", "N");
  const auto assume =
      option("assume",
             "Values of size symbols, such as u0=64,u1=32, or one value for all unbacked symbols; "
             "ranks:dp=16 gives process group dp 16 ranks, if the file lacks their number; "
             "stride:fsdp=8 places the ranks of process group fsdp 8 apart, if the file does not "
             "list them.",
             "LIST");
  const QCommandLineOption device(
      QStringLiteral("device"),
      QStringLiteral("Device to estimate times for: %1, or a JSON file.")
          .arg(views::to_qstring(fmt::format("{}", fmt::join(device_ids(), ", ")))),
      QStringLiteral("DEVICE"));
  const auto theme = option("theme", "Theme: light, dark or system.", "THEME");
  const auto select = option("select", "Select a node and show it.", "NODE");
  const QCommandLineOption pane(QStringLiteral("pane"),
                                QStringLiteral("Bring a pane to the front: %1.")
                                    .arg(MainWindow::pane_names().join(QStringLiteral(", "))),
                                QStringLiteral("PANE"));
  const auto measured =
      option("measured", "Show the graph's latest benchmark next to the estimates.");
  const auto picture = option("picture", "Save a screenshot of the window and exit.", "FILE");
  const auto size = option("size", "Window size, such as 1600x1000.", "WxH");
  const auto first_frame =
      option("exit-after-first-frame",
             "Print the time until the graph or, without FILE, the window is on screen, and exit.");
  parser.addOptions(
      {backward, graph, assume, device, theme, select, pane, measured, picture, size, first_frame});
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(
      QStringLiteral("FILE"),
      QStringLiteral("Graphs to open: %1.").arg(QString::fromStdString(formats_text())),
      QStringLiteral("[FILE...]"));
  if (!parser.parse(arguments))
    return fail(Error::Kind::usage, "{}; --help lists the options",
                in_message(parser.errorText()).toStdString());
  if (parser.isSet(QStringLiteral("help"))) parser.showHelp();
  if (parser.isSet(QStringLiteral("version"))) parser.showVersion();

  Options options;
  options.analysis.estimator.device = parser.value(device).toStdString();
  options.select = parser.value(select);
  options.pane = parser.value(pane);
  options.measured = parser.isSet(measured);
  options.picture = parser.value(picture);
  options.exit_after_first_frame = parser.isSet(first_frame);
  if (parser.isSet(size)) {
    JOINTER_TRY(options.size, parse_size(parser.value(size)));
    options.size_is_given = true;
  }
  if (parser.isSet(theme)) {
    options.theme = views::parse_theme_choice(parser.value(theme));
    if (!options.theme)
      return fail(Error::Kind::usage, "option --theme: expected light, dark or system, got `{}`",
                  parser.value(theme).toStdString());
  }
  const QStringList files = parser.positionalArguments();
  if (parser.isSet(backward)) {
    if (files.size() != 1)
      return fail(Error::Kind::usage,
                  "option --backward: expected exactly one FILE, the forward half");
    options.open = {
        {.path = files[0].toStdString(), .backward = parser.value(backward).toStdString()}};
  } else {
    options.open = views::requests_for(files);
  }
  const auto assumptions = Assumptions::parse(parser.value(assume).toStdString());
  if (!assumptions)
    return fail(assumptions.error().kind, "option --assume: {}", assumptions.error().message);
  std::optional<std::size_t> index;
  if (parser.isSet(graph)) {
    static const QRegularExpression kDigits(QStringLiteral("^[0-9]+$"));
    bool is_number = false;
    index = parser.value(graph).toULongLong(&is_number);
    const std::string given = parser.value(graph).toStdString();
    if (!is_number && kDigits.match(parser.value(graph)).hasMatch())
      return fail(Error::Kind::usage,
                  "option --graph: there is no graph {}; graphs are numbered from 0", given);
    if (!is_number)
      return fail(Error::Kind::usage, "option --graph: expected an integer of at least 0, got `{}`",
                  given);
  }
  for (OpenRequest& request : options.open) {
    request.assumptions = *assumptions;
    request.index = index;
  }
  return options;
}

}  // namespace jointer::desktop

#include "views/session/open/open_requests.h"

#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <utility>

#include "core/open/readers.h"
#include "views/session/translation/qstring.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

// The expected name of the matching backward graph; empty if `name` does not name a forward graph.
QString backward_name(const QString& name) {
  static constexpr std::array<std::pair<const char*, const char*>, 3> kWords{
      {{"fw", "bw"}, {"fwd", "bwd"}, {"forward", "backward"}}};
  for (const auto& [forward, backward] : kWords) {
    const QRegularExpression word(
        QStringLiteral("(?<![a-z])%1(?![a-z])").arg(QLatin1String(forward)),
        QRegularExpression::CaseInsensitiveOption);
    qsizetype at = -1;
    for (auto matches = word.globalMatch(name); matches.hasNext();)
      at = matches.next().capturedStart();
    if (at >= 0)
      return name.left(at) + QLatin1String(backward) +
             name.mid(at + static_cast<qsizetype>(qstrlen(forward)));
  }
  return {};
}

}  // namespace

std::vector<OpenRequest> requests_for(const QStringList& paths) {
  std::vector<OpenRequest> requests;
  QStringList left = paths;
  for (const QString& path : paths) {
    const QFileInfo forward(path);
    const QString name = backward_name(forward.fileName());
    const auto found = std::ranges::find_if(left, [&](const QString& other) {
      const QFileInfo file(other);
      return file.fileName() == name && file.absolutePath() == forward.absolutePath();
    });
    if (found == left.end()) continue;
    const QString backward = *found;
    requests.push_back({.path = path.toStdString(), .backward = backward.toStdString()});
    left.removeAll(path);
    left.removeAll(backward);
  }
  for (const QString& path : std::as_const(left)) requests.push_back({.path = path.toStdString()});
  return requests;
}

QString graph_file_filter() {
  QStringList patterns;
  for (const GraphReader* reader : graph_readers()) patterns += to_qstring(reader->pattern);
  return tr("Graphs (%1);;All files (*)").arg(patterns.join(u' '));
}

}  // namespace jointer::views

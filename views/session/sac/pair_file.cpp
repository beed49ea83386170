#include "views/session/sac/pair_file.h"

#include <QCryptographicHash>
#include <QDir>
#include <QRegularExpression>
#include <QStandardPaths>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "views/session/sac/ordered_plan.h"

namespace jointer::views {

Result<QString> write_pair(const SacState& state, const QString& title) {
  JOINTER_TRY(const Graph pair, ordered_graph(state));
  return write_graph_file(pair, title);
}

Result<QString> write_graph_file(const Graph& graph, const QString& title) {
  const std::string text = write_native(graph);
  const QString hash = QString::fromLatin1(
      QCryptographicHash::hash(QByteArrayView(text.data(), static_cast<qsizetype>(text.size())),
                               QCryptographicHash::Sha256)
          .toHex()
          .left(8));
  static const QRegularExpression kOdd(QStringLiteral("[^A-Za-z0-9_.-]+"));
  const QDir folder(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
                    QStringLiteral("/pairs"));
  if (!folder.mkpath(QStringLiteral(".")))
    return fail(Error::Kind::input, "{}: cannot create the folder", folder.path().toStdString());
  const QString path =
      folder.filePath(QStringLiteral("%1.%2.%3.json.zst")
                          .arg(QString(title).replace(kOdd, QStringLiteral("_")), hash,
                               graph.is_pair() ? QStringLiteral("pair") : QStringLiteral("graph")));
  JOINTER_CHECK(write_bytes(path.toStdString(), text));
  return path;
}

}  // namespace jointer::views

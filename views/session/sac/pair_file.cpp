#include "views/session/sac/pair_file.h"

#include <QCryptographicHash>
#include <QDir>
#include <QRegularExpression>
#include <QStandardPaths>
#include <string>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/edit/edit.h"
#include "core/edit/recipe.h"
#include "core/graph/inherited_assumptions.h"
#include "core/partition/join_pair.h"
#include "core/policy/export.h"
#include "views/session/sac/ordered_plan.h"

namespace jointer::views {
namespace {

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
  JOINTER_CHECK(make_folder(folder.path().toStdString()));
  const QString path =
      folder.filePath(QStringLiteral("%1.%2.%3.json.zst")
                          .arg(QString(title).replace(kOdd, QStringLiteral("_")), hash,
                               graph.is_pair() ? QStringLiteral("pair") : QStringLiteral("graph")));
  JOINTER_CHECK(write_bytes(path.toStdString(), text));
  return path;
}

// The request passes on the graph's assumptions, since a capture cannot contain all of them, such
// as the distances between the ranks of a group.
Result<OpenRequest> write_to_open(const Graph& graph, const QString& title) {
  JOINTER_TRY(const QString path, write_graph_file(graph, title));
  OpenRequest request{.path = path.toStdString()};
  request.assumptions = inherited_assumptions(graph.assumptions(), graph);
  return request;
}

}  // namespace

Result<OpenRequest> write_pair(const SacState& state, const QString& title) {
  JOINTER_TRY(const Graph pair, ordered_graph(plan_of(state)));
  return write_to_open(pair, title);
}

Result<OpenRequest> write_joint(const Graph& pair, const QString& title) {
  JOINTER_TRY(JoinedPair joined, join_with_plan(pair));
  JOINTER_TRY(const Edit tags, tag_as_planned(joined.joint, joined.plan));
  JOINTER_CHECK(apply(joined.joint, tags));
  return write_to_open(joined.joint, title);
}

Result<GraphFiles> write_graph_and_edits(const Graph& graph, const Graph& after,
                                         const std::vector<Edit>& edits, const QString& title) {
  GraphFiles files;
  JOINTER_TRY(files.graph, write_to_open(graph, title));
  if (edits.empty()) return files;
  files.recipe = QString::fromStdString(files.graph.path) + QStringLiteral(".recipe.json");
  JOINTER_CHECK(write_bytes(files.recipe.toStdString(),
                            write_recipe(make_recipe(graph, after, edits, title.toStdString()))));
  return files;
}

}  // namespace jointer::views

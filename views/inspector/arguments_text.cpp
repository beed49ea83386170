#include "views/inspector/describe_nodes.h"
#include "views/session/text/node_text.h"

namespace jointer::views {
namespace {

constexpr qsizetype kMax = 2000;  // in characters; longer text is cut off with an ellipsis

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {}

  void write(const Argument& a) {
    if (text_.size() > kMax) return;
    switch (a.kind) {
      case Argument::Kind::none:
        text_ += QStringLiteral("None");
        break;
      case Argument::Kind::boolean:
        text_ += a.integer != 0 ? QStringLiteral("True") : QStringLiteral("False");
        break;
      case Argument::Kind::integer:
        text_ += QString::number(a.integer);
        break;
      case Argument::Kind::real:
        text_ += QString::number(a.real, 'g', 12);
        break;
      case Argument::Kind::string:
        text_ += u'\'' + to_qstring(graph_.text(a.text())) + u'\'';
        break;
      case Argument::Kind::node:
        text_ += to_qstring(graph_.name(a.node()));
        break;
      case Argument::Kind::list:
        sequence(u'[', graph_.children(a), u']');
        break;
      case Argument::Kind::tuple:
        sequence(u'(', graph_.children(a), u')');
        break;
      case Argument::Kind::slice:
        text_ += QStringLiteral("slice");
        sequence(u'(', graph_.children(a), u')');
        break;
      case Argument::Kind::complex:
        text_ += QStringLiteral("complex");
        sequence(u'(', graph_.children(a), u')');
        break;
      case Argument::Kind::dict:
        text_ += u'{';
        pairs(graph_.children(a), QStringLiteral(": "), false);
        text_ += u'}';
        break;
      case Argument::Kind::symbol:
        text_ += to_qstring(graph_.expression_text(a.expression()));
        break;
      default:
        text_ += to_qstring(graph_.text(a.text()));
    }
  }

  void list(std::span<const Argument> items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += QStringLiteral(", ");
      write(items[i]);
    }
  }

  // `items` alternates keys and values. If `bare`, keys that are strings are written without
  // quotes.
  void pairs(std::span<const Argument> items, const QString& between, bool bare) {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (i > 0) text_ += QStringLiteral(", ");
      if (bare && items[i].kind == Argument::Kind::string)
        text_ += to_qstring(graph_.text(items[i].text()));
      else
        write(items[i]);
      text_ += between;
      write(items[i + 1]);
    }
  }

  [[nodiscard]] bool is_empty() const { return text_.isEmpty(); }
  void separate() {
    if (!text_.isEmpty()) text_ += QStringLiteral(", ");
  }
  [[nodiscard]] QString text() const {
    return text_.size() > kMax ? text_.left(kMax) + QStringLiteral(" …") : text_;
  }

 private:
  void sequence(QChar open, std::span<const Argument> items, QChar close) {
    text_ += open;
    list(items);
    text_ += close;
  }

  const Graph& graph_;
  QString text_;
};

}  // namespace

QString arguments_text(const Graph& graph, const Node& node) {
  Writer writer(graph);
  writer.list(graph.args(node));
  if (const auto keywords = graph.children(node.kwargs); !keywords.empty()) {
    writer.separate();
    writer.pairs(keywords, QStringLiteral("="), true);
  }
  return writer.text();
}

}  // namespace jointer::views

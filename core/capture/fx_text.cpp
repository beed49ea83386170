// Reads FX text in three steps: `outline` finds the graphs and their lines, `parse_statements`
// splits each statement into name, type and expression, and NodeBuilder interprets these. The steps
// are separate because the type of a tuple follows from later statements. Cost: linear in the
// bytes; 2.1 MB (11,000 nodes) takes about 0.05 s.

#include "core/capture/fx_text.h"

#include <simdjson.h>
#include <algorithm>
#include <charconv>

#include "core/capture/fx_listing.h"
#include "core/capture/fx_nodes.h"
#include "core/capture/fx_subgraphs.h"
#include "core/capture/no_such_graph.h"

namespace jointer {
namespace {

using fx::Body;
using fx::GraphText;
using fx::kNoParent;

// The number of elements in the returned list, found by counting commas.
std::size_t output_count(std::string_view text) {
  std::size_t count = 0;
  int depth = 0;
  bool element = false;
  const auto open = text.find_first_of("[(");
  if (open == std::string_view::npos) return 1;
  std::string_view list = text.substr(open);
  if (const auto unflatten = list.find("(["); unflatten == 0) list.remove_prefix(1);
  for (const char c : list) {
    if (c == '[' || c == '(') {
      ++depth;
    } else if (c == ']' || c == ')') {
      if (--depth == 0) break;
    } else if (c == ',' && depth == 1) {
      count += element ? 1 : 0;
      element = false;
    } else if (c != ' ' && c != '\n') {
      element = true;
    }
  }
  return count + (element ? 1 : 0);
}

// Guesses the kind from the names that AOTAutograd gives to placeholders and, for a training step,
// from the comments above backward calls. A joint graph has all primals as inputs and returns the
// forward outputs, one for each tangent, followed by a gradient for each primal. The inputs of a
// backward graph are the values saved for backward, some of which may be primals, and the tangents.
CaptureKind guess_kind(const Body& body) {
  std::size_t primals = 0, tangents = 0, others = 0, largest = 0;
  for (const fx::Placeholder& p : body.placeholders) {
    if (p.name.starts_with("tangents")) {
      ++tangents;
    } else if (p.name.starts_with("primals_")) {
      ++primals;
      std::size_t number = 0;
      std::from_chars(p.name.data() + 8, p.name.data() + p.name.size(), number);
      largest = std::max(largest, number);
    } else if (p.name.find("rng_state") == std::string_view::npos) {
      ++others;
    }
  }
  if (tangents == 0)
    return std::ranges::any_of(body.comments, fx::is_of_backward) ? CaptureKind::train_step
                                                                  : CaptureKind::forward;
  if (others > 0 || primals == 0 || largest != primals) return CaptureKind::backward;
  return output_count(body.output.text) >= primals + tangents ? CaptureKind::joint
                                                              : CaptureKind::backward;
}

Body body_of(const GraphText& graph, std::size_t& number) {
  return graph.is_listing ? fx::parse_listing(graph, number) : fx::parse_statements(graph, number);
}

std::string place(const FxText& source, std::size_t number) {
  return fmt::format("{}: line {}", source.file, number);
}

// Calls `read` with the outline, and converts exceptions to an Error that gives the line.
template <class T, class Read>
Result<T> guarded(const FxText& source, Read read) {
  std::size_t number = source.first_number;
  if (!simdjson::validate_utf8(source.text.data(), source.text.size()))
    return input_error("{}: not UTF-8 text; is the file damaged, or in another format?",
                       source.file);
  try {
    std::string plain;
    std::string_view text = source.text;
    if (fx::has_colors(text)) {
      plain = fx::without_colors(text);
      text = plain;
    }
    std::vector<GraphText> graphs = fx::outline(text, source.first_number);
    if (graphs.empty())
      return input_error("{}: no FX graph found: neither `def forward` nor `graph():`",
                         source.file);
    return read(graphs, number);
  } catch (const TextMistake& mistake) {
    return input_error("{}: {}", place(source, number), mistake.message);
  } catch (const fx::Cancelled&) {
    return fail(Error::Kind::cancelled, "{}: reading was cancelled", source.file);
  } catch (const std::bad_alloc&) {
    return input_error("{}: not enough memory to read the file", source.file);
  }
}

}  // namespace

bool is_fx_text(std::string_view bytes) {
  return bytes.find("def forward(") != std::string_view::npos ||
         bytes.find("(torch.nn.Module):") != std::string_view::npos ||
         (bytes.find("graph(") != std::string_view::npos &&
          bytes.find("[target=") != std::string_view::npos);
}

Result<std::vector<FxTextEntry>> list_fx_text(const FxText& source) {
  using Entries = std::vector<FxTextEntry>;
  return guarded<Entries>(source, [](const std::vector<GraphText>& graphs, std::size_t& number) {
    Entries entries;
    for (const GraphText& graph : graphs) {
      if (graph.parent != kNoParent) continue;
      const Body body = body_of(graph, number);
      entries.push_back({.name = std::string(graph.name),
                         .kind = guess_kind(body),
                         .nodes = body.placeholders.size() + body.statements.size() + 1});
    }
    return entries;
  });
}

Result<PartId> append_fx_text(Graph& graph, const FxText& source, const FxTextOptions& options) {
  return guarded<PartId>(
      source, [&](const std::vector<GraphText>& graphs, std::size_t& number) -> Result<PartId> {
        std::size_t index = 0, wanted = options.index;
        while (index < graphs.size() && (graphs[index].parent != kNoParent || wanted-- > 0))
          ++index;
        if (index == graphs.size())
          return no_such_graph(
              source.file, options.index,
              static_cast<std::size_t>(std::ranges::count(graphs, kNoParent, &GraphText::parent)));
        const Body body = body_of(graphs[index], number);
        const std::size_t nodes = body.placeholders.size() + body.statements.size() + 1;
        graph.reserve(graph.node_count() + nodes, source.text.size() / 8);
        const PartId part = graph.add_part(
            {.kind = options.kind.value_or(guess_kind(body)),
             .name = options.name,
             .present = {
                 .name = true, .groups = true, .storages = true, .modules = true, .stacks = true}});
        if (!options.kind)
          graph.add_fact(Fact::Kind::derived,
                         fmt::format("the text does not state the kind of graph: placeholder "
                                     "names and comments suggest {}",
                                     to_string(graph.part(part).kind)));
        const std::size_t first_storage = graph.storage_count();
        fx::NodeBuilder builder(graph, part, body, options.progress);
        try {
          builder.run();
        } catch (const TextMistake&) {
          number = builder.number() > 0 ? builder.number() : number;
          throw;
        }
        builder.add_facts();
        fx::add_subgraphs(graph, part, graphs, index, first_storage, number);
        return part;
      });
}

}  // namespace jointer

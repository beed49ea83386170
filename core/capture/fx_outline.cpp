#include "core/capture/fx_outline.h"

namespace jointer::fx {
namespace {

std::string_view class_name(std::string_view text) {
  text.remove_prefix(std::string_view("class").size());
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text.substr(0, text.find_first_of(" (:\n"));
}

bool is_forward(std::string_view text) {
  return starts_with_word(text, "def") && text.substr(3).find_first_not_of(' ') == 1 &&
         starts_with_word(text.substr(4), "forward");
}

class Outliner {
 public:
  void take(const Line& line) {
    if (!line.is_comment() && body_indent_ != kNone && line.indent <= body_indent_) close_body();
    if (line.is_comment()) {
      if (current_ != kNoParent) graphs_[current_].body.push_back(line);
    } else if (starts_with_word(line.text, "class")) {
      close_body();
      while (!classes_.empty() && classes_.back().indent >= line.indent) classes_.pop_back();
      classes_.push_back({.name = class_name(line.text), .indent = line.indent});
    } else if (body_indent_ == kNone && starts_with_word(line.text, "def")) {
      body_indent_ = line.indent;
      if (is_forward(line.text)) open_forward(line);
    } else if (body_indent_ == kNone && line.text.starts_with("graph(") &&
               line.text.ends_with(':')) {
      body_indent_ = line.indent;
      current_ = graphs_.size();
      graphs_.push_back({.is_listing = true, .head = line});
    } else if (current_ != kNoParent) {
      graphs_[current_].body.push_back(line);
    }
  }
  std::vector<GraphText> finish() { return std::move(graphs_); }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct OpenClass {
    std::string_view name;
    std::size_t indent = 0;
    std::size_t graph = kNoParent;
  };

  void open_forward(const Line& line) {
    while (!classes_.empty() && classes_.back().indent >= line.indent) classes_.pop_back();
    std::size_t parent = kNoParent;
    std::string_view name;
    current_ = graphs_.size();
    if (!classes_.empty()) {
      name = classes_.back().name;
      for (std::size_t i = classes_.size() - 1; i-- > 0 && parent == kNoParent;)
        parent = classes_[i].graph;
      classes_.back().graph = current_;
    }
    graphs_.push_back({.name = name, .parent = parent, .head = line});
  }

  void close_body() {
    body_indent_ = kNone;
    current_ = kNoParent;
  }

  std::vector<GraphText> graphs_;
  std::vector<OpenClass> classes_;
  std::size_t current_ = kNoParent;  // the graph being read; kNoParent in other functions
  std::size_t body_indent_ = kNone;  // of the `def` or `graph` line whose body is being read
};

}  // namespace

std::vector<GraphText> outline(std::string_view text, std::size_t first_number) {
  LineReader reader(text, first_number);
  Outliner outliner;
  for (Line line; reader.next(line);) outliner.take(line);
  return outliner.finish();
}

}  // namespace jointer::fx

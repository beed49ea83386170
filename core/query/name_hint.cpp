#include "core/query/name_hint.h"

#include <fmt/format.h>

#include "core/base/characters.h"
#include "core/base/nearest_name.h"
#include "core/query/query_schema.h"

namespace jointer {
namespace {

using NameList = std::vector<std::string_view>;

NameList table_names() {
  NameList names;
  for (const QueryTable& table : query_schema()) names.push_back(table.name);
  return names;
}

NameList column_names(std::string_view sql) {
  const std::string text = lowercase(sql);
  NameList of_query, all;
  for (const QueryTable& table : query_schema())
    for (const QueryColumn& column : table.columns) {
      all.push_back(column.name);
      if (text.find(table.name) != std::string::npos) of_query.push_back(column.name);
    }
  return of_query.empty() ? all : of_query;
}

// Like nearest_name_question, with the qualifier that the query has before the name, such as `n.`.
std::string question(std::string_view written, const NameList& names) {
  const std::size_t start = written.rfind('.') + 1;  // 0 without a qualifier
  return nearest_name_question(lowercase(written.substr(start)), names, written.substr(0, start));
}

// The question, if there is one, without a list of names after it.
std::string question_alone(std::string_view written, const NameList& names) {
  std::string text = question(written, names);
  return text == ";" ? std::string() : text;
}

}  // namespace

std::string name_hint(std::string_view message, std::string_view sql,
                      const std::vector<std::string>& functions) {
  const auto name_after = [message](std::string_view start) {
    return message.starts_with(start) ? message.substr(start.size()) : std::string_view();
  };
  if (const auto name = name_after("no such table: "); !name.empty())
    return fmt::format("{} the tables are {}", question(name, table_names()),
                       fmt::join(table_names(), ", "));
  if (const auto name = name_after("no such column: "); !name.empty())
    return question_alone(name, column_names(sql));
  if (const auto name = name_after("no such function: "); !name.empty())
    return question_alone(name, NameList(functions.begin(), functions.end()));
  return {};
}

}  // namespace jointer

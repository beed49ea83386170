#pragma once

// The test classes of gui_tests. A class stays private to its file:
//
//   JOINTER_GUI_TEST(jointer::WindowTest, "window")
//   #include "window_test.moc"

#include <QObject>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace jointer::test {

using MakeGuiTest = std::function<std::unique_ptr<QObject>()>;

// By name.
inline std::map<std::string, MakeGuiTest>& gui_tests() {
  static std::map<std::string, MakeGuiTest> tests;
  return tests;
}

struct RegisteredGuiTest {
  RegisteredGuiTest(const char* name, MakeGuiTest make) {
    if (!gui_tests().emplace(name, std::move(make)).second) qFatal("two tests are named %s", name);
  }
};

}  // namespace jointer::test

#define JOINTER_GUI_TEST(Class, name)                                \
  static const jointer::test::RegisteredGuiTest registered_gui_test( \
      name, [] { return std::make_unique<Class>(); });

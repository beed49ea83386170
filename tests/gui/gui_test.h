#pragma once

// The test classes of gui_tests, and what they share. A class stays private to its file:
//
//   JOINTER_GUI_TEST(jointer::WindowTest, "window")
//   #include "window_test.moc"

#include <QObject>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tests/support/patience.h"

namespace jointer::test {

inline const char kSample[] = "resources/samples/llama_debug_tp2_fsdp2.joint.json.zst";

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

// The number makes the names of a batch of files differ.
#define JOINTER_GUI_TEST(Class, name) JOINTER_REGISTER_GUI_TEST(Class, name, __COUNTER__)
#define JOINTER_REGISTER_GUI_TEST(Class, name, number) \
  JOINTER_REGISTER_GUI_TEST_AS(Class, name, number)
#define JOINTER_REGISTER_GUI_TEST_AS(Class, name, number)                     \
  static const jointer::test::RegisteredGuiTest registered_gui_test_##number( \
      name, [] { return std::make_unique<Class>(); });

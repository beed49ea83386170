// Runs tests of the window and its panes.
//
//   gui_tests                                   runs all classes
//   gui_tests CLASS... [FUNCTION...] [OPTION...]  runs these; functions and options are QtTest's
//
// Several classes run in one process each, so that settings and environment variables of one do not
// affect the next.

#include <QApplication>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/gui/gui_test.h"

namespace {

using jointer::test::gui_tests;

// QtTest aborts a function after 5 minutes by default, but a search may take 10 (kSearchMs).
constexpr const char *kTimeout = "QTEST_FUNCTION_TIMEOUT", *kTimeoutMs = "720000";

// Like QTEST_MAIN. Applications of different names have different folders of settings.
int run(const std::string& name, int argc, char** argv) {
  if (!qEnvironmentVariableIsSet(kTimeout)) qputenv(kTimeout, kTimeoutMs);
  QApplication application(argc, argv);
  QApplication::setAttribute(Qt::AA_Use96Dpi);
  QApplication::setApplicationName(QString::fromStdString(name + "_test"));
  QStandardPaths::setTestModeEnabled(true);
  const auto test = gui_tests().at(name)();
  return QTest::qExec(test.get(), argc, argv);
}

// Returns the number of classes that failed.
int run_each(const std::vector<std::string>& names, const QStringList& others, int argc,
             char** argv) {
  const QCoreApplication application(argc, argv);
  int failed = 0;
  for (const std::string& name : names) {
    const QStringList arguments = QStringList(QString::fromStdString(name)) + others;
    if (QProcess::execute(QCoreApplication::applicationFilePath(), arguments) == 0) continue;
    std::printf("FAILED: %s\n", name.c_str());
    std::fflush(stdout);
    ++failed;
  }
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names;
  int next = 1;
  while (next < argc && gui_tests().contains(argv[next])) names.emplace_back(argv[next++]);
  if (names.empty() && next < argc && argv[next][0] != '-') {
    std::fprintf(stderr, "there is no class %s; the classes are:\n", argv[next]);
    for (const auto& [name, make] : gui_tests()) std::fprintf(stderr, "  %s\n", name.c_str());
    return 2;
  }
  if (names.empty())
    for (const auto& [name, make] : gui_tests()) names.push_back(name);
  std::vector<char*> others{argv[0]};
  others.insert(others.end(), argv + next, argv + argc);
  int count = static_cast<int>(others.size());
  others.push_back(nullptr);
  if (names.size() == 1) return run(names.front(), count, others.data());
  QStringList passed;
  for (int i = next; i < argc; ++i) passed << QString::fromLocal8Bit(argv[i]);
  return run_each(names, passed, count, others.data());
}

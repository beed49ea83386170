# The compiler spends most of its time on library headers. Headers that many files in a layer include are
# therefore precompiled, once per layer. Jointer's own headers are not, so changing one of them rebuilds only the
# files that include it. Files must still include what they use; JOINTER_PRECOMPILED=OFF finds those that do not.
option(JOINTER_PRECOMPILED "Precompile library headers" ON)

set(precompiled_standard
  <algorithm> <array> <charconv> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory>
  <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
  <fmt/core.h> <tl/expected.hpp>)
set(precompiled_tests <gmock/gmock.h> <gtest/gtest.h> <rapidcheck/gtest.h>)
set(precompiled_qt_core
  <QCoreApplication> <QObject> <QPointer> <QRegularExpression> <QString> <QStringList>
  <QThreadPool> <QTimer>)
set(precompiled_qt
  <QApplication> <QComboBox> <QDialog> <QEvent> <QFileDialog> <QHeaderView> <QLabel> <QLineEdit>
  <QMainWindow> <QMenu> <QMouseEvent> <QPainter> <QPainterPath> <QPointer> <QPushButton>
  <QRegularExpression> <QScrollBar> <QSettings> <QStyledItemDelegate> <QTextBrowser> <QTimer>
  <QThreadPool> <QToolButton> <QTreeView> <QVBoxLayout>)

# GCC treats precompiled system headers as the project's own, and reports findings of its flow analysis in the
# standard library. These warnings are disabled.
function(jointer_calm target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overread)
  endif()
endfunction()

# jointer_precompiled(target HEADER...) precompiles headers for a target.
function(jointer_precompiled target)
  if(JOINTER_PRECOMPILED)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    jointer_calm(${target})
  endif()
endfunction()

# jointer_precompiled_of(owner TARGET...) reuses the precompiled headers of `owner`, which must have the same
# options.
function(jointer_precompiled_of owner)
  if(JOINTER_PRECOMPILED)
    foreach(target ${ARGN})
      target_precompile_headers(${target} REUSE_FROM ${owner})
      jointer_calm(${target})
    endforeach()
  endif()
endfunction()

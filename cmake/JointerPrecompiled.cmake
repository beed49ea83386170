# Most of what a compiler does with these sources is reading other people's headers, so what many
# files of a layer include is read once a layer. The project's own headers are not among them: a
# change of one rebuilds what includes it, and no more. Files include what they use all the same;
# JOINTER_PRECOMPILED=OFF, which scripts/tidy wants, shows whether they do.
option(JOINTER_PRECOMPILED "Read the libraries' headers once for many files" ON)

set(precompiled_standard
  <algorithm> <array> <charconv> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory>
  <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h> <tl/expected.hpp>)
set(precompiled_tests <gmock/gmock.h> <gtest/gtest.h> <rapidcheck/gtest.h>)
set(precompiled_qt_core
  <QCoreApplication> <QObject> <QPointer> <QRegularExpression> <QString> <QStringList>
  <QThreadPool> <QTimer>)
set(precompiled_qt
  <QApplication> <QComboBox> <QDialog> <QEvent> <QFileDialog> <QHeaderView> <QLabel> <QLineEdit>
  <QMainWindow> <QMenu> <QMouseEvent> <QPainter> <QPainterPath> <QPointer> <QPushButton>
  <QRegularExpression> <QScrollBar> <QSettings> <QStyledItemDelegate> <QTextBrowser> <QTimer>
  <QThreadPool> <QToolButton> <QTreeView> <QVBoxLayout>)

# GCC no longer knows that what it reads there is a system's header, and reports what its flow analysis
# sees in the standard library.
function(jointer_calm target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overread)
  endif()
endfunction()

# jointer_precompiled(target HEADER...): its headers, read once.
function(jointer_precompiled target)
  if(JOINTER_PRECOMPILED)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    jointer_calm(${target})
  endif()
endfunction()

# jointer_precompiled_of(owner TARGET...): those of another target that is compiled alike.
function(jointer_precompiled_of owner)
  if(JOINTER_PRECOMPILED)
    foreach(target ${ARGN})
      target_precompile_headers(${target} REUSE_FROM ${owner})
      jointer_calm(${target})
    endforeach()
  endif()
endfunction()

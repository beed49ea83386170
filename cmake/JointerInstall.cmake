# Installs the programs' data and, as component `plugins`, what plugins are built with:
# cmake --install BUILD --component plugins --prefix DIR.
include(CMakePackageConfigHelpers)

install(DIRECTORY resources/python resources/devices resources/schema resources/samples
  DESTINATION ${CMAKE_INSTALL_DATADIR}/jointer
  PATTERN __pycache__ EXCLUDE
  PATTERN "*.egg-info" EXCLUDE)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Jointer)
install(TARGETS
    jointer_options
    jointer_operator_table
    jointer_devices
    jointer_cost_schema
    jointer_core
    jointer_passes
    jointer_plugin_interface
    jointer-plugin-host
  EXPORT Jointer
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/jointer COMPONENT plugins
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT plugins)
install(EXPORT Jointer
  NAMESPACE Jointer:: FILE JointerExports.cmake DESTINATION ${package} COMPONENT plugins)
install(DIRECTORY core passes
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/jointer COMPONENT plugins
  FILES_MATCHING PATTERN "*.h")
install(FILES plugins/cpp/plugin.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/jointer/plugins/cpp COMPONENT plugins)
configure_package_config_file(cmake/JointerConfig.cmake.in
  ${PROJECT_BINARY_DIR}/JointerConfig.cmake INSTALL_DESTINATION ${package})
# Plugins and their host exchange C++ objects, so both must have the same version of Jointer.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/JointerConfigVersion.cmake
  COMPATIBILITY ExactVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/JointerConfig.cmake
    ${PROJECT_BINARY_DIR}/JointerConfigVersion.cmake
    cmake/JointerPlugin.cmake
  DESTINATION ${package} COMPONENT plugins)

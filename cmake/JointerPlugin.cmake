# jointer_add_plugin(name SOURCES ... [SUMMARY sentence] [LINK ...]) builds a Jointer plugin in its own
# folder: name.plugin/name.so, and name.plugin/plugin.json with the library's declarations.
# `jointer apply --plugin FOLDER` uses this folder directly; installation copies it to lib/jointer/plugins.
function(jointer_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SUMMARY" "SOURCES;LINK")
  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE Jointer::plugin ${arg_LINK})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.plugin)
  # Only the entry point is exported, so that equal names in two plugins do not clash.
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${folder}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND Jointer::plugin_host --describe ${folder}/${name}.so "${arg_SUMMARY}"
    BYPRODUCTS ${folder}/plugin.json
    VERBATIM)
  install(DIRECTORY ${folder}/ DESTINATION lib/jointer/plugins/${name} USE_SOURCE_PERMISSIONS)
endfunction()

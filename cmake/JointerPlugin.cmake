# jointer_add_plugin(name SOURCES ... [SUMMARY sentence] [LINK ...]): a plugin of Jointer, in a
# folder of its own in the build: name.plugin/name.so beside name.plugin/plugin.json, which is made from what the
# library itself declares. `jointer apply --plugin FOLDER` takes it as it is; installing it puts the
# folder into lib/jointer/plugins.
function(jointer_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SUMMARY" "SOURCES;LINK")
  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE Jointer::plugin ${arg_LINK})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.plugin)
  # Nothing but the entry point is shown: what two plugins call the same stays two things.
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${folder}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND Jointer::plugin_host --describe ${folder}/${name}.so "${arg_SUMMARY}"
    BYPRODUCTS ${folder}/plugin.json
    VERBATIM)
  install(DIRECTORY ${folder}/ DESTINATION lib/jointer/plugins/${name} USE_SOURCE_PERMISSIONS)
endfunction()

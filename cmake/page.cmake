# cmake -D SOURCE=reports/page/parts -D D3=/usr/share/nodejs -D OUTPUT=... -P page.cmake: writes a C++ source that holds report.html
# with style, d3 and programs inside. Programs are the modules that main.js imports, those first that others import; put one after
# another their names share one scope, as sources do that are compiled together.
cmake_minimum_required(VERSION 3.25)  # a script has no project to say it, and IN_LIST is not known without

# What of d3 is used, each behind those it needs; d3-collection only where d3-scale is older than its version 3.
set(modules collection array color format interpolate time time-format scale path shape selection axis)

file(READ "${SOURCE}/report.html" page)
file(READ "${SOURCE}/report.css" style)

set(d3 "")
foreach(module IN LISTS modules)
  set(file "${D3}/d3-${module}/dist/d3-${module}.min.js")
  if(NOT EXISTS "${file}")
    if(module STREQUAL "collection")
      continue()
    endif()
    message(FATAL_ERROR "${file} is not there: install Debian's node-d3, or say with -D HEADWAVE_D3=DIR where the folders of d3's modules are")
  endif()
  file(READ "${file}" text)
  string(APPEND d3 "${text}\n")
endforeach()

set(program "")
set(added "")
macro(add_module name)
  if(NOT "${name}" IN_LIST added)
    list(APPEND added "${name}")
    file(READ "${SOURCE}/${name}" text_of_${name})
    string(REGEX MATCHALL "from \"\\./[a-z0-9_]+\\.js\"" imports_of_${name} "${text_of_${name}}")
    list(TRANSFORM imports_of_${name} REPLACE "from \"\\./([a-z0-9_]+\\.js)\"" "\\1")
    foreach(import_of_${name} IN LISTS imports_of_${name})
      add_module("${import_of_${name}}")
    endforeach()
    string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" text_of_${name} "${text_of_${name}}")
    string(REGEX REPLACE "(^|\n)export " "\\1" text_of_${name} "${text_of_${name}}")
    string(APPEND program "${text_of_${name}}\n")
  endif()
endmacro()
add_module(main.js)

string(REPLACE "/*style*/" "${style}" page "${page}")
string(REPLACE "/*d3*/" "${d3}" page "${page}")
string(REPLACE "/*program*/" "(() => {\n\"use strict\";\n${program}})();\n" page "${page}")
file(WRITE "${OUTPUT}" "#include <string_view>\n\nnamespace headwave {\n\nstd::string_view page_shell();  // reports/page/page_shell.h\nstd::string_view page_shell() {\n  return R\"headwave(${page})headwave\";\n}\n\n}  // namespace headwave\n")

# cmake -D SOURCE=reports/page/parts -D OUTPUT=... -P page.cmake: writes a C++ source that holds report.html with its style and
# program inside. The program is the modules that main.js imports, each after those that it imports; put one after another they
# share one scope, as sources do that are compiled together.
cmake_minimum_required(VERSION 3.25)  # a script has no project that sets it, and IN_LIST needs it

file(READ "${SOURCE}/report.html" page)
file(READ "${SOURCE}/report.css" style)

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
string(REPLACE "/*program*/" "(() => {\n\"use strict\";\n${program}})();\n" page "${page}")
file(WRITE "${OUTPUT}" "#include <string_view>\n\nnamespace headwave {\n\nstd::string_view page_shell();  // reports/page/report.h\nstd::string_view page_shell() {\n  return R\"headwave(${page})headwave\";\n}\n\n}  // namespace headwave\n")

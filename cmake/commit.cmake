# cmake -D SOURCE=... -D OUTPUT=... -P commit.cmake: writes a C++ source that names the commit of a git checkout, with "-dirty" where
# files differ from it; "unknown" of a tarball. The file is left alone where it says so already: then nothing is compiled again.
set(commit "unknown")
find_program(GIT git)
if(GIT)
  # A tarball unpacked inside somebody's repository is not that repository.
  execute_process(COMMAND "${GIT}" -C "${SOURCE}" rev-parse --show-cdup OUTPUT_VARIABLE up RESULT_VARIABLE failed ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed EQUAL 0 AND up STREQUAL "")
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env GIT_OPTIONAL_LOCKS=0 "${GIT}" -C "${SOURCE}" describe --always --dirty --abbrev=40 --exclude=*
                    OUTPUT_VARIABLE described RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed EQUAL 0 AND described MATCHES "^[0-9a-f]+(-dirty)?$")
      set(commit "${described}")
    endif()
  endif()
endif()
set(text "namespace headwave {\n\nconst char* build_commit();  // job/run/provenance.h\nconst char* build_commit() {\n  return \"${commit}\";\n}\n\n}  // namespace headwave\n")
set(there "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" there)
endif()
if(NOT there STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()

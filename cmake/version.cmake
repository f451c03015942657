# headwave_version: what the file VERSION says, which is the last release or the next. Where the checkout stands at a tag vX.Y.Z, that is
# the release, and VERSION has to agree: the Python package, packages and citations read it without asking git.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../VERSION" headwave_version LIMIT_COUNT 1)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/../VERSION")
if(NOT headwave_version MATCHES "^[0-9]+\\.[0-9]+\\.[0-9]+$")
  message(FATAL_ERROR "VERSION says '${headwave_version}': expected X.Y.Z")
endif()
find_program(GIT git)
if(GIT)
  # A tarball unpacked inside somebody's repository is not that repository.
  execute_process(COMMAND "${GIT}" -C "${CMAKE_CURRENT_LIST_DIR}/.." rev-parse --show-cdup OUTPUT_VARIABLE up RESULT_VARIABLE failed ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed EQUAL 0 AND up STREQUAL "")
    execute_process(COMMAND "${GIT}" -C "${CMAKE_CURRENT_LIST_DIR}/.." describe --tags --exact-match --match "v[0-9]*" OUTPUT_VARIABLE tag
                    RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed EQUAL 0 AND NOT tag STREQUAL "v${headwave_version}")
      message(FATAL_ERROR "the tag is ${tag}, but VERSION says ${headwave_version}: write the tag's number into VERSION and tag that commit")
    endif()
  endif()
endif()

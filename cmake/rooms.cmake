# headwave_room(NAME [LIGHT] USES rooms... LIBRARIES libs... PRIVATE_LIBRARIES libs...): every .cpp of a folder and its wings becomes
# headwave::NAME. Sources name each other by where they stand, "../numbers/matrix.h": no folder need be searched.

function(headwave_compile_options target)
  if(HEADWAVE_STRICT)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
  endif()
  if(HEADWAVE_STRICT AND HEADWAVE_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Of precompiled headers g++ forgets that they are the system's, and finds fault with its own inlined std::string.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 16)
      target_compile_options(${target} PRIVATE -Wno-free-nonheap-object)
    endif()
  endif()
  if(HEADWAVE_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Sources that are compiled together it takes for headers, whose lambdas should not hold what is a source's own.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  if(HEADWAVE_STRICT AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # g++ warns of neither: the page of a result is one long string, and inner braces may be omitted.
    target_compile_options(${target} PRIVATE -Wno-overlength-strings -Wno-missing-braces)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The compiler's own memory: swept from 1 GB on, not from 256 MB, which is a tenth of the time for Eigen.
    target_compile_options(${target} PRIVATE "SHELL:--param ggc-min-heapsize=500000")
    # -O3 but for its copies of loops, which are a tenth of the time to compile and a fiftieth of the time to run.
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:SHELL:-O2 -ftree-vectorize -fvect-cost-model=dynamic>")
  endif()
  if(HEADWAVE_ARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(${target} PRIVATE -march=${HEADWAVE_ARCH})
  endif()
endfunction()

# Nothing here takes long when it runs; long to compile it all is.
function(headwave_light target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# The owner's headers are compiled once; everything built with the same flags reads them.
function(headwave_precompile owner target)
  if(NOT HEADWAVE_TOGETHER OR CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE <algorithm> <complex> <filesystem> <functional> <map> <memory> <string> <variant> <vector>
                              <Eigen/Core> <fmt/format.h> ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# Some sources at once (0: all): what of Eigen, JSON and CLI11 several of them use is compiled for all. Names without linkage must differ.
function(headwave_together target sources)
  if(HEADWAVE_TOGETHER)
    if(HEADWAVE_BATCH)
      set(sources ${HEADWAVE_BATCH})
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${sources})
  endif()
endfunction()

function(headwave_room name)
  cmake_parse_arguments(ROOM "LIGHT" "" "USES;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${name}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_library(headwave_${name} STATIC ${sources})
  add_library(headwave::${name} ALIAS headwave_${name})
  set_target_properties(headwave_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(headwave_${name} PUBLIC cxx_std_20)
  target_include_directories(headwave_${name} INTERFACE "$<INSTALL_INTERFACE:include>")
  # One alignment for Eigen's memory whatever instruction set a consumer compiles with: memory may be taken here and freed there.
  # The widest vectors' own: where a vector begins in memory, and with it the order of a sum, is then the same in every process.
  # (Of numbers on the stack, too: Eigen takes them for as well aligned.)
  target_compile_definitions(headwave_${name} PUBLIC EIGEN_MAX_ALIGN_BYTES=64 EIGEN_MAX_STATIC_ALIGN_BYTES=64)
  headwave_compile_options(headwave_${name})
  list(TRANSFORM ROOM_USES PREPEND "headwave_")
  target_link_libraries(headwave_${name} PUBLIC ${ROOM_USES} ${ROOM_LIBRARIES} PRIVATE ${ROOM_PRIVATE_LIBRARIES})
  if(ROOM_LIGHT)
    headwave_light(headwave_${name})
    headwave_precompile(headwave_${name} headwave_${name})
  else()
    headwave_precompile(headwave_core headwave_${name})
  endif()
  headwave_together(headwave_${name} 12)
endfunction()

# A source of a room for processors with wider vectors than the rest is compiled for: alone, and with no header of theirs.
function(headwave_wide room source)
  set(source "${CMAKE_SOURCE_DIR}/${room}/${source}")
  set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    set_property(SOURCE "${source}" PROPERTY COMPILE_OPTIONS ${ARGN})
    # g++ 12 takes the registers that its own intrinsics leave undefined on purpose for a mistake.
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>)
  endif()
endfunction()

function(headwave_program program folder)
  cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_executable(${program} ${sources})
  headwave_compile_options(${program})
  list(TRANSFORM ROOM_USES PREPEND "headwave_")
  target_compile_definitions(${program} PRIVATE HEADWAVE_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${program} PRIVATE ${ROOM_USES} ${ROOM_LIBRARIES})
  headwave_light(${program})
  headwave_together(${program} 0)
endfunction()

# Which version and commit it is, as a source of the room. Asked at every build, and compiled again only where the answer is another.
function(headwave_commit room)
  set(commit "${CMAKE_BINARY_DIR}/commit.cpp")
  add_custom_target(headwave_commit BYPRODUCTS "${commit}" COMMENT ""
                    COMMAND "${CMAKE_COMMAND}" -D "SOURCE=${CMAKE_SOURCE_DIR}" -D "OUTPUT=${commit}" -P "${CMAKE_SOURCE_DIR}/cmake/commit.cmake")
  target_sources(headwave_${room} PRIVATE "${commit}")
  set_source_files_properties("${commit}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_dependencies(headwave_${room} headwave_commit)
  set_source_files_properties("${CMAKE_SOURCE_DIR}/${room}/run/provenance.cpp" PROPERTIES COMPILE_DEFINITIONS "HEADWAVE_VERSION=\"${PROJECT_VERSION}\"")
endfunction()

# What the page of a result is made of, as a source of the room; see cmake/page.cmake.
function(headwave_page room parts)
  file(GLOB files CONFIGURE_DEPENDS "${parts}/*")
  set(source "${CMAKE_BINARY_DIR}/page_shell.cpp")
  add_custom_command(OUTPUT "${source}" DEPENDS ${files} "${CMAKE_SOURCE_DIR}/cmake/page.cmake" COMMENT "" VERBATIM
                     COMMAND "${CMAKE_COMMAND}" -D "SOURCE=${parts}" -D "OUTPUT=${source}" -P "${CMAKE_SOURCE_DIR}/cmake/page.cmake")
  target_sources(headwave_${room} PRIVATE "${source}")
  set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# The families' map files, as a source of the room; see cmake/families.cmake.
function(headwave_families room folder function)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/*.toml")
  set(source "${CMAKE_BINARY_DIR}/${function}.cpp")
  add_custom_command(OUTPUT "${source}" DEPENDS ${files} "${CMAKE_SOURCE_DIR}/cmake/families.cmake" COMMENT "" VERBATIM
                     COMMAND "${CMAKE_COMMAND}" -D "SOURCE=${folder}" -D "FUNCTION=${function}" -D "OUTPUT=${source}" -P "${CMAKE_SOURCE_DIR}/cmake/families.cmake")
  target_sources(headwave_${room} PRIVATE "${source}")
  set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# cmake --install, and a package that find_package(headwave) finds:
#   find_package(headwave COMPONENTS analysis)   core and analysis: Eigen, fmt and FFTW (or not) alone
#   find_package(headwave)                       every room
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Of these rooms a consumer needs the doors alone; how they do it stays here. (The layering test checks that no door leads to
# a header that is not installed.)
set(HEADWAVE_DOORS_data
    arrays/array_block.h arrays/safetensors.h files/file_bytes.h files/file_descriptor.h files/input_text.h listing/listing.h
    models/model_directory.h models/model_map.h models/planted_directory.h
    results/library_versions.h results/result_file.h sources/named_arrays.h sources/stored_profiles.h
    sources/stored_states.h sources/text_documents.h
    tokens/normalizer.h tokens/regular_expression.h tokens/token_model.h tokens/tokenizer.h tokens/word_splitter.h)
set(HEADWAVE_DOORS_reports
    drawing/data_table.h drawing/figure.h drawing/gnuplot.h drawing/palette.h drawing/panel.h
    drawing/terminal_table.h figures/chosen_heads.h figures/figures.h figures/positions.h page/report.h tables/exported_tables.h tables/head_findings.h tables/head_table.h)

set(HEADWAVE_ROOMS core analysis)
if(HEADWAVE_PROGRAM)
  list(APPEND HEADWAVE_ROOMS data reports job)
endif()
foreach(room IN LISTS HEADWAVE_ROOMS)
  install(TARGETS headwave_${room} EXPORT headwave_${room}_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT headwave_${room}_targets NAMESPACE headwave:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headwave)
  set(folder ${CMAKE_INSTALL_INCLUDEDIR}/headwave/${room})
  if(DEFINED HEADWAVE_DOORS_${room})
    foreach(header IN LISTS HEADWAVE_DOORS_${room})
      cmake_path(GET header PARENT_PATH wing)
      install(FILES ${room}/${header} DESTINATION ${folder}/${wing})
    endforeach()
  else()
    install(DIRECTORY ${room}/ DESTINATION ${folder} FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()
if(HEADWAVE_PROGRAM)
  install(TARGETS headwave RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(HEADWAVE_PROGRAM AND NOT CMAKE_CROSSCOMPILING)
  # Man pages are what help2man makes of --help, where it is installed.
  set(pages "${CMAKE_BINARY_DIR}/pages")
  find_program(HEADWAVE_HELP2MAN help2man)
  install(CODE "file(REMOVE_RECURSE \"${pages}\")
    file(MAKE_DIRECTORY \"${pages}/man1\")
    if(NOT \"${HEADWAVE_HELP2MAN}\" MATCHES NOTFOUND)
      execute_process(COMMAND \"$<TARGET_FILE:headwave>\" --help OUTPUT_VARIABLE listed)
      string(REGEX MATCHALL \"\n  [a-z][a-z-]+\" commands \"\${listed}\")
      foreach(command \"\" \${commands})
        string(STRIP \"\${command}\" command)
        set(page headwave)
        set(line \"$<TARGET_FILE:headwave>\")
        set(about \"${PROJECT_DESCRIPTION}\")
        if(command)
          set(page headwave-\${command})
          set(line \"$<TARGET_FILE:headwave> \${command}\")
          string(REGEX MATCH \"\n  \${command} +([^\n]+(\n   +[^\n]+)*)\" found \"\${listed}\")
          string(REGEX REPLACE \"[ \n]+\" \" \" about \"\${CMAKE_MATCH_1}\")
        endif()
        execute_process(COMMAND \"${HEADWAVE_HELP2MAN}\" --no-info --version-string=${PROJECT_VERSION} --name \"\${about}\" \"\${line}\"
                        OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
        # A page of a command has one name, without the blank that help2man finds in it.
        string(TOUPPER \${page} title)
        string(REGEX REPLACE \"\n[.]TH HEADWAVE[^\\\"]*\" \"\n.TH \${title} \" text \"\${text}\")
        string(REGEX REPLACE \"\n[.]SH NAME\nheadwave[^\\\\]*\" \"\n.SH NAME\n\${page} \" text \"\${text}\")
        file(WRITE \"${pages}/man1/\${page}.1\" \"\${text}\")
      endforeach()
    endif()")
  install(DIRECTORY "${pages}/man1" DESTINATION ${CMAKE_INSTALL_MANDIR} FILES_MATCHING PATTERN "*.1")
endif()
install(FILES LICENSE README.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
# To read, and to begin other maps with: the program has the same inside.
install(DIRECTORY data/models/families DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/headwaveConfig.cmake.in ${CMAKE_BINARY_DIR}/headwaveConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headwave)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/headwaveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/headwaveConfig.cmake ${CMAKE_BINARY_DIR}/headwaveConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headwave)

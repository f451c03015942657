# cmake --install, and a package that find_package(headwave) finds:
#   find_package(headwave COMPONENTS analysis)   core and analysis: Eigen, FFTW and fmt alone
#   find_package(headwave)                       every room
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(HEADWAVE_ROOMS core analysis data reports job)
foreach(room IN LISTS HEADWAVE_ROOMS)
  install(TARGETS headwave_${room} EXPORT headwave_${room}_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT headwave_${room}_targets NAMESPACE headwave:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headwave)
  install(DIRECTORY ${room}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headwave/${room} FILES_MATCHING PATTERN "*.h")
endforeach()
install(TARGETS headwave RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/headwaveConfig.cmake.in ${CMAKE_BINARY_DIR}/headwaveConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headwave)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/headwaveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/headwaveConfig.cmake ${CMAKE_BINARY_DIR}/headwaveConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headwave)

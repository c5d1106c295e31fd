# The installed package: the public headers, the static library, the command, and a config file that finds what the library
# needs by the same rules as this build.
include(CMakePackageConfigHelpers)

set(CALVE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/calve)
get_property(public_headers GLOBAL PROPERTY CALVE_PUBLIC_HEADERS)
list(TRANSFORM public_headers PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/include/calve/)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/calve)
install(TARGETS calve_all EXPORT calveTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT calveTargets NAMESPACE calve:: DESTINATION ${CALVE_CMAKE_DIR})
if(TARGET calve)
  # INSTALL_RPATH_USE_LINK_PATH leaves out folders below the source tree, where .venv and its pyarrow lie.
  set_target_properties(calve PROPERTIES INSTALL_RPATH $<TARGET_FILE_DIR:Arrow::arrow_shared>)
  install(TARGETS calve RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/calveConfig.cmake.in ${CMAKE_BINARY_DIR}/calveConfig.cmake
  INSTALL_DESTINATION ${CALVE_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/calveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/calveConfig.cmake ${CMAKE_BINARY_DIR}/calveConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/CalveArrow.cmake ${CMAKE_CURRENT_LIST_DIR}/CalveLibraries.cmake
  DESTINATION ${CALVE_CMAKE_DIR})

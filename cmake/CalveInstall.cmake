# The installed package: headers, the static library, and a config file that finds what it needs by the same rules.
include(CMakePackageConfigHelpers)

get_property(public_headers GLOBAL PROPERTY CALVE_PUBLIC_HEADERS)
list(TRANSFORM public_headers PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/include/calve/)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/calve)

# Finds Arrow C++ and defines Arrow::arrow_shared, Arrow::arrow_compute_shared and Parquet::parquet_shared.
#
# First an installed Arrow (`find_package(Arrow CONFIG)`), then the libraries and headers inside a pyarrow wheel. The
# second branch defines the same target names, so nothing else in the build knows which it was. The wheel is looked for
# with CALVE_PYTHON, by default the project's .venv, then python3 on the path. This file is also part of the installed
# package: a consumer finds Arrow by the same rules.

set(CALVE_ARROW_MAJOR 26)

function(_calve_import_wheel_library target file include_dir)
  if(NOT TARGET ${target})
    add_library(${target} SHARED IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES
      IMPORTED_LOCATION ${file}
      INTERFACE_INCLUDE_DIRECTORIES ${include_dir}
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${include_dir})
  endif()
endfunction()

function(_calve_find_arrow_in_wheel)
  if(NOT CALVE_PYTHON)
    find_program(CALVE_PYTHON NAMES python3
      HINTS ${CMAKE_SOURCE_DIR}/.venv/bin NO_DEFAULT_PATH)
    find_program(CALVE_PYTHON NAMES python3)
  endif()
  execute_process(
    COMMAND ${CALVE_PYTHON} -c
      "import pyarrow as p; print(p.get_include(), p.get_library_dirs()[0], p.cpp_build_info.version, p.cpp_build_info.so_version, sep=';')"
    OUTPUT_VARIABLE wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE error RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR
      "Arrow C++ not found: no Arrow CMake package, and ${CALVE_PYTHON} cannot import pyarrow.\n"
      "Install Arrow C++ ${CALVE_ARROW_MAJOR}, or run `make setup`, or set CALVE_PYTHON.\n${error}")
  endif()
  list(GET wheel 0 include_dir)
  list(GET wheel 1 library_dir)
  list(GET wheel 2 version)
  list(GET wheel 3 so_version)
  _calve_import_wheel_library(Arrow::arrow_shared ${library_dir}/libarrow.so.${so_version} ${include_dir})
  _calve_import_wheel_library(
    Arrow::arrow_compute_shared ${library_dir}/libarrow_compute.so.${so_version} ${include_dir})
  _calve_import_wheel_library(Parquet::parquet_shared ${library_dir}/libparquet.so.${so_version} ${include_dir})
  set_target_properties(Arrow::arrow_compute_shared Parquet::parquet_shared PROPERTIES
    INTERFACE_LINK_LIBRARIES Arrow::arrow_shared)
  set(CALVE_ARROW_VERSION ${version} PARENT_SCOPE)
  set(CALVE_ARROW_ORIGIN "the pyarrow wheel in ${library_dir}" PARENT_SCOPE)
endfunction()

if(NOT TARGET Arrow::arrow_shared)
  find_package(Arrow ${CALVE_ARROW_MAJOR} CONFIG QUIET)
  if(Arrow_FOUND)
    find_package(ArrowCompute ${CALVE_ARROW_MAJOR} CONFIG QUIET)
    find_package(Parquet ${CALVE_ARROW_MAJOR} CONFIG QUIET)
    set(CALVE_ARROW_VERSION ${Arrow_VERSION})
    set(CALVE_ARROW_ORIGIN "the Arrow package in ${Arrow_DIR}")
  else()
    _calve_find_arrow_in_wheel()
  endif()
  message(STATUS "Arrow ${CALVE_ARROW_VERSION} from ${CALVE_ARROW_ORIGIN}")
endif()

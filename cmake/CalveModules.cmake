# One target a module, and the walls between them.
#
# calve_module(name [DEPENDS m...] [PUBLIC_HEADERS h...] [LIBRARIES l...])
#   Builds src/calve/<name>/*.cc (not *_test.cc, *_bench.cc) as calve_<name>, and its *_test.cc as calve_<name>_test.
#   A module's headers are seen through an include root of its own, which only the modules that DEPEND on it inherit;
#   PUBLIC_HEADERS are those of include/calve that the module implements.

set(CALVE_MODULES "" CACHE INTERNAL "")

add_library(calve_flags INTERFACE)
target_compile_options(calve_flags INTERFACE -Wall -Wextra -Wpedantic -Wno-unused-parameter -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:Clang>:-Wshadow-all -Wno-shadow-field-in-constructor -Wimplicit-fallthrough -Wextra-semi>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-dangling-reference -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict -Wno-stringop-overread>)
if(CALVE_WERROR)
  target_compile_options(calve_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(calve_flags INTERFACE -Wno-error=pragmas)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # Built outside the source tree's text order: keep debug info small and template depth errors readable.
  add_link_options(-fuse-ld=lld)
endif()
if(CALVE_SANITIZE)
  add_compile_options(-fsanitize=${CALVE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${CALVE_SANITIZE})
endif()

# Programs are compiled like libraries (-fPIC, not -fPIE), so that both can use the same precompiled header.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})

# The heavy headers, compiled once. Every header of ours is still self-contained: `make lint` checks each alone.
file(WRITE ${CMAKE_BINARY_DIR}/pch/pch.cc "\n")
add_library(calve_pch OBJECT ${CMAKE_BINARY_DIR}/pch/pch.cc)
target_link_libraries(calve_pch PRIVATE calve_flags Arrow::arrow_shared fmt::fmt)
target_precompile_headers(calve_pch PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/pch.h)

if(CALVE_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_library(calve_pch_test OBJECT ${CMAKE_BINARY_DIR}/pch/pch.cc)
  target_link_libraries(calve_pch_test PRIVATE calve_flags Arrow::arrow_shared fmt::fmt GTest::gtest GTest::gmock)
  target_compile_definitions(calve_pch_test PRIVATE CALVE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_precompile_headers(calve_pch_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/pch_test.h)
  set(CALVE_TEST_DATA "" CACHE PATH "Where the full test data lies; empty: found by walking up from the source tree")
endif()

function(_calve_include_root name public_headers)
  set(root ${CMAKE_BINARY_DIR}/roots/${name}/calve)
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/src/calve/${name} ${root}/${name} SYMBOLIC)
  foreach(header ${public_headers})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/include/calve/${header} ${root}/${header} SYMBOLIC)
  endforeach()
endfunction()

function(_calve_use_pch target)
  target_precompile_headers(${target} REUSE_FROM calve_pch)
endfunction()

function(calve_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;PUBLIC_HEADERS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/calve/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    set(sources ${CMAKE_BINARY_DIR}/pch/pch.cc)
  endif()
  _calve_include_root(${name} "${arg_PUBLIC_HEADERS}")
  add_library(calve_${name} OBJECT ${sources})
  target_include_directories(calve_${name} PUBLIC ${CMAKE_BINARY_DIR}/roots/${name})
  list(TRANSFORM arg_DEPENDS PREPEND calve_)
  target_link_libraries(calve_${name} PUBLIC ${arg_DEPENDS} Arrow::arrow_shared fmt::fmt
    PRIVATE calve_flags ${arg_LIBRARIES})
  _calve_use_pch(calve_${name})
  set_property(GLOBAL APPEND PROPERTY CALVE_ALL_MODULES ${name})
  set_property(GLOBAL APPEND PROPERTY CALVE_ALL_LIBRARIES ${arg_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY CALVE_PUBLIC_HEADERS ${arg_PUBLIC_HEADERS})
  if(CALVE_BUILD_TESTS AND tests)
    calve_test(calve_${name}_test SOURCES ${tests} MODULES ${name})
  endif()
endfunction()

# Every module that `names` reach, themselves included (object libraries do not pass their objects on).
function(_calve_closure names out)
  set(seen "")
  set(todo ${names})
  while(todo)
    list(POP_FRONT todo name)
    if(NOT name IN_LIST seen)
      list(APPEND seen ${name})
      get_target_property(links calve_${name} INTERFACE_LINK_LIBRARIES)
      foreach(link ${links})
        if(link MATCHES "^calve_(.+)$" AND NOT CMAKE_MATCH_1 STREQUAL "flags")
          list(APPEND todo ${CMAKE_MATCH_1})
        endif()
      endforeach()
    endif()
  endwhile()
  set(${out} ${seen} PARENT_SCOPE)
endfunction()

function(_calve_link_modules target names)
  _calve_closure("${names}" closure)
  foreach(name ${closure})
    target_link_libraries(${target} PRIVATE calve_${name})
  endforeach()
  get_property(libraries GLOBAL PROPERTY CALVE_ALL_LIBRARIES)
  list(REMOVE_DUPLICATES libraries)
  target_link_libraries(${target} PRIVATE calve_flags ${libraries} Arrow::arrow_shared Arrow::arrow_compute_shared
    fmt::fmt Threads::Threads)
endfunction()

# calve_test(target SOURCES f... MODULES m... [LIBRARIES l...]): one gtest program, registered as one ctest test.
function(calve_test target)
  cmake_parse_arguments(arg "" "" "SOURCES;MODULES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  _calve_link_modules(${target} "${arg_MODULES}")
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support)
  target_link_libraries(${target} PRIVATE Parquet::parquet_shared GTest::gtest GTest::gtest_main GTest::gmock ${arg_LIBRARIES})
  target_compile_definitions(${target} PRIVATE CALVE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_precompile_headers(${target} REUSE_FROM calve_pch_test)
  add_test(NAME ${target} COMMAND ${target} --gtest_brief=1)
  set_tests_properties(${target} PROPERTIES LABELS "unit;${arg_LABELS}" ENVIRONMENT
    "ARROW_DEFAULT_MEMORY_POOL=system;CALVE_TEST_DATA=${CALVE_TEST_DATA}")
endfunction()

# calve_split_test(target): its tests run as two ctest tests, side by side. JUnit files of the second have a folder of their own.
function(calve_split_test target)
  if(NOT TARGET ${target})
    return()
  endif()
  get_property(labels TEST ${target} PROPERTY LABELS)
  get_property(environment TEST ${target} PROPERTY ENVIRONMENT)
  add_test(NAME ${target}_2 COMMAND ${target} --gtest_brief=1)
  set_tests_properties(${target}_2 PROPERTIES LABELS "${labels}" ENVIRONMENT
    "${environment};GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=1" ENVIRONMENT_MODIFICATION "GTEST_OUTPUT=string_append:second/")
  set_tests_properties(${target} PROPERTIES ENVIRONMENT "${environment};GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=0")
endfunction()

# The product: one static library of all modules.
function(calve_library)
  get_property(modules GLOBAL PROPERTY CALVE_ALL_MODULES)
  get_property(libraries GLOBAL PROPERTY CALVE_ALL_LIBRARIES)
  list(REMOVE_DUPLICATES libraries)
  set(objects "")
  foreach(name ${modules})
    list(APPEND objects $<TARGET_OBJECTS:calve_${name}>)
  endforeach()
  add_library(calve_all STATIC ${objects})
  set_target_properties(calve_all PROPERTIES OUTPUT_NAME calve EXPORT_NAME calve)
  set_property(TARGET calve_all PROPERTY LINKER_LANGUAGE CXX)
  target_include_directories(calve_all INTERFACE
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(calve_all PUBLIC Arrow::arrow_shared Arrow::arrow_compute_shared fmt::fmt Threads::Threads
    ${libraries})
  add_library(calve::calve ALIAS calve_all)
endfunction()

# calve_executable(name MODULE m): the command line in src/calve/<m>, which sees the public headers only. main.cc is the program;
# the rest is also linked into its test, calve_<m>_test.
function(calve_executable name)
  cmake_parse_arguments(arg "" "MODULE" "" ${ARGN})
  find_package(CLI11 REQUIRED)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/src/calve/${arg_MODULE})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  _calve_include_root(${arg_MODULE} "")
  add_library(calve_${arg_MODULE} OBJECT ${sources})
  target_include_directories(calve_${arg_MODULE} PUBLIC ${CMAKE_BINARY_DIR}/roots/${arg_MODULE})
  target_link_libraries(calve_${arg_MODULE} PUBLIC calve::calve CLI11::CLI11 nlohmann_json::nlohmann_json
    PRIVATE calve_flags)
  _calve_use_pch(calve_${arg_MODULE})
  add_executable(${name} ${folder}/main.cc $<TARGET_OBJECTS:calve_${arg_MODULE}>)
  target_link_libraries(${name} PRIVATE calve_flags calve_${arg_MODULE})
  _calve_use_pch(${name})
  if(CALVE_BUILD_TESTS AND tests)
    add_executable(calve_${arg_MODULE}_test ${tests} $<TARGET_OBJECTS:calve_${arg_MODULE}>)
    target_link_libraries(calve_${arg_MODULE}_test PRIVATE calve_flags calve_${arg_MODULE} GTest::gtest GTest::gtest_main
      GTest::gmock)
    target_compile_definitions(calve_${arg_MODULE}_test PRIVATE CALVE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    set_target_properties(calve_${arg_MODULE}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_precompile_headers(calve_${arg_MODULE}_test REUSE_FROM calve_pch_test)
    add_test(NAME calve_${arg_MODULE}_test COMMAND calve_${arg_MODULE}_test --gtest_brief=1)
    set_tests_properties(calve_${arg_MODULE}_test PROPERTIES LABELS unit ENVIRONMENT ARROW_DEFAULT_MEMORY_POOL=system)
  endif()
endfunction()

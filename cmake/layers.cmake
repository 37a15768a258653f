# cleave_layer(NAME [SHARED_CODE] [DIR dir] [DEPS layer...] [LIBS library...])
#
# The sources of src/NAME (or DIR) as library cleave_NAME, which links the layers that
# tools/layers.txt names (or DEPS); its *_test.cc as program NAME_test, run by ctest; its *_bench.cc
# as program NAME_bench. SHARED_CODE: the layer is also part of the shared
# library (cmake/ring_library.cmake). A precompiled header of standard headers keeps the build
# short; sources still include what they use. It is named without a path, and paths are defined only
# for the tests that use them: so the objects of two working trees are the same for ccache.
add_library(cleave_pch OBJECT ${CMAKE_CURRENT_LIST_DIR}/pch.cc)
target_link_libraries(cleave_pch PRIVATE cleave_flags)
target_precompile_headers(cleave_pch PRIVATE <cmake/pch.h>)

# Code that a shared library can hold, and no slower for it: what is hidden cannot be replaced at
# load time, so calls within it stay direct and may be inlined.
function(cleave_shared_code target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# A precompiled header serves only code that is compiled alike.
add_library(cleave_pch_shared OBJECT ${CMAKE_CURRENT_LIST_DIR}/pch.cc)
target_link_libraries(cleave_pch_shared PRIVATE cleave_flags)
target_precompile_headers(cleave_pch_shared PRIVATE <cmake/pch.h>)
cleave_shared_code(cleave_pch_shared)

set(CLEAVE_LAYERS ${CMAKE_SOURCE_DIR}/tools/layers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CLEAVE_LAYERS})

# OUT: the layers that NAME may include.
function(cleave_layers_below name out)
  file(STRINGS ${CLEAVE_LAYERS} lines REGEX "^${name}:")
  string(REGEX REPLACE "^${name}:" "" below "${lines}")
  string(STRIP "${below}" below)
  string(REPLACE " " ";" below "${below}")
  set(${out} ${below} PARENT_SCOPE)
endfunction()

function(cleave_layer name)
  cmake_parse_arguments(LAYER "SHARED_CODE" "DIR" "DEPS;LIBS" ${ARGN})
  if(NOT LAYER_DEPS)
    cleave_layers_below(${name} LAYER_DEPS)
  endif()
  if(NOT LAYER_DIR)
    set(LAYER_DIR src/${name})
  endif()
  set(dir ${CMAKE_SOURCE_DIR}/${LAYER_DIR})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|_bench)\\.cc$|/main/[^/]*$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(TRANSFORM LAYER_DEPS PREPEND cleave_)

  if(sources)
    add_library(cleave_${name} STATIC ${sources})
    target_link_libraries(cleave_${name} PRIVATE cleave_flags PUBLIC ${LAYER_DEPS} ${LAYER_LIBS})
    if(LAYER_SHARED_CODE)
      cleave_shared_code(cleave_${name})
      target_precompile_headers(cleave_${name} REUSE_FROM cleave_pch_shared)
    else()
      target_precompile_headers(cleave_${name} REUSE_FROM cleave_pch)
    endif()
    cleave_unity(cleave_${name} ${sources})
  else()
    add_library(cleave_${name} INTERFACE)
    target_link_libraries(cleave_${name} INTERFACE ${LAYER_DEPS} ${LAYER_LIBS})
  endif()

  if(tests AND CLEAVE_TESTS)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE cleave_flags cleave_${name} GTest::gtest_main)
    target_precompile_headers(${name}_test REUSE_FROM cleave_pch)
    foreach(test ${tests})
      file(STRINGS ${test} uses REGEX "CLEAVE_TESTDATA|CLEAVE_SOURCE|vectors_testing.h")
      if(uses)
        set_source_files_properties(${test} PROPERTIES COMPILE_DEFINITIONS
          "CLEAVE_TESTDATA=\"${dir}/testdata\";CLEAVE_SOURCE=\"${CMAKE_SOURCE_DIR}\"")
      endif()
    endforeach()
    cleave_unity(${name}_test ${tests})
    add_test(NAME ${name} COMMAND ${name}_test)
  endif()
  if(benches AND CLEAVE_BENCH)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE cleave_flags cleave_${name}
                          benchmark::benchmark_main)
    add_dependencies(benchmarks ${name}_bench)
  endif()
endfunction()

# cleave_program(NAME main.cc LAYER): skipped while its main does not exist yet.
function(cleave_program name main layer)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${main})
    add_executable(${name} ${main})
    target_link_libraries(${name} PRIVATE cleave_flags cleave_${layer})
    target_precompile_headers(${name} REUSE_FROM cleave_pch)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  endif()
endfunction()

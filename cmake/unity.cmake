# cleave_unity(TARGET SOURCE...): the sources of one folder are compiled together, a few at a time.
#
# Most of the time of a file goes into headers and templates that its neighbours use too. So what
# stands in unnamed namespaces has names that are unique in the folder (tools/check_twins.py).
# CLEAVE_UNITY=OFF compiles each file alone: for editors and clang-tidy, which want to know how,
# and where one file is changed again and again.
option(CLEAVE_UNITY "Compile the sources of a folder together" ON)
set(CLEAVE_UNITY_MAX 12)  # more would leave a core idle at the end of a build

function(cleave_unity target)
  if(NOT CLEAVE_UNITY)
    return()
  endif()
  set(folders)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND folders ${folder})
    list(APPEND sources_of_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH sources_of_${folder} count)
    math(EXPR parts "(${count} + ${CLEAVE_UNITY_MAX} - 1) / ${CLEAVE_UNITY_MAX}")
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE name)
    string(MAKE_C_IDENTIFIER ${name} name)
    set(number 0)
    foreach(source ${sources_of_${folder}})
      math(EXPR part "${number} * ${parts} / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${part})
      math(EXPR number "${number} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

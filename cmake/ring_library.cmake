# libcleave-ring: the layers base, ring and ring_library as one shared library for other programs,
# its headers, a CMake package (`find_package(cleave)` gives cleave::ring) and a pkg-config file.
# Installed by `make library`, or `cmake --install build/release --component ring`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Raised with each change that breaks programs linked before (docs/ring-library.md, "Stability").
set(CLEAVE_RING_ABI 1)
set(exports ${CMAKE_CURRENT_LIST_DIR}/ring_library.map)

target_include_directories(cleave_ring_library PUBLIC ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(cleave_ring_library PRIVATE CLEAVE_RING_ABI=${CLEAVE_RING_ABI})

# It replaces `new`, so it is compiled alone; so does the thread sanitizer, which leaves no room for
# another.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/ring_library/allocation_test.cc
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if("thread" IN_LIST CLEAVE_SANITIZE)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/ring_library/allocation_test.cc
    PROPERTIES HEADER_FILE_ONLY ON)
endif()

# The linker takes of base and ring only what it needs.
add_library(cleave_ring_shared SHARED $<TARGET_OBJECTS:cleave_ring_library>)
target_link_libraries(cleave_ring_shared PRIVATE cleave_flags cleave_ring cleave_base)
target_link_options(cleave_ring_shared PRIVATE LINKER:--version-script=${exports})
if(NOT CLEAVE_SANITIZE)  # else the sanitizers' names come from the program
  target_link_options(cleave_ring_shared PRIVATE LINKER:-z,defs)
endif()
target_include_directories(cleave_ring_shared INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(cleave_ring_shared INTERFACE cxx_std_17)
set_target_properties(cleave_ring_shared PROPERTIES
  OUTPUT_NAME cleave-ring EXPORT_NAME ring LINKER_LANGUAGE CXX LINK_DEPENDS ${exports}
  VERSION ${CLEAVE_RING_ABI}.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  SOVERSION ${CLEAVE_RING_ABI})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cleave)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cleaveConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/cleaveConfig.cmake.in
  ${CMAKE_BINARY_DIR}/cleaveConfig.cmake INSTALL_DESTINATION ${package_dir})
file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/cleave-ring.pc.in ${CMAKE_BINARY_DIR}/cleave-ring.pc @ONLY)

install(TARGETS cleave_ring_shared EXPORT cleave
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ring NAMELINK_COMPONENT ring)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/cleave DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT ring)
install(EXPORT cleave FILE cleaveTargets.cmake NAMESPACE cleave:: DESTINATION ${package_dir}
  COMPONENT ring)
install(FILES ${CMAKE_BINARY_DIR}/cleaveConfig.cmake ${CMAKE_BINARY_DIR}/cleaveConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT ring)
install(FILES ${CMAKE_BINARY_DIR}/cleave-ring.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT ring)

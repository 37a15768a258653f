# Warnings are errors, on every compiler. Third-party headers come in as system headers.
add_library(cleave_flags INTERFACE)
target_compile_options(cleave_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
  -Woverloaded-virtual -Wold-style-cast -Wcast-align -Wunused -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False at -O2 and above on g++ 12: string::insert(0, "x") and inlined std::variant moves.
  target_compile_options(cleave_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12's stable_sort uses get_temporary_buffer, which C++17 deprecates.
  target_compile_options(cleave_flags INTERFACE -Wno-deprecated-declarations)
endif()
target_include_directories(cleave_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
if(CLEAVE_SANITIZE)
  string(REPLACE ";" "," sanitizers "${CLEAVE_SANITIZE}")
  target_compile_options(cleave_flags INTERFACE -fsanitize=${sanitizers} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(cleave_flags INTERFACE -fsanitize=${sanitizers})
endif()

# mrcsim_options: what every target of ours is compiled with. mrcsim_systemc: the kernel, with the one macro it needs here.
include(CheckIPOSupported)
check_ipo_supported(RESULT MRCSIM_IPO_SUPPORTED LANGUAGES CXX)
if(MRCSIM_IPO_SUPPORTED AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MRCSIM_SANITIZE AND NOT MRCSIM_COVERAGE)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

add_library(mrcsim_options INTERFACE)
target_compile_options(mrcsim_options INTERFACE "$<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;-Wshadow;-Werror>")
if(MRCSIM_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(MRCSIM_COVERAGE)
  add_compile_options(--coverage -O0 -g -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

# Debian's libsystemc exports only the C++17 API-version symbol, so every file that includes <systemc> says 201703L.
add_library(mrcsim_systemc INTERFACE)
target_link_libraries(mrcsim_systemc INTERFACE PkgConfig::SYSTEMC)
target_compile_definitions(mrcsim_systemc INTERFACE SC_CPLUSPLUS=201703L)

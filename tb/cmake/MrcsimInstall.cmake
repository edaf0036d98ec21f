# `cmake --install`: the executable, and a package for who builds on the model: find_package(mrcsim), targets mrcsim::…,
# headers, static libraries, documentation, scenarios and the example platform.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(MRCSIM_HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/mrcsim)
set(MRCSIM_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/mrcsim)
set(MRCSIM_DOCS ${CMAKE_INSTALL_DATADIR}/doc/mrcsim)

set_target_properties(mrc_protocol PROPERTIES EXPORT_NAME protocol)
foreach(part parameters results workload ideal models systemc options fst)
  set_target_properties(mrcsim_${part} PROPERTIES EXPORT_NAME ${part})
endforeach()
foreach(target mrc_protocol mrcsim_parameters mrcsim_workload mrcsim_models)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${MRCSIM_HEADERS}>)
endforeach()

# Whoever links the libraries may have another compiler, or none of its link-time optimization: each object carries machine
# code beside what GCC's own link step wants. Clang has no such objects here, so its libraries are plain.
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  foreach(part parameters results workload ideal models)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Code is generated here and not at the link, and with it come GCC's warnings of that stage, which see ghosts in
      # std::string (GCC bug 105651); the default build has them as errors where they mean something.
      target_compile_options(mrcsim_${part} PRIVATE -ffat-lto-objects -Wno-restrict -Wno-error=array-bounds
                             -Wno-error=stringop-overflow -Wno-error=maybe-uninitialized -Wno-error=null-dereference)
    else()
      set_target_properties(mrcsim_${part} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
    endif()
  endforeach()
endif()

# Parts, so that the bundle can leave out what needs Debian's development packages: program, documents, headers, development.
install(TARGETS mrc_protocol mrcsim_options mrcsim_systemc mrcsim_parameters mrcsim_results
        mrcsim_workload mrcsim_ideal mrcsim_models mrcsim_fst
        EXPORT mrcsimTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT mrcsimTargets NAMESPACE mrcsim:: DESTINATION ${MRCSIM_PACKAGE} COMPONENT development)
install(DIRECTORY include/mrc sc_models/ DESTINATION ${MRCSIM_HEADERS} COMPONENT headers FILES_MATCHING PATTERN "*.h")
configure_package_config_file(tb/cmake/mrcsimConfig.cmake.in ${PROJECT_BINARY_DIR}/mrcsimConfig.cmake
                              INSTALL_DESTINATION ${MRCSIM_PACKAGE} PATH_VARS MRCSIM_DOCS)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mrcsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mrcsimConfig.cmake ${PROJECT_BINARY_DIR}/mrcsimConfigVersion.cmake
        DESTINATION ${MRCSIM_PACKAGE} COMPONENT development)
install(DIRECTORY docs/ DESTINATION ${MRCSIM_DOCS} COMPONENT documents FILES_MATCHING PATTERN "*.md" PATTERN "*.lua")
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${MRCSIM_DOCS} COMPONENT documents)
install(DIRECTORY tb/platform DESTINATION ${CMAKE_INSTALL_DATADIR}/mrcsim/examples COMPONENT development
        FILES_MATCHING PATTERN "*.cpp" PATTERN "*.h" PATTERN "CMakeLists.txt" PATTERN "register_map_command.cpp" EXCLUDE)
# Scenarios name their traces relative to themselves.
install(DIRECTORY tb/scenarios tb/validation tb/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/mrcsim/tb COMPONENT program
        FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY tb/python/mrcsim DESTINATION ${CMAKE_INSTALL_DATADIR}/mrcsim/python COMPONENT program
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed")
install(DIRECTORY traces DESTINATION ${CMAKE_INSTALL_DATADIR}/mrcsim COMPONENT program)
install(TARGETS mrcsim RUNTIME COMPONENT program)
if(MRCSIM_HAS_VERBS)
  install(TARGETS mrcsim_verbs_preload mrcsim_verbs_provider LIBRARY DESTINATION ${MRCSIM_MODULES_INSTALL}/verbs COMPONENT program)
  install(FILES ${MRCSIM_PROVIDER_NAMES} DESTINATION ${MRCSIM_MODULES_INSTALL}/verbs COMPONENT program)
  if(TARGET mrcsim_verbs_rdmacm)
    install(TARGETS mrcsim_verbs_rdmacm LIBRARY DESTINATION ${MRCSIM_MODULES_INSTALL}/verbs COMPONENT program)
  endif()
endif()
install(FILES ${MRCSIM_SCHEMA} DESTINATION ${CMAKE_INSTALL_DATADIR}/mrcsim COMPONENT program)
install(FILES ${MRCSIM_MAN_PAGE} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${MRCSIM_COMPLETION} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME mrcsim
        COMPONENT program)

# The bundle (tb/bundle.sh): one archive that runs where it is unpacked, on systems with this glibc or a newer one. What the
# program needs besides glibc lies in the folder of its modules, where its RPATH looks.
install(CODE "
  set(folder \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${MRCSIM_MODULES_INSTALL})
  file(GLOB modules \${folder}/rtl_*.so \${folder}/cosim_*.so)
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/mrcsim
       MODULES \${modules} RESOLVED_DEPENDENCIES_VAR libraries
       PRE_EXCLUDE_REGEXES [[^ld-linux]] [[^lib(c|m|dl|rt|pthread|resolv|util)\\.so]])
  foreach(library \${libraries})
    file(INSTALL DESTINATION \${folder} TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN FILES \${library})
    # A library that looks for its own libraries elsewhere would not see those beside it.
    cmake_path(GET library FILENAME name)
    file(REAL_PATH \${folder}/\${name} file)
    file(RPATH_REMOVE FILE \${file})
  endforeach()
" COMPONENT libraries EXCLUDE_FROM_ALL)
cmake_host_system_information(RESULT system QUERY DISTRIB_INFO)
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME mrcsim)
set(CPACK_PACKAGE_FILE_NAME mrcsim-${PROJECT_VERSION}-${system_ID}${system_VERSION_ID}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_CMAKE_PROJECTS)
foreach(part program documents headers libraries)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS ${PROJECT_BINARY_DIR} mrcsim ${part} /)
endforeach()
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)

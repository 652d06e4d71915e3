# The Debian package: ./dev package, or `ninja package` in a build folder. What describes the program (manual pages,
# the configuration file, completion) is made by the program itself, so that it cannot lag behind it.
set(reference ${CMAKE_BINARY_DIR}/reference)
set(reference_files)
function(orrery_reference file)
  add_custom_command(OUTPUT ${reference}/${file} COMMAND ${CMAKE_COMMAND} -E make_directory ${reference}
                     COMMAND orrery ${ARGN} > ${reference}/${file} DEPENDS orrery VERBATIM)
  set(reference_files ${reference_files} ${reference}/${file} PARENT_SCOPE)
endfunction()
orrery_reference(orrery.conf reference orrery.conf)
orrery_reference(orrery.1 reference orrery.1)
orrery_reference(orrery.conf.5 reference orrery.conf.5)
orrery_reference(orrery.bash completion bash)
orrery_reference(_orrery completion zsh)
orrery_reference(orrery.fish completion fish)
# Without the name and time of this build, so that the same sources make the same bytes.
set(zipped)
foreach(file orrery.1 orrery.conf.5 CHANGELOG.md)
  set(from ${reference}/${file})
  if(file STREQUAL CHANGELOG.md)
    set(from ${CMAKE_SOURCE_DIR}/CHANGELOG.md)
  endif()
  add_custom_command(OUTPUT ${reference}/${file}.gz COMMAND gzip -9nc ${from} > ${reference}/${file}.gz DEPENDS ${from} VERBATIM)
  list(APPEND zipped ${reference}/${file}.gz)
endforeach()
add_custom_target(reference DEPENDS ${reference_files} ${zipped})

install(TARGETS orrery RUNTIME DESTINATION /usr/bin)
# What only a node of a cluster loads (src/peer/node.cc looks here).
install(TARGETS orrery_peer_module LIBRARY DESTINATION /usr/lib/orrery)
install(FILES packaging/debian/orrery.service DESTINATION /lib/systemd/system)
install(FILES ${reference}/orrery.conf DESTINATION /etc/orrery)
install(FILES ${reference}/orrery.1.gz DESTINATION /usr/share/man/man1)
install(FILES ${reference}/orrery.conf.5.gz DESTINATION /usr/share/man/man5)
install(FILES ${reference}/orrery.bash DESTINATION /usr/share/bash-completion/completions RENAME orrery)
install(FILES ${reference}/_orrery DESTINATION /usr/share/zsh/vendor-completions)
install(FILES ${reference}/orrery.fish DESTINATION /usr/share/fish/vendor_completions.d)
install(FILES packaging/debian/copyright ${reference}/CHANGELOG.md.gz DESTINATION /usr/share/doc/orrery)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME orrery)
set(CPACK_PACKAGE_VENDOR "The Orrery authors")
set(CPACK_PACKAGE_CONTACT "The Orrery authors <orrery@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "elastic, partitioned document database")
set(CPACK_PACKAGE_DESCRIPTION "Orrery stores JSON documents in containers that are divided into partitions by
a key, splits partitions as they fill, and speaks the protocol of Azure Cosmos
DB: the vendor's client libraries work with it unchanged. It has a web console
and metrics for Prometheus. The package runs one server as a system service,
alone or as a node of a cluster.")
set(CPACK_SET_DESTDIR ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/package)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS librados2)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${CMAKE_SOURCE_DIR}/packaging/debian/conffiles;${CMAKE_SOURCE_DIR}/packaging/debian/postinst;${CMAKE_SOURCE_DIR}/packaging/debian/prerm;${CMAKE_SOURCE_DIR}/packaging/debian/postrm")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
include(CPack)

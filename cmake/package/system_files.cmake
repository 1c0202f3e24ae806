# SPDX-License-Identifier: MIT
# Run when installing, with `source` (the repository): configuration and units of the daemon. Where
# kiln is installed into /usr, as packages are, these lie in the folders of the system; elsewhere all is
# below the prefix.
set(system "${CMAKE_INSTALL_PREFIX}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(system "")
endif()
file(INSTALL DESTINATION "${system}/etc/kiln" TYPE FILE FILES "${source}/deploy/debian/kilnd.toml")
file(INSTALL DESTINATION "${system}/lib/systemd/system" TYPE FILE
     FILES "${source}/deploy/systemd/system/kilnd.service" "${source}/deploy/systemd/system/kilnd.socket")
file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/user" TYPE FILE
     FILES "${source}/deploy/systemd/user/kilnd.service" "${source}/deploy/systemd/user/kilnd.socket")

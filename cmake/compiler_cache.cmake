# SPDX-License-Identifier: MIT
# ccache when it is installed. Paths below the source folder are hashed relative to it, so several
# checkouts share one cache.
find_program(KILN_CCACHE ccache)
if(KILN_CCACHE)
  set(kiln_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
                    CCACHE_SLOPPINESS=pch_defines,time_macros ${KILN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${kiln_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${kiln_launcher})
endif()

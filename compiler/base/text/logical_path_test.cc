// SPDX-License-Identifier: MIT
#include "compiler/base/text/logical_path.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(IsLogicalPath, PrintablePathBelowTheRoot_IsOne) {
  for (const std::string path : {"a.rpl", "a b/c.rpl", "gr\xc3\xbcn/\xe6\xb0\xb4.rpl", "a/.b"}) {
    EXPECT_TRUE(IsLogicalPath(path)) << path;
  }
  EXPECT_TRUE(IsLogicalPath(std::string(1024, 'a')));
  EXPECT_FALSE(IsLogicalPath(std::string(1025, 'a')));
}

TEST(IsLogicalPath, WhatLeadsElsewhereOrDeceives_IsNone) {
  for (const std::string path : {"", "/a", "a//b", "a/", ".", "..", "a/../b", "./a", "a\\b", "a\nb",
                                 "a\x1b[31m", "a\x7f", "a\xc2\x9b",
                                 "a\xe2\x80\xae"
                                 "lpr.b",
                                 "a\xe2\x80\xa8", "a\xff", "a\xc3"}) {
    EXPECT_FALSE(IsLogicalPath(path)) << path;
  }
  EXPECT_FALSE(IsLogicalPath(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace kiln

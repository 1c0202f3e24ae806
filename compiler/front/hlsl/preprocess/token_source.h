// SPDX-License-Identifier: MIT
// Where an expander gets its tokens from: the files of the module, or one line of a directive.
#pragma once

#include "compiler/front/hlsl/token.h"

namespace kiln::hlsl {

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // kEnd behind the last, again and again.
  virtual Token Next() = 0;
  // Whether the next token is '('. Obeys no directive: one that stands before it is no '('.
  virtual bool NextIsOpenParen() = 0;
};

}  // namespace kiln::hlsl

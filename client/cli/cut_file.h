// SPDX-License-Identifier: MIT
// Packs are read through memory. One that somebody makes shorter meanwhile, as `cp` over it does,
// is a SIGBUS at the next touch, which would end the command as a bug does.
#pragma once

namespace kiln::cli {

// From now on such a touch ends the process with kIntegrity and says why, as data that is damaged
// does. Every other SIGBUS is what it was.
void AnswerCutFiles();

}  // namespace kiln::cli

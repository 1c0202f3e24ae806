// SPDX-License-Identifier: MIT
// The functions that answer requests, each in the file that is named after what it answers:
// params -> result or error. methods.def says which method is whose.
#pragma once

#include "client/lsp/diagnostics/pull.h"
#include "client/lsp/features/code_actions.h"
#include "client/lsp/features/commands.h"
#include "client/lsp/features/completion.h"
#include "client/lsp/features/formatting.h"
#include "client/lsp/features/hover.h"
#include "client/lsp/features/inlay_hints.h"
#include "client/lsp/features/navigation.h"
#include "client/lsp/features/ranges.h"
#include "client/lsp/features/rename.h"
#include "client/lsp/features/semantic_tokens.h"
#include "client/lsp/features/signature_help.h"
#include "client/lsp/features/symbols.h"

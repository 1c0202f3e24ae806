// SPDX-License-Identifier: MIT
#include "client/client.h"
#include "runtime/graph/execute.h"
#include "runtime/pipeline/pipelines.h"

int main() { return 0; }

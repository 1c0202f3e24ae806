-- SPDX-License-Identifier: MIT
-- One session of Neovim with kiln; see neovim_test.py. Waits for events, never for time alone.
local seen = { problems = {} }

local function try(name, step)
  local ok, result = pcall(step)
  if ok then
    if result ~= nil then seen[name] = result end
  else
    table.insert(seen.problems, name .. ": " .. tostring(result))
  end
end

local function await(condition)
  assert(vim.wait(15000, condition, 5), "it did not come")
end

local function place(text, offset)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local at = line:find(text, 1, true)
    if at then
      vim.api.nvim_win_set_cursor(0, { number, at - 1 + (offset or 0) })
      return
    end
  end
  error("no " .. text)
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params or vim.lsp.util.make_position_params(), 15000)
  for _, answer in pairs(answers or {}) do
    assert(not answer.err and not answer.error, vim.inspect(answer))
    return answer.result
  end
  error("no answer to " .. method)
end

local function document()
  return { textDocument = vim.lsp.util.make_text_document_params() }
end

local function messages()
  local found = {}
  for _, row in ipairs(vim.diagnostic.get(0)) do
    if row.severity == vim.diagnostic.severity.ERROR then table.insert(found, row.message) end
  end
  return found
end

local published = 0
local handler = vim.lsp.handlers["textDocument/publishDiagnostics"]
vim.lsp.handlers["textDocument/publishDiagnostics"] = function(...)
  published = published + 1
  return handler(...)
end

require("kiln").setup({ cmd = { os.getenv("KILN_TEST_PROGRAM"), "lsp" } })
vim.cmd("edit water.rpl")

try("diagnostics_at_first", function()
  await(function() return published > 0 end)
  return messages()
end)
try("hover", function()
  place("water.tint.xyz", 7)
  return ask("textDocument/hover").contents.value
end)
try("completion", function()
  place("water.tint.xyz", 6)
  local labels = {}
  for _, item in ipairs(ask("textDocument/completion").items) do table.insert(labels, item.label) end
  return labels
end)
try("signature", function()
  place("hazy (color, 1.0)", 6)
  return ask("textDocument/signatureHelp").signatures[1].label
end)
try("definition", function()
  place("hazy (color", 1)
  return ask("textDocument/definition")[1].uri
end)
try("references", function()
  place("hazy (color", 1)
  local params = vim.lsp.util.make_position_params()
  params.context = { includeDeclaration = true }
  return #ask("textDocument/references", params)
end)
try("diagnostics_of_mistake", function()
  place("water.tint.xyz", 6)
  vim.cmd("normal! cetnt")
  await(function() return #messages() > 0 end)
  return messages()
end)
try("actions", function()
  local row = vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })[1]
  local params = document()
  params.range = { start = { line = row.lnum, character = row.col },
                   ["end"] = { line = row.end_lnum, character = row.end_col } }
  params.context = { diagnostics = {} }
  local titles = {}
  for _, action in ipairs(ask("textDocument/codeAction", params)) do table.insert(titles, action.title) end
  return titles
end)
-- Neovim 0.7 does not ask by itself, but what it asks is answered. Until all variants have been tried
-- there may be more to say.
try("pulled", function()
  local params = document()
  local message, kind
  await(function()
    local report = ask("textDocument/diagnostic", params)
    if report.kind == "full" then message = report.items[1].message end
    params.previousResultId = report.resultId
    kind = report.kind
    return kind == "unchanged"
  end)
  return { message, kind }
end)
try("diagnostics_at_last", function()
  vim.cmd("undo")
  await(function() return #messages() == 0 end)
  return messages()
end)
try("renamed", function()
  place("f3 color =", 3)
  vim.lsp.buf.rename("shade_of_it")
  local function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") end
  await(function() return text():find("shade_of_it", 1, true) ~= nil end)
  return text()
end)
try("symbols", function() return #ask("textDocument/documentSymbol", document()) end)
try("folds", function() return #ask("textDocument/foldingRange", document()) end)
try("tokens", function() return #ask("textDocument/semanticTokens/full", document()).data end)
try("lenses", function()
  ask("workspace/executeCommand", { command = "kiln.chooseVariant", arguments = {
    { uri = vim.uri_from_bufnr(0), option = "wet", value = "true" } } })
  local titles = {}
  for _, lens in ipairs(ask("textDocument/codeLens", document())) do
    table.insert(titles, lens.command.title)
  end
  return titles
end)
vim.cmd("edit! mud.rpl")
try("formatted", function()
  await(function() return #vim.lsp.get_active_clients() == 1 and vim.lsp.buf_is_attached(0, vim.lsp.get_active_clients()[1].id) end)
  vim.lsp.buf.formatting_sync(nil, 15000)
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end)

-- HLSL and WGSL: names, what is included, and a mistake.
for _, file in ipairs({ "tone.hlsl", "blur.wgsl" }) do
  local seen_before = published
  vim.cmd("edit! " .. file)
  try(file, function()
    await(function() return published > seen_before end)
    local found = { clean = #messages() }
    place(file == "tone.hlsl" and "kWhite)" or "weight(step)", 1)
    if file == "blur.wgsl" then place("kernel.weights", 1) end
    found.hover = ask("textDocument/hover").contents.value
    found.definition = ask("textDocument/definition")[1].uri
    found.symbols = #ask("textDocument/documentSymbol", document())
    found.tokens = #ask("textDocument/semanticTokens/full", document()).data
    place(file == "tone.hlsl" and "grade.exposure" or "kernel.weights", file == "tone.hlsl" and 6 or 7)
    found.completion = {}
    for _, item in ipairs(ask("textDocument/completion").items) do table.insert(found.completion, item.label) end
    vim.cmd("normal! cwnothing")
    await(function() return #messages() > 0 end)
    found.mistake = messages()[1]
    vim.cmd("undo")
    await(function() return #messages() == 0 end)
    return found
  end)
end

local out = io.open(os.getenv("KILN_TEST_OUT"), "w")
out:write(vim.fn.json_encode(seen))
out:close()

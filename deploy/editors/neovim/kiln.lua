-- SPDX-License-Identifier: MIT
-- kiln for Neovim 0.7 and later: `require("kiln").setup()` in init.lua. See docs/users/editor.md
local M = {}

-- The variant to look at: asks for an option and a value with vim.ui.select.
function M.choose_variant(argument)
  local uri = vim.uri_from_bufnr(0)
  argument = vim.tbl_extend("keep", argument or {}, { uri = uri })
  vim.lsp.buf_request(0, "workspace/executeCommand",
    { command = "kiln.chooseVariant", arguments = { argument } },
    function(err) if err then vim.notify(err.message, vim.log.levels.ERROR) end end)
end

-- options: `cmd`, `on_attach`, `capabilities`, as of vim.lsp.start_client.
function M.setup(options)
  options = options or {}
  vim.cmd([[autocmd BufRead,BufNewFile *.rpl setfiletype rpl]])
  vim.cmd([[autocmd BufRead,BufNewFile *.hlsl,*.hlsli setfiletype hlsl]])
  vim.cmd([[autocmd BufRead,BufNewFile *.wgsl setfiletype wgsl]])
  M.commands()
  vim.api.nvim_create_autocmd("FileType", {
    pattern = { "rpl", "hlsl", "wgsl" },
    callback = function(event) M.start(event.buf, options) end,
  })
  vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
    pattern = { "kiln.toml" },
    callback = function(event) M.start(event.buf, options) end,
  })
end

local client_id

function M.start(buffer, options)
  if client_id == nil or vim.lsp.get_client_by_id(client_id) == nil then
    local manifest = vim.fs and vim.fs.find("kiln.toml", { upward = true })[1]
    client_id = vim.lsp.start_client({
      name = "kiln",
      cmd = options.cmd or { "kiln", "lsp" },
      root_dir = manifest and vim.fn.fnamemodify(manifest, ":h") or vim.fn.getcwd(),
      on_attach = options.on_attach,
      capabilities = options.capabilities,
      commands = {
        ["kiln.chooseVariant"] = function(command) M.choose_variant(command.arguments[1]) end,
      },
    })
  end
  vim.lsp.buf_attach_client(buffer, client_id)
end

function M.commands()
  vim.api.nvim_create_user_command("KilnVariant", function() M.choose_variant() end, {})
end

return M

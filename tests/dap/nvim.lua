-- A session in headless Neovim with nvim-dap: breakpoint, continue, step back, reverse
-- continue. Prints a line of JSON; pytest looks at it.
--   nvim --headless -u NONE -l is newer than what Debian has: run with -S.
local folder = vim.fn.getenv('FILMSTRIP_FILMS')
vim.opt.runtimepath:append(vim.fn.getenv('NVIM_DAP'))
vim.opt.swapfile = false
local dap = require('dap')

dap.adapters.filmstrip = {
  type = 'executable',
  command = vim.fn.getenv('FILMSTRIP_PROGRAM'),
  args = { 'dap' },
}
local configuration = {
  type = 'filmstrip',
  request = 'launch',
  name = 'Recording',
  film = folder .. '/market.film',
}

local stops, seen = {}, {}
dap.listeners.after.event_stopped['test'] = function(_, body)
  table.insert(stops, body)
end

local function fail(text)
  io.stdout:write(vim.fn.json_encode({ error = text, stops = stops }) .. '\n')
  vim.cmd('cquit')
end

local function wait(what, test)
  if not vim.wait(15000, test, 20) then
    fail('waited in vain for ' .. what)
  end
end

-- Runs until the next stop and its frame; keeps where that is.
local function move(name, run)
  local before = #stops
  run()
  wait(name, function()
    local session = dap.session()
    return #stops > before and session and session.current_frame
      and session.stopped_thread_id and session.current_frame.line
  end)
  vim.wait(200, function() return false end, 20)
  table.insert(seen, { name, dap.session().current_frame.line, vim.fn.line('.'),
    stops[#stops].reason })
end

local line = tonumber(vim.fn.getenv('FILMSTRIP_LINE'))
vim.cmd('edit ' .. folder .. '/market.py')
vim.fn.cursor(line, 1)
dap.toggle_breakpoint()
move('launch', function() dap.run(configuration) end)
move('continue', dap.continue)
move('continue', dap.continue)
move('step_over', dap.step_over)
move('step_back', dap.step_back)
move('reverse_continue', dap.reverse_continue)
move('reverse_continue', dap.reverse_continue)
move('reverse_continue', dap.reverse_continue)
local evaluated
move('continue', dap.continue)
dap.session():evaluate('order + 40', function(err, answer)
  evaluated = err and tostring(err.message) or answer.result
end)
wait('an evaluation', function() return evaluated ~= nil end)
dap.terminate()
wait('the end', function() return dap.session() == nil end)
io.stdout:write(vim.fn.json_encode({ seen = seen, evaluated = evaluated }) .. '\n')
vim.cmd('quitall!')

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeGroups } from '../../scripts/test-groups.ts'
import { defer, emptyFolder } from '../harness/embedded.ts'

const ENDLESS = `
import { test } from 'node:test'
test('never ends, and fails again and again', () => new Promise(() => {
  setInterval(() => { throw new Error('once more') }, 50)
}))
`

test('a process with tests ends when the run that reads it is killed', async (t) => {
  const dir = await emptyFolder(t)
  await writeFile(join(dir, 'endless.test.mjs'), ENDLESS)
  const [path = ''] = writeGroups([['endless.test.mjs']], dir, dir)
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = once(child, 'exit')
  defer(t, async () => {
    child.kill('SIGKILL')
    await exit
  })
  await once(child.stderr, 'data')
  child.stdout.destroy()
  child.stderr.destroy()
  assert.deepEqual(await exit, [1, null])
})

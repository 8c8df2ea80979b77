import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startWorker } from '../../src/compose/worker.ts'
import { enable, issueGiftCard } from '../modules/checkout/setup.ts'
import { inDays, openClockApp } from '../modules/test-clock/setup.ts'

const PROGRAM = 'examples/test-clock/advance.mjs'
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

test('the example moves the time of a sandbox, and prints what happened', async (t) => {
  const app = await openClockApp(t)
  const { merchant } = await app.openSandbox('example')
  await enable(merchant, 'gift_cards')
  const { gift_card } = await issueGiftCard(merchant, 500, { expires_at: inDays(10) })
  const worker = await startWorker(app.runtime)
  t.after(() => worker.stop())
  const advance = async (tenant: string, ...args: string[]) => {
    const env = { ...process.env, FAIRDOCK_URL: app.url, FAIRDOCK_KEY: await app.key(tenant) }
    return run(process.execPath, [PROGRAM, ...args], { env, cwd: ROOT }).catch(
      (error: { stdout: string; stderr: string }) => error,
    )
  }
  const early = (await advance('example', 'P1D')).stdout.trim().split('\n')
  assert.equal(early[0], 'nothing was due')
  assert.match(early[1] ?? '', /^next: gift_card_expiry is due at \d{4}-/)
  const { stdout, stderr } = await advance('example', 'P1M')
  const lines = stdout.trim().split('\n')
  assert.match(lines.at(-1) ?? '', /^ready: it is \d{4}-/, stderr)
  assert.ok(
    lines.some((line) => line.endsWith(`\tgift_card_expiry\t${gift_card.id}\texpired`)),
    stdout,
  )
  assert.match((await advance('example', 'a month')).stderr, /^set must be/)
  await app.store('plain')
  assert.match((await advance('plain', 'P1M')).stderr, /Only a sandbox store/)
  for (const page of ['docs/guides/test-clock.md', 'examples/test-clock/README.md']) {
    assert.ok(readFileSync(`${ROOT}${page}`, 'utf8').includes(`node ${PROGRAM} P1M`), page)
  }
})

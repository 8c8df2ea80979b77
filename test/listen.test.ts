import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../src/config.ts'
import { listen, readListenOptions } from '../src/listen.ts'
import { signatureV1, signingKey } from '../src/modules/webhooks/envelope.ts'
import { sealDue } from '../src/modules/webhooks/jobs.ts'
import { until } from './harness/eventually.ts'
import { openWebhooksApp } from './modules/webhooks/setup.ts'

test('listen hands the feed on to an address of this machine, signed', async (t) => {
  const app = await openWebhooksApp(t)
  const key = await app.key('acme', 'manage:own_webhooks')
  await app.place('acme', { n: 'before' })
  await sealDue(app.runtime.workerDatabase)
  const stopping = new AbortController()
  const lines: string[] = []
  const common = { api: app.url, key, everyMs: 20, signal: stopping.signal }
  const listening = listen({
    ...common,
    forwardTo: app.receiver.url(),
    after: undefined,
    print: (line) => lines.push(line),
  })
  const all: string[] = []
  const printing = listen({
    ...common,
    forwardTo: undefined,
    after: 0,
    print: (line) => all.push(line),
  })
  await until('it prints what was before', () => all.some((line) => line.includes('"before"')))
  await app.place('acme', { n: 'now' })
  await sealDue(app.runtime.workerDatabase)
  await until('it prints the event', () => lines.length === 2)
  stopping.abort()
  await Promise.all([listening, printing])

  const secret = /(whsec_\S+)/.exec(lines[0] ?? '')?.[1] ?? ''
  assert.match(lines[1] ?? '', /^2 commerce\.order\.placed\.v1 \S+ -> 200$/)
  assert.equal(app.receiver.received.length, 1)
  const [got] = app.receiver.received
  assert.ok(got !== undefined)
  const timestamp = Number(got.headers['x-webhook-timestamp'])
  const signature = signatureV1(signingKey(secret), timestamp, got.body)
  assert.equal(got.headers['x-webhook-signature-v1'], `t=${timestamp},v1=${signature}`)
  const { rows } = await app.admin.query('select payload from webhook_events where sequence = 2')
  assert.deepEqual(got.body, rows[0].payload)
})

test('listen says what is wrong with its arguments, and ends when its key is refused', async (t) => {
  const faulty = [[], ['--key', 'x'], ['--key', 'fdk_x', '--forward-to', 'nowhere']]
  for (const args of [...faulty, ['--key', 'fdk_x', '--secret', 'mine']]) {
    assert.throws(() => readListenOptions(args), ConfigError)
  }
  assert.equal(readListenOptions(['--key', 'fdk_x', '--secret', 'whsec_a']).secret, 'whsec_a')
  const app = await openWebhooksApp(t)
  const key = await app.key('acme', 'read:own_store')
  const refused = listen({ api: app.url, key, forwardTo: undefined, after: 0, print: () => {} })
  await assert.rejects(refused, ConfigError)
})

test('the command works from any folder', () => {
  const command = fileURLToPath(new URL('../scripts/fairdock.mjs', import.meta.url))
  const { status, stderr } = spawnSync(command, ['listen', '--forward-to', 'nowhere'], {
    cwd: '/',
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  assert.match(stderr, /--key must be a merchant key[\s\S]*--forward-to must be a URL/)
})

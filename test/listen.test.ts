import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ListenError, listen, readListenOptions } from '../src/listen.ts'
import { signatureV1, signingKey } from '../src/modules/webhooks/envelope.ts'
import { numberNewEvents } from '../src/modules/webhooks/jobs.ts'
import { until } from './harness/eventually.ts'
import { openProxy } from './harness/proxy.ts'
import { openHanging, openReceiver, openWebhooksApp } from './modules/webhooks/setup.ts'

test('listen sends the feed to a local address, signed', async (t) => {
  const app = await openWebhooksApp(t)
  const key = await app.key('acme', 'manage:own_webhooks')
  // Text of a shopper, which must not control the terminal.
  await app.place('acme', { n: 'before', name: '\u009b2J\u007f\u202e' })
  await numberNewEvents(app.runtime.workerDatabase)
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
  await until('it listens', () => lines.length === 2)
  await app.place('acme', { n: 'now' })
  await numberNewEvents(app.runtime.workerDatabase)
  await until('it prints the event', () => lines.length === 3)
  stopping.abort()
  await Promise.all([listening, printing])

  assert.equal(
    all[2]?.endsWith('{"n":"before","name":"\\u009b2J\\u007f\\u202e","sequence":1}'),
    true,
  )
  const secret = /(whsec_\S+)/.exec(lines[0] ?? '')?.[1] ?? ''
  assert.equal(lines[1], 'listening; the last event so far is 1')
  assert.match(lines[2] ?? '', /^2 commerce\.order\.placed\.v1 \S+ -> 200$/)
  assert.equal(app.receiver.received.length, 1)
  const [got] = app.receiver.received
  assert.ok(got !== undefined)
  const timestamp = Number(got.headers['x-webhook-timestamp'])
  const signature = signatureV1(signingKey(secret), timestamp, got.body)
  assert.equal(got.headers['x-webhook-signature-v1'], `t=${timestamp},v1=${signature}`)
  const { rows } = await app.admin.query('select payload from webhook_events where sequence = 2')
  assert.deepEqual(got.body, rows[0].payload)
})

test('listen explains wrong arguments, and ends when its key is refused', async (t) => {
  const invalid = [[], ['--key', 'x'], ['--key', 'fdk_x', '--forward-to', 'nowhere']]
  for (const args of [...invalid, ['--key', 'fdk_x', '--secret', 'mine']]) {
    assert.throws(() => readListenOptions(args), ListenError)
  }
  // Node parses the first as a URL of the scheme "localhost"; none of them can be called.
  for (const url of ['localhost:3000/hooks', 'ftp://127.0.0.1/', 'http://me:secret@127.0.0.1/']) {
    for (const option of ['--api', '--forward-to']) {
      const message = new RegExp(`^${option} must be a URL that begins with http`)
      const read = () => readListenOptions(['--key', 'fdk_x', option, url])
      assert.throws(read, { name: 'Error', message }, `${option} ${url}`)
    }
  }
  assert.equal(readListenOptions(['--key', 'fdk_x', '--secret', 'whsec_a'])?.secret, 'whsec_a')
  assert.equal(readListenOptions([], 'fdk_y')?.key, 'fdk_y')
  assert.equal(readListenOptions(['--key', 'fdk_x'], 'fdk_y')?.key, 'fdk_x')
  assert.throws(() => readListenOptions([], 'another word'), ListenError)
  const app = await openWebhooksApp(t)
  const key = await app.key('acme', 'read:own_store')
  const as = (key: string) =>
    listen({ api: app.url, key, forwardTo: undefined, after: 0, print: () => {} })
  await assert.rejects(as(key), {
    message: 'the key lacks the scope manage:own_webhooks; use a key that has it',
  })
  const message = `${app.url} refused the key (401): it is wrong, expired or revoked; use another key`
  await assert.rejects(as(`${key}x`), { message })
})

test('listen continues with a feed that was restored from a backup', async (t) => {
  const app = await openWebhooksApp(t)
  const key = await app.key('acme', 'manage:own_webhooks')
  await app.place('acme')
  await numberNewEvents(app.runtime.workerDatabase)
  const stopping = new AbortController()
  const lines: string[] = []
  const print = (line: string) => lines.push(line)
  const common = { api: app.url, key, everyMs: 5, signal: stopping.signal, print }
  const listening = listen({ ...common, forwardTo: app.receiver.url(), after: 7 })
  await until('it says so', () => lines.length === 3)
  assert.equal(lines[2], 'the feed ends at 1, before 7: continuing from there')
  await app.place('acme')
  await numberNewEvents(app.runtime.workerDatabase)
  await until('it hands on what has a lower number', () => lines.length === 4)
  stopping.abort()
  await listening
  assert.match(lines[3] ?? '', /^2 commerce\.order\.placed\.v1 \S+ -> 200$/)
})

test('listen reports an address that does not answer and why, once, and its recovery', async (t) => {
  const app = await openWebhooksApp(t)
  const key = await app.key('acme', 'manage:own_webhooks')
  const proxy = await openProxy(t, Number(new URL(app.url).port))
  await proxy.cut()
  const api = `http://127.0.0.1:${proxy.port}`
  const stopping = new AbortController()
  const lines: string[] = []
  const print = (line: string) => lines.push(line)
  const common = { everyMs: 5, signal: stopping.signal, print }
  const closed = 'http://127.0.0.1:1/'
  const listening = listen({ ...common, api, key, forwardTo: closed, after: undefined })
  await until('it tells of the trouble', () => lines.length === 2)
  // Several more attempts, which print nothing new.
  await sleep(50)
  await proxy.mend()
  await until('it tells of the end', () => lines.length === 3)
  // New events from here on are shown, although the command started before the platform did.
  await app.place('acme')
  await numberNewEvents(app.runtime.workerDatabase)
  await until('it prints the event', () => lines.length === 4)
  await proxy.cut()
  await until('it tells of the next trouble', () => lines.at(-1) === lines[1])
  await proxy.mend()
  await until('it tells of its end', () => lines.at(-1) === 'the feed can be read again')
  stopping.abort()
  await listening
  const said = `the feed of ${api} cannot be read, trying again: connect ECONNREFUSED`
  assert.ok(lines[1]?.startsWith(said), lines[1])
  assert.equal(lines[2], 'listening; the last event so far is 0')
  assert.match(lines[3] ?? '', /^1 \S+ \S+ -> no answer: bad port$/)
  // A call that was running may report another reason first.
  const failures = lines.slice(4, -1)
  assert.ok(failures.length === 1 || failures.length === 2, lines.join('\n'))
  const trouble = `the feed of ${api} cannot be read, trying again: `
  assert.ok(failures.every((line) => line.startsWith(trouble)))
})

test('listen stops when it is told to, whatever it is waiting for, and sends nothing more', async (t) => {
  const app = await openWebhooksApp(t)
  const key = await app.key('acme', 'manage:own_webhooks')
  for (let n = 0; n < 3; n++) await app.place('acme', { n })
  await numberNewEvents(app.runtime.workerDatabase)
  const silent = await openHanging(t)
  const lines: string[] = []
  const print = (line: string) => lines.push(line)
  const stops = async (given: { api: string; forwardTo: string }, asked: () => boolean) => {
    const stopping = new AbortController()
    const listening = listen({ ...given, key, after: 0, print, signal: stopping.signal })
    await until('it waits', asked)
    stopping.abort()
    await listening
  }
  const url = `http://127.0.0.1:${silent.port}`
  await stops({ api: app.url, forwardTo: `${url}/receiver` }, () => silent.reached() === 1)
  await stops({ api: url, forwardTo: url }, () => silent.reached() === 2)
  assert.deepEqual(
    lines.filter((line) => line.includes('->')),
    [],
  )
})

test('listen reports that the answering server is not the platform', async (t) => {
  const other = await openReceiver(t)
  const lines: string[] = []
  const stopping = new AbortController()
  const listening = () =>
    listen({
      api: other.url(''),
      key: 'fdk_x',
      forwardTo: undefined,
      after: 0,
      everyMs: 5,
      print: (line: string) => lines.push(line),
      signal: stopping.signal,
    })
  // A redirect would drop the key, and the other address would call it wrong.
  other.answer((response) => response.writeHead(301, { location: 'https://shop.example/' }).end())
  await assert.rejects(listening(), {
    name: 'Error',
    message: `${other.url('')} redirects to https://shop.example/ (301): set --api to the platform itself`,
  })
  other.answer((response) => response.end('{}'))
  const ended = listening()
  await until('it tells of the trouble', () => lines.length === 3)
  stopping.abort()
  await ended
  assert.match(
    lines[2] ?? '',
    /cannot be read, trying again: the answer is not a feed; check --api$/,
  )
})

const COMMAND = fileURLToPath(new URL('../scripts/fairdock.mjs', import.meta.url))

test('the command works from any folder', () => {
  const run = (...args: string[]) =>
    spawnSync(COMMAND, ['listen', ...args], { cwd: '/', encoding: 'utf8' })
  const invalid = run('--forward-to', 'nowhere')
  assert.equal(invalid.status, 1)
  assert.match(
    invalid.stderr,
    /^fairdock: --key or FAIRDOCK_KEY must be a merchant key.*--forward-to must be a URL.*\n$/,
  )
  const unknown = run('--nonsense')
  assert.equal(unknown.status, 1)
  assert.equal(unknown.stderr, "fairdock: Unknown option '--nonsense'; see --help\n")
  const ambiguous = run('--after', '-1')
  assert.equal(ambiguous.stderr, "fairdock: Option '--after' argument is ambiguous; see --help\n")
  const help = run('--help')
  assert.deepEqual([help.status, help.stderr], [0, ''])
  assert.match(
    help.stdout,
    /^fairdock listen \[--key [\s\S]*--forward-to +the URL that each event is sent to/,
  )
})

test('the command ends quietly when its output is closed', async (t) => {
  // It has more to say only when this server breaks off its call.
  const platform = await openHanging(t)
  const args = ['listen', '--key', 'fdk_x', '--api', `http://127.0.0.1:${platform.port}`]
  const command = spawn(COMMAND, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  command.stderr.on('data', (chunk) => {
    said += chunk
  })
  await once(command.stdout, 'data')
  command.stdout.destroy()
  await once(command.stdout, 'close')
  await until('it calls', () => platform.open() === 1)
  await platform.close()
  const [code] = await once(command, 'close')
  assert.deepEqual([code, said], [0, ''])
})

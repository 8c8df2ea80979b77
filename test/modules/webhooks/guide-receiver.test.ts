import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../harness/eventually.ts'
import { freePort } from '../../harness/ports.ts'
import { openWebhooksApp, PLACED } from './setup.ts'

test("the guide's receiver accepts each event of the platform once, and nothing else", async (t) => {
  const guide = await readFile(new URL('../../../docs/guides/webhooks.md', import.meta.url), 'utf8')
  const [recipe = '', receiver = ''] = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(
    (found) => found[1],
  )
  const dir = await mkdtemp(join(tmpdir(), 'receiver-'))
  t.after(() => rm(dir, { recursive: true }))
  await writeFile(join(dir, 'is-genuine.mjs'), recipe)
  await writeFile(join(dir, 'receiver.mjs'), receiver)

  const port = await freePort()
  const app = await openWebhooksApp(t, { targets: [port] })
  const { secret } = await app.register(await app.merchant('acme'), `http://127.0.0.1:${port}/`)
  const child = spawn(process.execPath, [join(dir, 'receiver.mjs')], {
    env: { SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill())
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  const post = (body: string, headers = {}) =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers })
  await until('it listens', () =>
    post('{}').then(
      ({ status }) => status === 401,
      () => false,
    ),
  )

  // A sender that closes the connection in the middle of a body does not stop the receiver.
  const cut = connect(port, '127.0.0.1')
  cut.end('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{')
  await once(cut.resume(), 'close')

  const id = await app.place('acme')
  await app.dispatch()
  const [delivery] = (await app.admin.query('select * from webhook_deliveries')).rows
  assert.equal(delivery.status, 'delivered')
  assert.equal(delivery.last_status_code, 204)
  const redriven = await app.operator.post(`/v1/deliveries/${delivery.id}/redrive`, {})
  assert.equal(redriven.status, 200, redriven.text)
  await app.dispatch()
  await until('it has printed', () => printed.endsWith('\n'))
  assert.equal(printed, `${PLACED} ${id}\n`)
  const forged = { 'x-webhook-signature-v1': `t=${Math.floor(Date.now() / 1_000)},v1=00` }
  assert.equal((await post('{"id":"x"}', forged)).status, 401)
})

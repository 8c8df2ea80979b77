import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { OPERATOR_TOKEN, STOREFRONT_TOKEN } from './harness/app.ts'
import { startProcess } from './harness/process.ts'
import { APPROVED, addVariant, openCheckoutApp, openShop } from './modules/checkout/setup.ts'

const CHECKOUTS = 100

/** Less than the ten seconds that a connection may delay a stop. */
const STOP_MS = 8_000

function send(url: string, agent: Agent, body: object): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  const headers = {
    'content-type': 'application/json',
    'x-storefront-token': STOREFRONT_TOKEN,
    'idempotency-key': randomUUID(),
  }
  const sent = request(`${url}/v1/tenants/acme/checkout`, { method: 'POST', agent, headers })
  sent.on('error', reject)
  sent.on('response', (answer) => {
    answer.resume().on('end', () => resolve(answer.statusCode))
  })
  sent.end(JSON.stringify(body))
  return promise
}

test('a process that is stopped', async (t) => {
  const app = await openCheckoutApp(t)
  const { merchant } = await openShop(app)
  const variant_id = await addVariant(merchant, 1_900)
  const env = {
    DATABASE_URL: app.database.url,
    SECRET_KEY: app.database.secretKey,
    CHECKOUT_VELOCITY_PER_MINUTE: '1000',
    OPERATOR_TOKEN,
    STOREFRONT_TOKEN,
  }
  const body = (at: number) => ({
    customer_ref: `shopper-${at}`,
    items: [{ variant_id, quantity: 1 }],
    card: APPROVED,
  })
  for (const keepAlive of [true, false]) {
    const kind = keepAlive ? 'connections that stay open' : 'new connections'
    await t.test(`answers ${CHECKOUTS} checkouts that were just sent, over ${kind}`, async (t) => {
      const serving = await startProcess(t, { env })
      const { url } = await serving.ready()
      const agent = new Agent({ keepAlive })
      t.after(() => agent.destroy())
      const checkOut = () =>
        Promise.all(Array.from({ length: CHECKOUTS }, (_, at) => send(url, agent, body(at))))
      if (keepAlive) await checkOut()
      const answers = checkOut()
      await sleep(20)
      const began = performance.now()
      serving.kill('SIGTERM')
      assert.deepEqual(new Set(await answers), new Set([201]))
      const { code } = await serving.exit
      assert.equal(code, 0)
      assert.ok(performance.now() - began < STOP_MS)
      assert.doesNotMatch(serving.output(), /"level":[56]0/)
    })
  }
})

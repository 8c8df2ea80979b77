import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { OPERATOR_TOKEN, STOREFRONT_TOKEN } from './harness/app.ts'
import { eventually } from './harness/eventually.ts'
import { startProcess } from './harness/process.ts'
import {
  APPROVED,
  addVariant,
  cart,
  checkout,
  openCheckoutApp,
  openShop,
} from './modules/checkout/setup.ts'

/**
 * More than a process has database connections, so that some of them still wait when it is stopped,
 * and few enough that a slow machine serves the last of them before its wait for one ends.
 */
const CHECKOUTS = 20

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

/** The command lines of the processes of a group. */
async function listGroup(group: number | undefined): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    ids.map(async (id) => {
      const read = (name: string) => readFile(`/proc/${id}/${name}`, 'utf8').catch(() => '')
      const [stat, cmdline] = await Promise.all([read('stat'), read('cmdline')])
      // The name in the second place may have spaces, and ends with a bracket.
      const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return Number(pgrp) === group && state !== 'Z' ? [cmdline.replaceAll('\0', ' ')] : []
    }),
  )
  return found.flat()
}

test('a process that is stopped', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const { merchant } = shop
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
      // A new process is slow at first. The second round is what this machine needs for them.
      await send(url, agent, body(0))
      await checkOut()
      const warm = performance.now()
      await checkOut()
      const usualMs = performance.now() - warm
      const answers = checkOut()
      await sleep(20)
      const began = performance.now()
      serving.kill('SIGTERM')
      assert.deepEqual(new Set(await answers), new Set([201]))
      const { code } = await serving.exit
      assert.equal(code, 0)
      assert.ok(performance.now() - began < STOP_MS + 3 * usualMs)
      assert.doesNotMatch(serving.output(), /"level":[56]0/)
    })
  }

  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const isLinux = process.platform === 'linux'
    await t.test(
      `ends with the process that drew its PDF by ${signal}`,
      { skip: !isLinux },
      async (t) => {
        const placed = await checkout(app, shop, cart(variant_id))
        assert.equal(placed.status, 201, placed.text)
        const serving = await startProcess(t, { env })
        const { url } = await serving.ready()
        const key = await app.key('acme', 'read:own_orders')
        const path = `/v1/merchant/orders/${placed.body.order.id}/invoice.pdf`
        const headers = { authorization: `Bearer ${key}` }
        assert.equal((await fetch(url + path, { headers })).status, 200)
        const drawing = async () =>
          (await listGroup(serving.child.pid)).filter((each) => each.includes('pdf-process')).length
        assert.equal(await drawing(), 1)
        serving.kill(signal)
        await serving.exit
        await eventually(async () => assert.equal(await drawing(), 0))
      },
    )
  }
})

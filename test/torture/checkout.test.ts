import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { OPERATOR_TOKEN, STOREFRONT_TOKEN } from '../harness/app.ts'
import { startProcess } from '../harness/process.ts'
import {
  APPROVED,
  addVariant,
  enable,
  giveCredit,
  issueGiftCard,
  openCheckoutApp,
  openShop,
  stock,
} from '../modules/checkout/setup.ts'

const KILLS = Number(process.env.KILLS ?? 200)
const SHOPPERS = 12

test(`a serving process is killed ${KILLS} times under load, and no cent is lost or charged twice`, async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const { merchant } = shop
  await enable(merchant, 'gift_cards', 'store_credit')
  await giveCredit(merchant, 'rich', 50_000_000)
  const { code } = await issueGiftCard(merchant, 50_000_000)
  const counted = await addVariant(merchant, 1_900)
  await stock(merchant, counted, 1_000_000)
  const bodies = [
    { apply_store_credit: true },
    { gift_card_code: code },
    {},
    {
      apply_store_credit: true,
      gift_card_code: code,
      items: [{ variant_id: counted, quantity: 3 }],
    },
  ]
  const env = {
    NODE_ENV: 'test',
    DATABASE_URL: app.database.url,
    SECRET_KEY: app.database.secretKey,
    OPERATOR_TOKEN,
    STOREFRONT_TOKEN,
    CHECKOUT_VELOCITY_PER_MINUTE: '1000000',
  }
  const sent = new Map<string, object>()
  for (let kill = 0; kill < KILLS; kill++) {
    const child = await startProcess(t, { role: 'api', env })
    const { url } = await child.ready()
    let over = false
    const shopper = async (who: number) => {
      while (!over) {
        const key = randomUUID()
        const customer_ref = who % 2 ? 'rich' : `shopper-${who}`
        const items = [{ variant_id: counted, quantity: 1 }]
        const body = { customer_ref, items, card: APPROVED, ...bodies[randomInt(bodies.length)] }
        sent.set(key, body)
        await send(url, key, body).catch(() => {})
      }
    }
    const shoppers = Array.from({ length: SHOPPERS }, (_, who) => shopper(who))
    await pause(randomInt(30, 600))
    child.kill('SIGKILL')
    over = true
    await child.exit
    await Promise.all(shoppers)
  }
  // More than ten seconds later another process resumes everything.
  app.clock.advance(60_000)
  await app.expireClaims()
  while ((await app.reconcile()) > 0) await app.expireClaims()
  app.clock.reset()
  await app.assertAddsUp()
  const { rows } = await app.superuser.query(
    `select count(*) filter (where status = 'placed')::int as placed,
            count(*) filter (where status = 'payment_failed')::int as failed, count(*)::int as orders
       from orders`,
  )
  t.diagnostic(`${sent.size} checkouts, ${JSON.stringify(rows[0])}`)
  assert.ok(rows[0].placed > 0)
  assert.equal(rows[0].placed + rows[0].failed, rows[0].orders)
  for (const [key, body] of [...sent].slice(-50)) {
    const answer = await send(app.url, key, body)
    assert.ok([201, 402].includes(answer.status), await answer.text())
  }
  await app.assertAddsUp()
})

const send = (url: string, key: string, body: object) =>
  fetch(`${url}/v1/tenants/acme/checkout`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-storefront-token': STOREFRONT_TOKEN,
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
  })

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { addVariant, cart, checkout, openCheckoutApp, openShop, preview, stock } from './setup.ts'

/**
 * Statements that are not counted: the limiter has its own connections, the simulated gateway
 * stands for an external service, no request trips for the loops to wake, and calls are written down together later.
 */
const NOT_OURS = /limit_counters|\bsim_|pg_notify|fd_add_api_calls/

/** What the driver gets: one statement, or several that are sent together. */
interface Sent {
  text?: string
  statements?: readonly { text: string }[]
  callback?: (...answer: unknown[]) => void
}

/**
 * Counts the round trips to the database. A statement that is sent while another of the same
 * connection is in flight travels with it, and both are one round trip.
 */
function countRoundTrips(t: TestContext) {
  const trips: string[] = []
  const open = new WeakMap<object, { texts: string[]; left: number }>()
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...args: unknown[]) {
    const sent = args[0] as Sent
    const trip = open.get(this) ?? { texts: [], left: 0 }
    open.set(this, trip)
    trip.texts.push(...(sent.statements?.map(({ text }) => text) ?? [sent.text ?? String(sent)]))
    trip.left++
    const end = () => {
      if (--trip.left > 0) return
      open.delete(this)
      if (trip.texts.some((each) => NOT_OURS.test(each))) return
      trips.push(trip.texts.map((each) => each.trim().slice(0, 40)).join(' | '))
    }
    const result = query.apply(this, args)
    if (result instanceof Promise) result.then(end, end)
    else {
      const { callback } = sent
      sent.callback = (...answer) => {
        end()
        callback?.(...answer)
      }
    }
    return result
  })
  return async (work: () => Promise<unknown>) => {
    trips.length = 0
    await work()
    return [...trips]
  }
}

test('a checkout makes a fixed number of round trips to the database', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const counted = await addVariant(shop.merchant, 700)
  await stock(shop.merchant, counted, 1_000)
  const buy = (variant: string | undefined) => async () => {
    const answer = await checkout(app, shop, cart(variant))
    assert.equal(answer.status, 201, answer.text)
  }
  const look = async () => {
    const answer = await preview(app, shop, { customer_ref: 'ann', items: cart(counted).items })
    assert.equal(answer.status, 200, answer.text)
  }
  // Before the count: connections are opened, and the site's options are cached.
  for (let n = 0; n < 2; n++) for (const each of [buy(counted), look]) await each()
  const waitsOf = countRoundTrips(t)
  const trips = {
    card: await waitsOf(buy(shop.variants[1_000])),
    counted: await waitsOf(buy(counted)),
    preview: await waitsOf(look),
  }
  for (const [what, list] of Object.entries(trips)) t.diagnostic(`${what}: ${list.length} trips`)
  assert.ok(trips.card.length > 3, 'they are counted')
  assert.ok(trips.card.length <= 10, trips.card.join('\n'))
  assert.ok(trips.counted.length <= 10, trips.counted.join('\n'))
  assert.ok(trips.preview.length > 0 && trips.preview.length <= 3, trips.preview.join('\n'))
})

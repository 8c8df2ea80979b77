import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc, { type GeneratorValue } from 'fast-check'
import type { Answer } from '../../harness/app.ts'
import { compareBooks, runWorker } from '../../harness/books.ts'
import { until } from '../../harness/eventually.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { openWitness } from '../../harness/witness.ts'
import { AFFILIATES } from '../affiliates/setup.ts'
import { giveBalances, keyed, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, receipt } from '../returns/setup.ts'
import { type Exchanges, exchangesOf, settlement } from './exchange-setup.ts'
import { ALL_OPTIONS, enable } from './setup.ts'

/**
 * Exchanges of exchanges, paid by cards, gift cards, store credit with a date and coupons, and sent by affiliates.
 * Their orders are disputed, refunded, recalled, cancelled and received in any order, some of it at once. Whatever
 * happens, the store gives no money twice.
 */

const shared = shareOrderStore()
let store: OrderStore
let exchanges: Exchanges

/** A short run; `npm run torture` has the long one. */
const RUNS = process.env.LONG === '1' ? 150 : 10

/** Answers that a step may have: it was done, or refused for a reason of its own. */
const EXPECTED = [200, 201, 400, 402, 409, 422]

interface Made {
  id: string
  lines: { id: string }[]
}

interface Scene {
  chance: GeneratorValue
  variants: string[]
  /** All orders of the chain that was begun, the first one first. */
  orders: string[]
  returns: Made[]
  /** The orders with an open dispute. */
  disputed: string[]
  done: Map<string, number>
}

const pick = <T>({ chance }: Scene, values: readonly T[]): T => chance(fc.constantFrom, ...values)

const dispute = (id: string, outcome: string, amount_cents?: number) =>
  store.app.operator.post(`/v1/stores/acme/orders/${id}/dispute`, { outcome, amount_cents })

const lateOf = (scene: Scene): string => pick(scene, [...scene.orders, scene.orders.at(-1) ?? ''])

const STEPS: Record<string, (scene: Scene) => Promise<Answer | null>> = {
  async return(scene) {
    const id = lateOf(scene)
    await store.merchant(id, 'fulfillments')
    const { fulfillments, items } = await store.read(id)
    for (const each of fulfillments.filter((one: { status: string }) => one.status === 'pending'))
      await store.shop.merchant.post(`/v1/merchant/fulfillments/${each.id}/ship`)
    const lines = [{ order_item_id: items[0].id, quantity: pick(scene, [1, 1, 2]) }]
    const answer = await exchanges.create(id, lines)
    if (answer.status === 201) scene.returns.push(answer.body.return)
    return answer
  },
  async exchange(scene) {
    const made = scene.returns.at(-1)
    if (made === undefined) return null
    const answer = await exchanges.exchange(made.id, {
      items: [{ variant_id: pick(scene, scene.variants), quantity: pick(scene, [1, 1, 2]) }],
      advance: true,
    })
    if (answer.status === 201) scene.orders.push(answer.body.order.id)
    return answer
  },
  pay: (scene) => exchanges.pay(lateOf(scene)),
  /** Corrects an order that has not shipped: its shipping and its tax as another address would have them. */
  correct(scene) {
    const flat_rate_cents = pick(scene, [0, 101, 499])
    const body = {
      name: `Name ${flat_rate_cents}`,
      shipping: { mode: 'flat', flat_rate_cents, expedited_rate_cents: 900, max_cents: 900 },
      tax: { provider: 'flat_rate', rate_bps: pick(scene, [0, 333, 777, 1_900]) },
    }
    return store.shop.merchant.send('PATCH', `/v1/merchant/orders/${lateOf(scene)}`, body, keyed())
  },
  withdraw: (scene) => exchanges.withdraw(lateOf(scene)),
  /** Takes a parcel back, so that its order can be cancelled. */
  async recall(scene) {
    const { fulfillments } = await store.read(pick(scene, scene.orders))
    const shipped = fulfillments.find((each: { status: string }) => each.status === 'shipped')
    if (shipped === undefined) return null
    const path = `/v1/merchant/fulfillments/${shipped.id}/cancel`
    return store.shop.merchant.post(path, { reason: 'returned_to_sender' })
  },
  async close(scene) {
    return scene.returns.length === 0 ? null : exchanges.act(pick(scene, scene.returns).id, 'close')
  },
  /** Declines a commission of any order: it does not come back by an exchange. */
  async decline(scene) {
    const order_id = pick(scene, scene.orders)
    const { merchant } = store.shop
    const path = `${AFFILIATES}/commissions`
    const { commissions } = ok(await merchant.get(`${path}?order_id=${order_id}`))
    const [first] = commissions.filter((each: { type: string }) => each.type === 'sale')
    return first === undefined ? null : merchant.post(`${path}/${first.id}/decline`, {})
  },
  cancel: (scene) => store.merchant(lateOf(scene), 'cancel', { reason: 'customer' }),
  refund: (scene) =>
    store.merchant(pick(scene, scene.orders), 'refunds', {
      ...pick(scene, [{}, { amount_cents: 1 }, { amount_cents: 250 }, { amount_cents: 900 }]),
      method: pick(scene, ['original', 'original', 'store_credit']),
    }),
  async receive(scene) {
    if (scene.returns.length === 0) return null
    const made = pick(scene, scene.returns)
    const refund = { method: pick(scene, ['original', 'store_credit', 'later']) }
    return exchanges.receive(made.id, receipt(made, 1, { refund }))
  },
  async settle(scene) {
    if (scene.returns.length === 0) return null
    return exchanges.receive(pick(scene, scene.returns).id, settlement('original'))
  },
  async open(scene) {
    const id = pick(scene, scene.orders)
    const answer = await dispute(id, 'opened')
    if (answer.status === 200) scene.disputed.push(id)
    return answer
  },
  /** Ends a dispute. A refund of what the bank may have taken follows at once. */
  async end(scene) {
    const id = scene.disputed.pop() ?? pick(scene, scene.orders)
    const outcome = pick(scene, ['won', 'lost', 'lost', 'lost'])
    const ended = await dispute(id, outcome, pick(scene, [undefined, undefined, 1, 700, 3_000]))
    if (ended.status === 409) scene.disputed.push(id)
    await store.merchant(lateOf(scene), 'refunds')
    return ended
  },
}

/** The steps to choose from. Those that make the others possible are in it more often. */
const OFTEN = [
  'return',
  'exchange',
  'correct',
  'correct',
  'pay',
  'refund',
  'refund',
  'open',
  'end',
  'end',
  ...Object.keys(STEPS),
]

async function take(scene: Scene, name = pick(scene, OFTEN)): Promise<void> {
  const answer = await (STEPS[name] as (of: Scene) => Promise<Answer | null>)(scene)
  if (answer === null) return
  assert.ok(EXPECTED.includes(answer.status), `${name}: ${answer.text}`)
  if (answer.status < 300) scene.done.set(name, (scene.done.get(name) ?? 0) + 1)
}

const TENDERS = ['card', 'gift card', 'credit'] as const

/** Affiliates by their codes. An order of an exchange earns by the terms of the first one. */
const REFERRALS = {
  FIXED: { commission_type: 'fixed', amount_cents: 333 },
  PART: { commission_type: 'percent', rate_bps: 1_250 },
}

/** Prices of the store have the tax inside, or not. An order keeps what it was bought by, also behind an exchange. */
async function setTaxInside(prices_include_tax: boolean): Promise<void> {
  const manifest = { ...ALL_OPTIONS, tax: { prices_include_tax } }
  ok(await store.shop.merchant.put('/v1/my/store/manifest', { manifest }))
}

/** What pays for the first order beside the card. */
async function tendersOf(scene: Scene): Promise<object> {
  const tender = pick(scene, TENDERS)
  const coupon = pick(scene, [{}, { coupon_code: 'CHAIN' }])
  if (tender === 'card') return coupon
  const isCredit = tender === 'credit'
  const date = pick(scene, [null, '2031-05-01T00:00:00.000Z'])
  const { code } = await giveBalances(store, isCredit ? 700 : 0, 600, date)
  return { ...coupon, ...(isCredit ? { apply_store_credit: true } : { gift_card_code: code }) }
}

describe('exchange chains at random', () => {
  before(async () => {
    store = shared.current
    exchanges = exchangesOf(store)
    await openWitness(store.superuser)
    const terms = { code: 'CHAIN', type: 'percent', percent_bps: 1_111 }
    ok(await store.shop.merchant.post('/v1/merchant/marketing/coupons', terms), 201)
    await enable(store.shop.merchant, 'affiliates')
    for (const [code, paid] of Object.entries(REFERRALS)) {
      const person = { name: 'Fay Friend', email: `${code}@affiliate.example`, code }
      ok(await store.shop.merchant.post(AFFILIATES, { ...person, ...paid }), 201)
    }
  })

  test('give no money twice, whichever order is disputed, and leave all books in agreement', async () => {
    const done = new Map<string, number>()
    const variants = await Promise.all([1_300, 400, 1_000].map((p) => exchanges.tracked(500, p)))
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (chance) => {
        const scene: Scene = { chance, variants, orders: [], returns: [], disputed: [], done }
        await setTaxInside(chance(fc.boolean))
        const tax = { tax: { provider: 'flat_rate', rate_bps: 777 } }
        const items = [{ variant_id: store.shop.variants[1_000], quantity: 3 }]
        const referral_code = pick(scene, [undefined, ...Object.keys(REFERRALS)])
        const sold = { items, ...tax, ...(await tendersOf(scene)), referral_code }
        const { order } = await store.place(sold)
        scene.orders.push(order.id)
        for (const name of ['return', 'exchange']) await take(scene, name)
        await setTaxInside(chance(fc.boolean))
        for (let step = 0; step < 12; step++) {
          const isBoth = chance(fc.boolean)
          await Promise.all(isBoth ? [take(scene), take(scene)] : [take(scene)])
        }
        for (const id of scene.orders) await dispute(id, 'won')
        await store.check()
      }),
      { numRuns: RUNS, endOnFailure: true },
    )
    for (const name of ['exchange', 'correct', 'receive', 'open', 'end', 'refund', 'decline']) {
      assert.ok((done.get(name) ?? 0) > 0, `${name} was never done`)
    }
    await runWorker(store.app)
    assert.deepEqual(await compareBooks(store.superuser), [])
  })
})

describe('the locks of an exchange chain', () => {
  before(() => {
    store = shared.current
    exchanges = exchangesOf(store)
  })

  /** Runs an operation while its first order is locked elsewhere, and tells whether the later one is free meanwhile. */
  async function isLaterFree(
    t: Parameters<typeof openSuperuser>[0],
    { first, later }: { first: string; later: string },
    work: () => Promise<Answer>,
  ): Promise<boolean> {
    const other = await openSuperuser(t, store.app.database)
    await other.query('begin')
    await other.query('select from orders where id = $1 for update', [first])
    const working = work()
    await until('the operation waits for the first order', async () => {
      const { rows } = await store.superuser.query(
        `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length === 1
    })
    const { rows } = await other.query(
      'select id from orders where id = $1 for update skip locked',
      [later],
    )
    await other.query('commit')
    ok(await working)
    return rows.length === 1
  }

  test('are taken from the first order on, so that two operations never wait for each other', async (t) => {
    const paid = await exchanges.asked()
    const of = (each: typeof paid) => ({ first: each.order.order.id, later: each.exchanged.id })
    assert.ok(await isLaterFree(t, of(paid), () => exchanges.pay(paid.exchanged.id)), 'pay')
    const disputed = () => dispute(paid.order.order.id, 'opened')
    assert.ok(await isLaterFree(t, of(paid), disputed), 'a dispute')
    ok(await dispute(paid.order.order.id, 'won'))
    const cancel = () => store.merchant(paid.exchanged.id, 'cancel', { reason: 'customer' })
    assert.ok(await isLaterFree(t, of(paid), cancel), 'a cancellation')
    const waiting = await exchanges.asked()
    const withdraw = () => exchanges.withdraw(waiting.exchanged.id)
    assert.ok(await isLaterFree(t, of(waiting), withdraw), 'a withdrawal')
    await store.check()
  })
})

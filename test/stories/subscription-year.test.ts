import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFiguresAddUp } from '../harness/analytics-oracles.ts'
import { assertBooks } from '../harness/books.ts'
import { readMail } from '../harness/mime.ts'
import { openWitness } from '../harness/witness.ts'
import { countAll } from '../modules/analytics/setup.ts'
import { addVariant, checkout, enable, type Shop, stock } from '../modules/checkout/setup.ts'
import { CARDS } from '../modules/renewals/setup.ts'
import { BASE, datesOf, ok } from '../modules/subscriptions/setup.ts'
import {
  type ClockApp,
  type ClockRun,
  openClockApp,
  shopperNamed,
} from '../modules/test-clock/setup.ts'
import { TERMS } from './story.ts'

/**
 * A year of one monthly subscription that begins on 31 January in Berlin. Coffee costs 10.00, beans 15.00; shipping is
 * 4.99, and goods are taxed at 7 %.
 *
 *  31 Jan  Ann subscribes to coffee.
 *  10 Mar  Her new card declines twice: in month 3 the third attempt is paid.
 *  10 Apr  Her next card is stolen: in month 4 its bank says "never again". She is mailed a link and puts in another.
 *  10 Jun  Beans instead of coffee.
 *  10 Jul  The bank of her next card says "again in some days": in month 7 the second attempt waits for three.
 *   5 Aug  She skips 31 August.
 *  15 Sep  She pauses until 15 November: 30 September and 31 October have no cycle.
 *   1 Feb  She cancels.
 */

const ZONE = 'Europe/Berlin'
const ANN = shopperNamed('ann')

/** The next year, or the one after it: its February has 28 days. */
const YEAR = [1, 2]
  .map((years) => new Date().getUTCFullYear() + years)
  .find((year) => year % 4 !== 0) as number

const PAID = 'paid'
const FAILED = 'failed'

/** Every order. A charge falls at 06:00; a further attempt in a morning, at a minute of the subscription's own. */
const ORDERS = [
  // when, cycle, goods, subtotal, shipping, tax, total, payment
  ['01-31 12:00', 1, 'Coffee', 1_000, 499, 70, 1_569, PAID],
  ['02-28 06:00', 2, 'Coffee', 1_000, 499, 70, 1_569, PAID],
  ['03-31 06:00', 3, 'Coffee', 1_000, 499, 70, 1_569, FAILED],
  ['04-01 morning', 3, 'Coffee', 1_000, 499, 70, 1_569, FAILED],
  ['04-04 morning', 3, 'Coffee', 1_000, 499, 70, 1_569, PAID],
  ['04-30 06:00', 4, 'Coffee', 1_000, 499, 70, 1_569, FAILED],
  ['05-03 morning', 4, 'Coffee', 1_000, 499, 70, 1_569, PAID],
  ['05-31 06:00', 5, 'Coffee', 1_000, 499, 70, 1_569, PAID],
  ['06-30 06:00', 6, 'Beans', 1_500, 499, 105, 2_104, PAID],
  ['07-31 06:00', 7, 'Beans', 1_500, 499, 105, 2_104, FAILED],
  ['08-03 morning', 7, 'Beans', 1_500, 499, 105, 2_104, PAID],
  ['11-30 06:00', 9, 'Beans', 1_500, 499, 105, 2_104, PAID],
  ['12-31 06:00', 10, 'Beans', 1_500, 499, 105, 2_104, PAID],
  ['+01-31 06:00', 11, 'Beans', 1_500, 499, 105, 2_104, PAID],
]

/** The outcome of each cycle, and how often it was charged. */
const CYCLES = [
  '1 paid 0',
  '2 paid 1',
  '3 paid 3',
  '4 paid 2',
  '5 paid 1',
  '6 paid 1',
  '7 paid 2',
  '8 skipped 0',
  '9 paid 1',
  '10 paid 1',
  '11 paid 1',
]

/** Every charge at the gateway: the day, the card, the amount, the gateway's code, and the captured amount. */
const CHARGES = [
  ['01-31', '1111', 1_569, '100', 1_569],
  ['02-28', '1111', 1_569, '100', 1_569],
  ['03-31', '2685', 1_569, '200', 0],
  ['04-01', '2685', 1_569, '200', 0],
  ['04-04', '2685', 1_569, '100', 1_569],
  ['04-30', '0911', 1_569, '250', 0],
  ['05-03', '1111', 1_569, '100', 1_569],
  ['05-31', '1111', 1_569, '100', 1_569],
  ['06-30', '1111', 2_104, '100', 2_104],
  ['07-31', '2644', 2_104, '264', 0],
  ['08-03', '2644', 2_104, '100', 2_104],
  ['11-30', '2644', 2_104, '100', 2_104],
  ['12-31', '2644', 2_104, '100', 2_104],
  ['+01-31', '2644', 2_104, '100', 2_104],
]

/** Every mail. The notice comes three days before a charge, and the receipt with it. */
const MAILS = [
  '01-31 order_placed',
  '02-25 subscription_upcoming',
  '02-28 order_placed',
  '03-28 subscription_upcoming',
  '03-31 subscription_payment_failed',
  '04-04 order_placed',
  '04-04 subscription_recovered',
  '04-27 subscription_upcoming',
  '04-30 subscription_payment_failed',
  '05-03 order_placed',
  '05-03 subscription_recovered',
  '05-28 subscription_upcoming',
  '05-31 order_placed',
  '06-27 subscription_upcoming',
  '06-30 order_placed',
  '07-28 subscription_upcoming',
  '07-31 subscription_payment_failed',
  '08-03 order_placed',
  '08-03 subscription_recovered',
  '11-27 subscription_upcoming',
  '11-30 order_placed',
  '12-28 subscription_upcoming',
  '12-31 order_placed',
  '+01-28 subscription_upcoming',
  '+01-31 order_placed',
  '+02-01 subscription_cancelled',
]

/** The amounts that the notices announce, from February on. */
const ANNOUNCED = ['15.69', '15.69', '15.69', '15.69', '21.04', '21.04', '21.04', '21.04', '21.04']

/** The feed of the store, in its order. */
const EVENTS = [
  '01-31 order.placed',
  '02-25 subscription.upcoming',
  '02-28 order.placed',
  '02-28 subscription.renewed',
  '03-10 subscription.updated',
  '03-28 subscription.upcoming',
  '03-31 subscription.payment_failed',
  '03-31 subscription.past_due',
  '04-01 subscription.payment_failed',
  '04-04 order.placed',
  '04-04 subscription.renewed',
  '04-04 subscription.recovered',
  '04-10 subscription.updated',
  '04-27 subscription.upcoming',
  '04-30 subscription.payment_failed',
  '04-30 subscription.past_due',
  '05-03 subscription.updated',
  '05-03 order.placed',
  '05-03 subscription.renewed',
  '05-03 subscription.recovered',
  '05-28 subscription.upcoming',
  '05-31 order.placed',
  '05-31 subscription.renewed',
  '06-10 subscription.updated',
  '06-27 subscription.upcoming',
  '06-30 order.placed',
  '06-30 subscription.renewed',
  '07-10 subscription.updated',
  '07-28 subscription.upcoming',
  '07-31 subscription.payment_failed',
  '07-31 subscription.past_due',
  '08-03 order.placed',
  '08-03 subscription.renewed',
  '08-03 subscription.recovered',
  '08-05 subscription.updated',
  '09-15 subscription.paused',
  '11-15 subscription.resumed',
  '11-27 subscription.upcoming',
  '11-30 order.placed',
  '11-30 subscription.renewed',
  '12-28 subscription.upcoming',
  '12-31 order.placed',
  '12-31 subscription.renewed',
  '+01-28 subscription.upcoming',
  '+01-31 order.placed',
  '+01-31 subscription.renewed',
  '+02-01 subscription.cancelled',
]

/** Five paid orders of coffee and five of beans. */
const LEDGER = {
  card_clearing: 5 * 1_569 + 5 * 2_104,
  sales: -(5 * 1_000 + 5 * 1_500),
  shipping_income: -(10 * 499),
  tax_payable: -(5 * 70 + 5 * 105),
}

const local = new Intl.DateTimeFormat('sv-SE', {
  timeZone: ZONE,
  dateStyle: 'short',
  timeStyle: 'short',
})

/** A moment by the clocks of Berlin, as `03-31 06:00`; a plus is the year after. */
function when(at: string | Date): string {
  const [year, rest] = local.format(new Date(at)).split(/-(.*)/)
  assert.ok(Number(year) === YEAR || Number(year) === YEAR + 1, `${at}`)
  return `${Number(year) === YEAR ? '' : '+'}${rest}`
}

const day = (at: string | Date) => when(at).split(' ')[0]

/** The time of an order: a further attempt comes from 06:00 to 10:00, or at once with another card. */
function orderTime(placed: string | Date, attempt: number): string {
  const shown = when(placed)
  if (attempt === 0) return shown
  const [date, time = ''] = shown.split(' ')
  assert.ok(time >= '06:00' && time < '10:00', shown)
  return `${date} morning`
}

/** What Ann and the merchant do, and the moves of the clock between. */
class Year {
  readonly app: ClockApp
  readonly shop: Shop
  readonly ran: ClockRun[] = []
  readonly goods: { coffee: string; beans: string }
  id = ''

  constructor(app: ClockApp, shop: Shop, goods: Year['goods']) {
    this.app = app
    this.shop = shop
    this.goods = goods
  }

  /** Moves the store's time to a date of the year, as `03-10T09:00` in UTC. */
  async reaches(date: string, year = YEAR): Promise<void> {
    this.ran.push(...(await this.app.advance(this.shop.merchant, { set: `${year}-${date}:00Z` })))
  }

  /** Moves to 31 January, at noon in Berlin. That may be more than two years away, the most that one move can go. */
  async begins(): Promise<void> {
    await this.app.advance(this.shop.merchant, { advance: 'P30D' })
    await this.reaches('01-31T11:00')
  }

  async subscribes(more: object = {}): Promise<void> {
    const { order, subscriptions } = ok(
      await checkout(this.app, this.shop, {
        ...TERMS,
        email: ANN,
        customer_ref: 'ann',
        items: [{ variant_id: this.goods.coffee, quantity: 1 }],
        tax: { provider: 'flat_rate', rate_bps: 700 },
        card: CARDS.approved,
        subscribe: true,
        ...more,
      }),
      201,
    )
    assert.equal(order.total_cents, 1_569)
    this.id = subscriptions[0].id
  }

  /** Ann acts on her subscription, as the storefront lets her. */
  async shopper(method: string, verb: string, body: object) {
    const path = `/v1/tenants/${this.shop.tenant}/subscriptions/${this.id}${verb}?customer_ref=ann`
    return ok(await this.app.storefront.send(method, path, body)).subscription
  }

  putsInCard(card: object) {
    return this.shopper('POST', '/payment-method', { card })
  }

  /** Opens the link of the newest mail about a failed payment. */
  async opensLink(): Promise<void> {
    const text = this.app.mails
      .map(readMail)
      .findLast(({ subject }) => subject.startsWith('We could not charge'))?.text
    const token = /\/subscriptions\/link\/([\w.-]+)/.exec(text ?? '')?.[1]
    const url = `/v1/tenants/${this.shop.tenant}/subscriptions/links/open`
    const opened = ok(await this.app.storefront.post(url, { token }))
    assert.deepEqual([opened.subscription_id, opened.customer_ref], [this.id, 'ann'])
  }

  async status(): Promise<string> {
    return ok(await this.shop.merchant.get(`${BASE}/${this.id}`)).subscription.status
  }
}

async function live(year: Year): Promise<void> {
  await year.begins()
  await year.subscribes()
  await year.reaches('03-10T09:00')
  await year.putsInCard(CARDS.twiceDeclined)
  await year.reaches('04-02T12:00')
  assert.equal(await year.status(), 'past_due')
  await year.reaches('04-10T09:00')
  assert.equal(await year.status(), 'active')
  await year.putsInCard(CARDS.hardDeclined)
  // Half past seven in Berlin.
  await year.reaches('05-03T05:30')
  assert.equal(await year.status(), 'past_due')
  await year.opensLink()
  await year.putsInCard(CARDS.approved)
  await year.reaches('06-10T09:00')
  const swapped = await year.shopper('PATCH', '', { variant_id: year.goods.beans })
  assert.equal(swapped.next_charges[0].amount_cents, 2_104)
  await year.reaches('07-10T09:00')
  await year.putsInCard(CARDS.wait)
  await year.reaches('08-05T09:00')
  const skipped = await year.shopper('POST', '/skip', { cycle: 8 })
  assert.deepEqual(datesOf(skipped), [`${YEAR}-09-30`, `${YEAR}-10-31`, `${YEAR}-11-30`])
  await year.reaches('09-15T09:00')
  const paused = await year.shopper('POST', '/pause', { until: `${YEAR}-11-15` })
  const after = [`${YEAR}-11-30`, `${YEAR}-12-31`, `${YEAR + 1}-01-31`]
  assert.deepEqual(datesOf(paused), after, 'the skip of August is over')
  await year.reaches('11-20T09:00')
  const { subscription } = ok(await year.shop.merchant.get(`${BASE}/${year.id}`))
  assert.deepEqual([subscription.status, datesOf(subscription)], ['active', after])
  await year.reaches('02-01T09:00', YEAR + 1)
  assert.equal((await year.shopper('POST', '/cancel', {})).status, 'cancelled')
  await year.reaches('03-15T09:00', YEAR + 1)
}

async function assertOrders({ app, shop, id, goods }: Year): Promise<void> {
  const { rows } = await app.superuser.query(
    `select o.created_at, coalesce(o.subscription_cycle, 1) as cycle, i.variant_id, o.subtotal_cents::int,
            o.shipping_cents::int, o.tax_cents::int, o.total_cents::int, o.payment,
            coalesce(split_part(o.idempotency_key, ':', 4), '') as attempt
       from orders o join order_items i on i.tenant_ref = o.tenant_ref and i.order_id = o.id
      where o.tenant_ref = $1 order by o.order_number`,
    [shop.tenant],
  )
  assert.deepEqual(
    rows.map((row) => [
      orderTime(row.created_at, Number(row.attempt)),
      row.cycle,
      row.variant_id === goods.coffee ? 'Coffee' : 'Beans',
      row.subtotal_cents,
      row.shipping_cents,
      row.tax_cents,
      row.total_cents,
      row.payment === 'failed' ? FAILED : PAID,
    ]),
    ORDERS,
  )
  const { cycles } = ok(await shop.merchant.get(`${BASE}/${id}/cycles?limit=100`))
  assert.deepEqual(
    cycles
      .map((each: Record<string, unknown>) => `${each.cycle} ${each.state} ${each.attempt_count}`)
      .toReversed(),
    CYCLES,
  )
}

async function assertCharges({ app, shop }: Year): Promise<void> {
  const { rows } = await app.superuser.query(
    `select created_at, card ->> 'last4' as last4, amount_cents::int, code, captured_cents::int
       from sim_charges where tenant_ref = $1 order by created_at`,
    [shop.tenant],
  )
  assert.deepEqual(
    rows.map((row) => [
      day(row.created_at),
      row.last4,
      row.amount_cents,
      row.code,
      row.captured_cents,
    ]),
    CHARGES,
  )
}

async function assertTold({ app, shop, ran }: Year): Promise<void> {
  const mailed = ran
    .filter(({ kind }) => kind === 'mail')
    .map(({ at, outcome }) => `${day(at)} ${outcome}`)
  // Mails of one moment are sent at once, in no order.
  assert.deepEqual(mailed.toSorted(), MAILS.map((mail) => `${mail} sent`).toSorted())
  const received = app.mails.map(readMail)
  assert.deepEqual(
    received.map(({ to }) => to.join()),
    MAILS.map(() => ANN),
  )
  const notices = received.filter(({ subject }) => subject.startsWith('Your next delivery'))
  assert.deepEqual(
    notices.map(({ text }) => /We then charge \$([\d.]+\d)/.exec(text)?.[1]),
    ANNOUNCED,
  )
  const { events } = ok(await shop.merchant.get('/v1/merchant/events?after=0&limit=500'))
  assert.deepEqual(
    events.map(
      ({ type, created_at }: { type: string; created_at: string }) =>
        `${day(created_at)} ${type.replace('commerce.', '').replace('.v1', '')}`,
    ),
    EVENTS,
  )
}

async function assertLedger({ app, shop }: Year): Promise<void> {
  const { rows } = await app.superuser.query(
    `select account, sum(amount_cents)::int as cents from ledger_entries
      where tenant_ref = $1 group by account having sum(amount_cents) <> 0 order by account`,
    [shop.tenant],
  )
  assert.deepEqual(Object.fromEntries(rows.map(({ account, cents }) => [account, cents])), LEDGER)
}

/** A store in Berlin that sells coffee and beans by subscription, of which it has twenty each. */
async function openCoffeeShop(app: ClockApp, tenant: string): Promise<Year> {
  const shop = await app.openSandbox(tenant)
  const { merchant } = shop
  await enable(merchant, 'subscriptions')
  ok(await merchant.patch('/v1/my/store', { time_zone: ZONE }))
  ok(await merchant.put(`${BASE}/settings`, { pre_renewal_notice_days: 3 }))
  const terms = { is_subscription: true, subscription_interval: 'month' }
  const goods = {
    coffee: await addVariant(merchant, 1_000, { ...terms, name: 'Coffee' }),
    beans: await addVariant(merchant, 1_500, { ...terms, name: 'Beans' }),
  }
  for (const variant of Object.values(goods)) await stock(merchant, variant, 20)
  return new Year(app, shop, goods)
}

test('a year of a subscription from 31 January has exactly these orders, charges, mails, events and sums', async (t) => {
  const app = await openClockApp(t, { env: { SHOPPER_MAILS_PER_MINUTE: '1000' } })
  await openWitness(app.superuser)
  const year = await openCoffeeShop(app, 'year')
  const other = await openCoffeeShop(app, 'other')
  await other.subscribes()
  const untouched = await app.everythingOf('other')

  await live(year)

  assert.equal(await app.everythingOf('other'), untouched, 'no other store sees anything')
  assert.deepEqual(app.alerts, [])
  await assertOrders(year)
  await assertCharges(year)
  await assertTold(year)
  await assertLedger(year)
  await assertBooks(app, app.superuser, year.shop.merchant)
  await countAll(app)
  await assertFiguresAddUp(app.superuser)
})

const MONTH_ENDS = [
  ...['03-31', '04-30', '05-31', '06-30', '07-31', '08-31', '09-30', '10-31', '11-30', '12-31'],
  '+01-31',
]

/** The result of one move through the whole year for each card: the days of its charges, and how it ends. */
const CARDS_OF_A_YEAR = {
  approved: { declined: [], paid: ['02-28', ...MONTH_ENDS], status: 'active' },
  twiceDeclined: {
    declined: ['02-28', '03-01'],
    paid: ['03-04', ...MONTH_ENDS],
    status: 'active',
  },
  wait: { declined: ['02-28'], paid: ['03-03', ...MONTH_ENDS], status: 'active' },
  // The ladder: after 1, 3, 5 and 7 days.
  alwaysDeclined: {
    declined: ['02-28', '03-01', '03-04', '03-09', '03-16'],
    paid: [],
    status: 'unpaid_cancelled',
  },
  // The subscription waits for another card as long as the ladder would go on.
  hardDeclined: { declined: ['02-28'], paid: [], status: 'unpaid_cancelled' },
  update: { declined: ['02-28'], paid: [], status: 'unpaid_cancelled' },
  stop: { declined: ['02-28'], paid: [], status: 'cancelled' },
} as const

test('one move through a year charges every card on its own days, and no other', async (t) => {
  const app = await openClockApp(t, { env: { SHOPPER_MAILS_PER_MINUTE: '1000' } })
  await openWitness(app.superuser)
  const year = await openCoffeeShop(app, 'year')
  await stock(year.shop.merchant, year.goods.coffee, 100)
  await year.begins()
  const ids = new Map<string, string>()
  for (const name of Object.keys(CARDS_OF_A_YEAR) as (keyof typeof CARDS_OF_A_YEAR)[]) {
    await year.subscribes({ customer_ref: name, card: CARDS[name] })
    ids.set(name, year.id)
  }
  await year.reaches('02-01T11:00', YEAR + 1)

  const times = year.ran.map(({ at }) => at)
  assert.deepEqual(times, times.toSorted(), 'in the order of time')
  assert.deepEqual(app.alerts, [])
  const found: Record<string, unknown> = {}
  for (const [name, id] of ids) {
    const { rows } = await app.superuser.query(
      `select created_at, payment from orders where subscription_id = $1 order by created_at`,
      [id],
    )
    const days = (isPaid: boolean) =>
      rows
        .filter(({ payment }) => (payment !== 'failed') === isPaid)
        .map((row) => day(row.created_at))
    const { subscription } = ok(await year.shop.merchant.get(`${BASE}/${id}`))
    found[name] = { declined: days(false), paid: days(true), status: subscription.status }
  }
  assert.deepEqual(found, CARDS_OF_A_YEAR)
  await assertBooks(app, app.superuser, year.shop.merchant)
})

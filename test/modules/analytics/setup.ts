import assert from 'node:assert/strict'
import { after, before, type TestContext } from 'node:test'
import type pg from 'pg'
import type { Tx } from '../../../src/db/database.ts'
import * as analytics from '../../../src/modules/analytics/jobs.ts'
import { chainNewJournals } from '../../../src/modules/ledger/jobs.ts'
import { assertFiguresAddUp } from '../../harness/analytics-oracles.ts'
import { type Answer, openTestApp, type TestApp } from '../../harness/app.ts'
import { moveTo } from '../../harness/store-time.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { APPROVED, checkout, openShop, type Shop } from '../checkout/setup.ts'
import { keyed } from '../orders/setup.ts'

export const URL = '/v1/merchant/analytics'

export function ok(answer: Answer, status = 200): Answer['body'] {
  assert.equal(answer.status, status, answer.text)
  return answer.body
}

/** Makes new journals due at once, so that they do not wait for others to be counted with. */
export const countAtOnce = (tx: Tx) => analytics.onNewLinks(tx, 0)

/** Numbers all journals, and counts them. */
export async function countAll({ runtime }: Pick<TestApp, 'runtime'>): Promise<void> {
  const { workerDatabase, operatorDatabase } = runtime
  while ((await chainNewJournals(workerDatabase, { onLinks: countAtOnce })) > 0);
  // A count that ended while journals were numbered has put them off for half a minute.
  for (const { tenant_ref } of await analytics.listCounted(operatorDatabase.allStores)) {
    await workerDatabase.tenant(tenant_ref).transaction('count at once', countAtOnce)
  }
  while ((await analytics.countNumbered(workerDatabase)) > 0);
}

/** Stores whose clocks a test sets. */
export interface TimedApp extends TestApp {
  superuser: pg.Client
  /** Sets the business time of a store. It goes on from there. */
  setTime(tenant: string, at: string): void
  /** A live store in a zone, that sells at 1,000, 2,500 and 333 cents. */
  shopIn(tenant: string, time_zone: string): Promise<Shop>
  /** Places an order and returns the body of the checkout's answer. */
  place(shop: Shop, more?: object): Promise<Answer['body']>
  act(shop: Shop, order_id: string, verb: string, body?: object): Promise<Answer>
  count(): Promise<void>
  check(): Promise<void>
}

export async function openTimedApp(t: TestContext): Promise<TimedApp> {
  const app = await openTestApp(t, {
    env: { CHECKOUT_VELOCITY_PER_MINUTE: '100000' },
  })
  const superuser = await openSuperuser(t, app.database)
  return {
    ...app,
    superuser,
    setTime: (tenant, at) => moveTo(app.runtime, tenant, at),
    async shopIn(tenant, time_zone) {
      const shop = await openShop(app, tenant, [1_000, 2_500, 333])
      ok(await shop.merchant.patch('/v1/my/store', { time_zone }))
      return shop
    },
    async place(shop, more = {}) {
      const items = [{ variant_id: shop.variants[1_000], quantity: 2 }]
      const body = { customer_ref: 'ann', items, card: APPROVED, ...more }
      const answer = await checkout(app, shop, body)
      assert.ok(answer.status < 300, answer.text)
      return answer.body
    },
    act: ({ merchant }, id, verb, body = {}) =>
      merchant.post(`/v1/merchant/orders/${id}/${verb}`, body, keyed()),
    count: () => countAll(app),
    check: () => assertFiguresAddUp(superuser),
  }
}

/** One app for all tests of a file. The oracles check its stores at the end. */
export function shareTimedApp(): { current: TimedApp } {
  const held = {} as { current: TimedApp }
  const ends: (() => unknown)[] = []
  before(async () => {
    const scope = { after: (end: () => unknown) => ends.unshift(end) }
    held.current = await openTimedApp(scope as unknown as TestContext)
  })
  after(async () => {
    try {
      await held.current.count()
      await held.current.check()
    } finally {
      for (const end of ends) await end()
    }
  })
  return held
}

interface Row {
  amount_cents: number
  day: string
}

/** All rows behind a figure, page by page. */
export async function rowsOf(merchant: Shop['merchant'], href: string, limit = 2): Promise<Row[]> {
  const rows: Row[] = []
  let after: string | undefined
  do {
    const more = after === undefined ? '' : `&after=${encodeURIComponent(after)}`
    const page = ok(await merchant.get(`${href}&limit=${limit}${more}`))
    assert.ok(page.rows.length <= limit)
    rows.push(...page.rows)
    after = page.next_after
  } while (after !== undefined)
  return rows
}

export const sumRows = async (
  merchant: Shop['merchant'],
  href: string,
  limit?: number,
): Promise<number> =>
  (await rowsOf(merchant, href, limit)).reduce((sum, { amount_cents }) => sum + amount_cents, 0)

/** Fails unless every figure of an answer is the sum of the rows that it names. */
export async function assertDrilldowns(
  merchant: Shop['merchant'],
  figures: Record<string, { value: number; drilldown: { href: string } }>,
  limit?: number,
): Promise<void> {
  for (const [name, { value, drilldown }] of Object.entries(figures)) {
    assert.equal(await sumRows(merchant, drilldown.href, limit), value, name)
  }
}

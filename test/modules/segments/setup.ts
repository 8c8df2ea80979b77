import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import type { Tx } from '../../../src/db/database.ts'
import { chainNewJournals } from '../../../src/modules/ledger/jobs.ts'
import * as segments from '../../../src/modules/segments/jobs.ts'
import { type Answer, openTestApp, type TestApp } from '../../harness/app.ts'
import { assertPeopleAddUp } from '../../harness/people-oracles.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { cart, checkout, openShop, type Shop } from '../checkout/setup.ts'

export const URL = '/v1/merchant/marketing/segments'

/** An address as orders have it. */
export const shipTo = (country: string, state: string) => ({
  label: 'Home',
  line1: '1 Main Street',
  city: 'Springfield',
  state,
  postal_code: '62701',
  country,
})

export interface SegmentApp extends TestApp {
  superuser: pg.Client
  newShop(tenant: string): Promise<Shop>
  /** Places an order of the variant at 1,000 cents, unless `more` says otherwise. */
  buy(shop: Shop, email: string, more?: object): Promise<Answer['body']['order']>
  /** Numbers all journals, and counts the people behind them. */
  count(): Promise<void>
  /** Returns the people who meet the conditions, in the order of the preview. */
  find(shop: Shop, conditions: unknown, match?: string): Promise<string[]>
  check(): Promise<void>
}

export async function openSegmentApp(t: TestContext): Promise<SegmentApp> {
  const app = await openTestApp(t, { env: { CHECKOUT_VELOCITY_PER_MINUTE: '100000' } })
  const superuser = await openSuperuser(t, app.database)
  const { workerDatabase } = app.runtime
  return {
    ...app,
    superuser,
    newShop: (tenant) => openShop(app, tenant, [1_000, 2_500]),
    async buy(shop, email, more = {}) {
      const customer = { customer_ref: `ref of ${email}`, email }
      const answer = await checkout(app, shop, cart(shop.variants[1_000], { ...customer, ...more }))
      assert.ok(answer.status < 300, answer.text)
      return answer.body.order
    },
    async count() {
      const onLinks = (tx: Tx) => segments.onNewLinks(tx, 0)
      while ((await chainNewJournals(workerDatabase, { onLinks })) > 0);
      // A count that ended while journals were numbered has put them off for half a minute.
      await superuser.query('update segment_positions set due_at = now() where due_at is not null')
      while ((await segments.countPeople(workerDatabase)) > 0);
    },
    async find({ merchant }, conditions, match = 'all') {
      const answer = await merchant.post(`${URL}/preview`, { match, conditions })
      assert.equal(answer.status, 200, answer.text)
      const found = answer.body.sample.map(({ email }: { email: string }) => email)
      assert.equal(answer.body.count, found.length, 'the sample is whole, and is what is counted')
      return found
    },
    check: () => assertPeopleAddUp(superuser),
  }
}

/** The product of a variant. */
export async function productOf({ superuser }: SegmentApp, variant_id: string | undefined) {
  const { rows } = await superuser.query('select product_id from variants where id = $1', [
    variant_id,
  ])
  return rows[0].product_id as string
}

/** The people whom the conditions name, without the part after the @. */
export const names = (emails: readonly string[]) =>
  emails.map((email) => email.toLowerCase().split('@')[0])

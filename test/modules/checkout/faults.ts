import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc, { type GeneratorValue } from 'fast-check'
import { systemClock } from '../../../src/kernel/clock.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import {
  notSent,
  refused,
  unknownResult,
  unreachable,
} from '../../../src/modules/payments/adapters/results.ts'
import type { GatewayResult } from '../../../src/modules/payments/adapters/schema.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import { REFUND_TRANSIT_MS } from '../../../src/modules/payments/schema.ts'
import type { WonClaim } from '../../../src/platform/idempotency.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { cancel, edit, refund } from '../../harness/operations.ts'
import { APPROVED, type CheckoutApp, cart, type GatewayOverride, type Shop } from './setup.ts'

/**
 * Orders at a gateway with random faults: requests never arrive, arrive without an answer, or
 * arrive so late that we have given them up. Once the gateway works again, all money must add up.
 */

const ACTOR = { name: 'merchant_key:test', correlationId: null }

/** Orders under this address are held for review. */
export const REVIEWED_EMAIL = 'review@example.com'

const FAULTS = ['lost', 'unanswered', 'late', 'not sent', 'refused'] as const

/** After this time a gateway without a record of a payment counts as never having got it. */
const LATER_MS = 11_000

interface Scenario {
  app: CheckoutApp
  shop: Shop
  /** The generator of all random choices. */
  chance: GeneratorValue
  /** Requests in transit, which arrive after their sender has given up. */
  inTransit: (() => Promise<unknown>)[]
  /** Refunds in transit. They arrive within the hour that their sender waits, or never. */
  refundsInTransit: (() => Promise<unknown>)[]
}

const happens = ({ chance }: Scenario, percent: number) => chance(fc.nat, { max: 99 }) < percent

function faulty(scenario: Scenario): GatewayOverride {
  const { chance, inTransit, refundsInTransit } = scenario
  const risky =
    <What>(send: (what: What) => Promise<GatewayResult>, late = inTransit) =>
    async (what: What): Promise<GatewayResult> => {
      const fault = happens(scenario, 50) ? chance(fc.constantFrom, ...FAULTS) : null
      if (fault === null) return send(what)
      if (fault === 'not sent') return notSent()
      if (fault === 'refused') return refused('processing_error')
      if (fault === 'unanswered') await send(what)
      if (fault === 'late') late.push(() => send(what))
      return unknownResult()
    }
  return (real: Gateway) => ({
    authorize: risky(real.authorize),
    capture: risky(real.capture),
    sale: risky(real.sale),
    refund: risky(real.refund, refundsInTransit),
    void: risky(real.void),
    lookup: async (what) => (happens(scenario, 15) ? unreachable() : real.lookup(what)),
  })
}

/** Delivers some of the requests in transit. */
async function deliverLate(scenario: Scenario, percent: number): Promise<void> {
  for (const send of scenario.inTransit.splice(0)) {
    if (happens(scenario, percent)) await send()
    else scenario.inTransit.push(send)
  }
}

/**
 * The worker resumes open operations: a few times while the gateway is faulty, then once it works.
 */
async function resumeAll(scenario: Scenario): Promise<void> {
  const { app } = scenario
  for (let turn = 0; turn < 3; turn++) {
    await app.expireClaims()
    if (happens(scenario, 50)) app.clock.advance(LATER_MS)
    await app.reconcile({ gateway: faulty(scenario) })
    await deliverLate(scenario, 25)
  }
  for (const send of scenario.refundsInTransit.splice(0)) if (happens(scenario, 50)) await send()
  app.clock.advance(LATER_MS)
  for (let turn = 0; turn < 10; turn++) {
    await app.expireClaims()
    if ((await app.reconcile()) === 0) return
  }
  // Only a refund that never arrived is still open: after an hour it counts as lost. Then the clock goes back,
  // since a fault of a void that lasts an hour is final, too.
  app.clock.advance(REFUND_TRANSIT_MS)
  do await app.expireClaims()
  while ((await app.reconcile()) > 0)
  app.clock.reset()
}

type Change = (
  deps: ReturnType<CheckoutApp['depsWith']>,
  claim: WonClaim,
) => ReturnType<typeof cancel>

const OPERATIONS = ['refund', 'cancel', 'edit', 'release', 'expire'] as const

async function change(scenario: Scenario, operation: (typeof OPERATIONS)[number], id: string) {
  const { app, shop, chance } = scenario
  const db = app.runtime.database.tenant(shop.tenant)
  const gateway = faulty(scenario)
  const begin = (verb: string, work: Change) =>
    run(db, { operation: verb, key: randomUUID(), fingerprint: Buffer.alloc(32) }, (claim) =>
      work(app.depsWith({ gateway }), claim),
    )
  if (operation === 'release') return app.release(shop, id, randomUUID(), { gateway })
  if (operation === 'expire') return expireNow(app, id, gateway)
  if (operation === 'cancel') {
    const request = { reason: 'staff', note: null, restock: true, as: 'cancel' } as const
    return begin('cancel', (deps, claim) => cancel(deps, db, { actor: ACTOR, claim }, id, request))
  }
  if (operation === 'refund') {
    const body = chance(fc.constantFrom, {}, { amount_cents: 100 }, { amount_cents: 700 })
    const request = { by: 'merchant', body } as const
    return begin('refund', (deps, claim) => refund(deps, db, { actor: ACTOR, claim }, id, request))
  }
  const { rows } = await app.superuser.query(`select id from order_items where order_id = $1`, [id])
  const edits = [{ order_item_id: rows[0].id, quantity: chance(fc.constantFrom, 1, 2, 4) }]
  const tender = { by: 'card', source: { card: readCard(APPROVED, systemClock) } } as const
  const request = { body: { edits }, tender, note: null }
  return begin('edit', (deps, claim) => edit(deps, db, { actor: ACTOR, claim }, id, request))
}

/** Places an order, changes it a few times, and delivers all requests in transit. */
export async function runThroughFaults(
  app: CheckoutApp,
  shop: Shop,
  variant_id: string,
  chance: GeneratorValue,
): Promise<void> {
  const scenario: Scenario = { app, shop, chance, inTransit: [], refundsInTransit: [] }
  app.clock.reset()
  const key = randomUUID()
  const email = chance(fc.constantFrom, null, REVIEWED_EMAIL)
  const body = cart(variant_id, { customer_ref: key, items: [{ variant_id, quantity: 3 }], email })
  await app.place(shop, body, key, { gateway: faulty(scenario) }).catch(() => {})
  await resumeAll(scenario)
  const find = `select id, status, placed_at from orders where idempotency_key = $1`
  const { rows } = await app.superuser.query(find, [key])
  const changes = chance(fc.array, fc.constantFrom(...OPERATIONS), { maxLength: 4 })
  for (const operation of changes) {
    // A refusal or an unknown outcome does not fail the test.
    await change(scenario, operation, rows[0].id).catch(() => {})
    if (happens(scenario, 60)) await resumeAll(scenario)
  }
  await resumeAll(scenario)
  await deliverLate(scenario, 100)
  await settleHeld(scenario, key)
  for (let turn = 0; turn < 3; turn++) await app.watchLate()
  const { rows: ended } = await app.superuser.query(find, [key])
  assert.notEqual(ended[0].status, 'pending_payment')
  await app.assertAddsUp()
  await app.superuser.query('update payment_attempts set next_check_at = null')
}

/** Ends a held order. A capture that was given up may have come late, and is found here. */
async function settleHeld({ app, shop, chance }: Scenario, key: string): Promise<void> {
  const find = `select id from orders where idempotency_key = $1 and status = 'on_hold'`
  const { rows } = await app.superuser.query(find, [key])
  if (rows[0] === undefined) return
  const { id } = rows[0]
  if (chance(fc.boolean)) await app.release(shop, id, randomUUID(), {})
  await expireNow(app, id)
}

/** Lets the authorisation of an order lapse, if the order is still held. */
async function expireNow(app: CheckoutApp, id: string, gateway?: GatewayOverride): Promise<number> {
  const due = `update charges set authorized_until = now()
                where order_id = $1 and status = 'authorized'`
  await app.superuser.query(due, [id])
  return app.expire(gateway && { gateway })
}

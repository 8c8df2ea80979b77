import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc, { type GeneratorValue } from 'fast-check'
import { readCard } from '../../../src/modules/payments/card.ts'
import type { Gateway } from '../../../src/modules/payments/gateway.ts'
import {
  notSent,
  refused,
  unknownResult,
  unreachable,
} from '../../../src/modules/payments/gateway.ts'
import type { GatewayResult } from '../../../src/modules/payments/schema.ts'
import type { WonClaim } from '../../../src/platform/idempotency.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { cancel, edit, refund } from '../../harness/operations.ts'
import { APPROVED, type CheckoutApp, cart, type GatewayOverride, type Shop } from './setup.ts'

/**
 * An order's money behind a gateway at which anything may go wrong: calls that never arrive, or arrive
 * unanswered, or so late that others have given them up. Once it is well again, all must add up.
 */

const ACTOR = { name: 'merchant_key:test', correlationId: null }

/** Who orders under this address is looked at. */
export const REVIEWED_EMAIL = 'review@example.com'

const FAULTS = ['lost', 'unanswered', 'late', 'not sent', 'refused'] as const

/** So much later a gateway that knows nothing has never heard of it. */
const LATER_MS = 11_000

interface World {
  app: CheckoutApp
  shop: Shop
  /** Everything that is left to chance. */
  chance: GeneratorValue
  /** Calls that are on their way, and arrive when nobody waits for them any more. */
  onTheirWay: (() => Promise<unknown>)[]
}

const isBad = ({ chance }: World, percent: number) => chance(fc.nat, { max: 99 }) < percent

function faulty(world: World): GatewayOverride {
  const { chance, onTheirWay } = world
  const risky =
    <What>(send: (what: What) => Promise<GatewayResult>) =>
    async (what: What): Promise<GatewayResult> => {
      const fault = isBad(world, 50) ? chance(fc.constantFrom, ...FAULTS) : null
      if (fault === null) return send(what)
      if (fault === 'not sent') return notSent()
      if (fault === 'refused') return refused('processing_error')
      if (fault === 'unanswered') await send(what)
      if (fault === 'late') onTheirWay.push(() => send(what))
      return unknownResult()
    }
  return (real: Gateway) => ({
    authorize: risky(real.authorize),
    capture: risky(real.capture),
    sale: risky(real.sale),
    refund: risky(real.refund),
    void: risky(real.void),
    lookup: async (what) => (isBad(world, 15) ? unreachable() : real.lookup(what)),
  })
}

/** Some of what is on its way arrives. */
async function arrive(world: World, percent: number): Promise<void> {
  for (const send of world.onTheirWay.splice(0)) {
    if (isBad(world, percent)) await send()
    else world.onTheirWay.push(send)
  }
}

/** The worker takes up what was left: some times while the gateway is ill, then once it is well. */
async function takeUp(world: World): Promise<void> {
  const { app } = world
  for (let turn = 0; turn < 3; turn++) {
    await app.expireClaims()
    if (isBad(world, 50)) app.clock.advance(LATER_MS)
    await app.reconcile({ gateway: faulty(world) })
    await arrive(world, 25)
  }
  app.clock.advance(LATER_MS)
  do await app.expireClaims()
  while ((await app.reconcile()) > 0)
}

type Change = (
  deps: ReturnType<CheckoutApp['depsWith']>,
  claim: WonClaim,
) => ReturnType<typeof cancel>

const OPERATIONS = ['refund', 'cancel', 'edit', 'release', 'expire'] as const

async function change(world: World, operation: (typeof OPERATIONS)[number], id: string) {
  const { app, shop, chance } = world
  const db = app.runtime.database.tenant(shop.tenant)
  const gateway = faulty(world)
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
  const tender = { by: 'card', source: { card: readCard(APPROVED) } } as const
  const request = { body: { edits }, tender, note: null }
  return begin('edit', (deps, claim) => edit(deps, db, { actor: ACTOR, claim }, id, request))
}

/** Places an order, changes it some times, and lets everything arrive that is under way. */
export async function survive(
  app: CheckoutApp,
  shop: Shop,
  variant_id: string,
  chance: GeneratorValue,
): Promise<void> {
  const world: World = { app, shop, chance, onTheirWay: [] }
  app.clock.reset()
  const key = randomUUID()
  const email = chance(fc.constantFrom, null, REVIEWED_EMAIL)
  const body = cart(variant_id, { customer_ref: key, items: [{ variant_id, quantity: 3 }], email })
  await app.place(shop, body, key, { gateway: faulty(world) }).catch(() => {})
  await takeUp(world)
  const find = `select id, status, placed_at from orders where idempotency_key = $1`
  const { rows } = await app.superuser.query(find, [key])
  const changes = chance(fc.array, fc.constantFrom(...OPERATIONS), { maxLength: 4 })
  for (const operation of changes) {
    // What is refused, or not known yet, is no fault.
    await change(world, operation, rows[0].id).catch(() => {})
    if (isBad(world, 60)) await takeUp(world)
  }
  await takeUp(world)
  await arrive(world, 100)
  await settleHeld(world, key)
  for (let turn = 0; turn < 3; turn++) await app.watchLate()
  const { rows: ended } = await app.superuser.query(find, [key])
  assert.notEqual(ended[0].status, 'pending_payment')
  await app.assertAddsUp()
  await app.superuser.query('update payment_attempts set next_check_at = null')
}

/** A capture that was given up may have come late: whoever ends the order finds it. */
async function settleHeld({ app, shop, chance }: World, key: string): Promise<void> {
  const find = `select id from orders where idempotency_key = $1 and status = 'on_hold'`
  const { rows } = await app.superuser.query(find, [key])
  if (rows[0] === undefined) return
  const { id } = rows[0]
  if (chance(fc.boolean)) await app.release(shop, id, randomUUID(), {})
  await expireNow(app, id)
}

/** If it is held still. */
async function expireNow(app: CheckoutApp, id: string, gateway?: GatewayOverride): Promise<number> {
  const due = `update charges set authorized_until = now()
                where order_id = $1 and status = 'authorized'`
  await app.superuser.query(due, [id])
  return app.expire(gateway && { gateway })
}

import { randomUUID } from 'node:crypto'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { foldEmail } from '../../kernel/email.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { rewriteAnswersOf, rewriteAnswersWith } from '../../platform/idempotency-erase.ts'
import * as customers from '../customers/service.ts'
import * as giftCards from '../gift-cards/customer-data.ts'
import * as marketing from '../marketing/customer-service.ts'
import * as orders from '../orders/customer-service.ts'
import * as payments from '../payments/customer-service.ts'
import * as pricing from '../pricing/customer-service.ts'
import * as storeCredit from '../store-credit/customer-data.ts'
import * as subscriptions from '../subscriptions/customer-data.ts'
import * as webhooks from '../webhooks/customer-data.ts'
import { emit } from '../webhooks/service.ts'
import { isConfirmed, makeConfirm } from './confirm.ts'
import * as queries from './privacy-queries.ts'
import type { ErasureRow } from './privacy-schema.ts'
import { type Gone, scrubAnswer } from './scrub.ts'

/** The name of the claim that a half done erasure is resumed by. */
export const ERASE = 'privacy_erase'

/** Some tens of milliseconds of work, and no lock held for longer. */
const BATCH_ROWS = 500

/**
 * An address that so many references share is no person's, but what a storefront writes where it has
 * none. Erasing by it would empty the store.
 */
const GUESTS_MAX = 100

const ORDERS_BEGUN = 'begun'
const ORDERS_DONE = 'orders_erased'
const EVENTS_DONE = 'events_erased'

export interface Erasing {
  customersKey: Buffer
  confirmKey: Buffer
  clock: Clock
}

/** Whom an erasure is about: one reference, and the guests who are the same person. */
interface Subject {
  customer_ref: string
  guest_refs: string[]
  /** In lower case. */
  emails: string[]
}

/** Says what would be erased, and gives the value that confirms it. Changes nothing. */
export async function announce(
  { customersKey, confirmKey, clock }: Erasing,
  db: Db,
  customer_ref: string,
) {
  const { guest_refs } = await findSubject(db, customersKey, customer_ref)
  const counted = await orders.countOrders(db, [customer_ref, ...guest_refs])
  const subject = { tenant: db.tenant, customer_ref }
  return {
    ...makeConfirm(confirmKey, subject, clock.now()),
    orders: counted.orders,
    open_orders: counted.open,
    guest_refs,
  }
}

/**
 * A guest is whoever ordered under one of the customer's addresses, and whom no person's id tells
 * from them.
 */
async function findSubject(db: Db, key: Buffer, customer_ref: string): Promise<Subject> {
  const [known, ordered] = await Promise.all([
    customers.find(db, key, customer_ref),
    orders.emailsOf(db, customer_ref),
  ])
  const person_id = known?.person_id ?? null
  const emails = new Set(ordered)
  if (known?.email) emails.add(known.email.toLowerCase())
  const folded = [...emails].map(foldEmail).filter((each) => each !== null)
  for (const each of folded) emails.add(each)
  const [byOrder, ...byAddress] = await Promise.all([
    orders.refsByEmail(db, [...emails], person_id, GUESTS_MAX + 2),
    ...[...new Set(folded)].map((each) => customers.listByEmail(db, each)),
  ])
  const seen = byAddress.flat()
  const isOther = (other: { person_id: string | null }) =>
    other.person_id !== null && other.person_id !== person_id
  const others = new Set(seen.filter(isOther).map((each) => each.customer_ref))
  const refs = new Set([...byOrder, ...seen.map((each) => each.customer_ref)])
  const guest_refs = [...refs].filter((each) => each !== customer_ref && !others.has(each)).sort()
  if (guest_refs.length > GUESTS_MAX) throw new ApiError('erasure_too_broad')
  return { customer_ref, guest_refs, emails: [...emails].sort() }
}

/** Erases a customer who was announced. What was done of it before a crash is not done again. */
export async function erase(
  deps: Erasing,
  db: TenantDb,
  { actor, claim }: { actor: audit.Actor; claim: idempotency.WonClaim },
  wanted: { customer_ref: string; confirm: string },
): Promise<idempotency.StoredAnswer> {
  if (claim.recoveryPoint !== idempotency.STARTED) return resume(deps, db, claim)
  const { customer_ref } = wanted
  const subject = { tenant: db.tenant, customer_ref }
  if (!isConfirmed(deps.confirmKey, subject, wanted.confirm, deps.clock.now())) {
    throw new ApiError('confirm_invalid')
  }
  return resume(deps, db, await begin(deps, db, { actor, claim }, customer_ref))
}

/** The tombstones come first: from here on nothing that comes in brings anybody back. */
function begin(
  { customersKey: key }: Erasing,
  db: TenantDb,
  { actor, claim }: { actor: audit.Actor; claim: idempotency.WonClaim },
  customer_ref: string,
): Promise<idempotency.WonClaim> {
  return db.transaction('privacy: begin erasure', async (tx) => {
    const subject = await findSubject(tx, key, customer_ref)
    const refs = [customer_ref, ...subject.guest_refs]
    // Whoever is paying or changing an order is about to write what is being erased.
    if ((await orders.countOrders(tx, refs)).busy > 0) throw busy()
    const id = randomUUID()
    const pseudonym = customers.pseudonym(key, tx.tenant, customer_ref)
    await queries.insertErasure(tx, { id, ...subject, pseudonym, actor: actor.name })
    await Promise.all(refs.map((each) => customers.erase(tx, key, each)))
    return idempotency.advance(tx, claim, ORDERS_BEGUN, id)
  })
}

const busy = () =>
  new ApiError('order_busy', {
    message:
      'An order of this customer is being paid or changed, or is held before its payment. End that first.',
  })

/** Goes on from wherever the claim stands, in steps that each commit. */
export async function resume(
  { customersKey }: Pick<Erasing, 'customersKey'>,
  db: TenantDb,
  started: idempotency.WonClaim,
): Promise<idempotency.StoredAnswer> {
  let claim = started
  if (claim.resourceId === null) throw new Error('an erasure that was begun has a row')
  const erasure = await queries.findErasure(db, claim.resourceId)
  const subject = readSubject(erasure)
  const gone = nameAll(customersKey, db.tenant, subject)
  while (claim.recoveryPoint === ORDERS_BEGUN) {
    claim = await db.transaction('privacy: erase orders', (tx) =>
      eraseOrders(tx, claim, erasure, gone),
    )
  }
  while (claim.recoveryPoint === ORDERS_DONE) {
    claim = await db.transaction('privacy: erase events', (tx) => eraseEvents(tx, claim, gone))
  }
  return db.transaction('privacy: finish erasure', (tx) =>
    finish(tx, claim, { erasure, subject, gone }),
  )
}

function readSubject({ customer_ref, guest_refs, emails }: ErasureRow): Subject {
  if (customer_ref === null) throw new Error('the erasure is done already')
  return { customer_ref, guest_refs, emails }
}

function nameAll(key: Buffer, tenant: string, { customer_ref, guest_refs, emails }: Subject): Gone {
  const refs = [customer_ref, ...guest_refs]
  const pairs = refs.map((each) => [each, customers.pseudonym(key, tenant, each)] as const)
  return { pseudonyms: new Map(pairs), emails }
}

/** Some orders, with the coupons they used and the answers that named them. */
async function eraseOrders(
  tx: Tx,
  claim: idempotency.WonClaim,
  erasure: ErasureRow,
  gone: Gone,
): Promise<idempotency.WonClaim> {
  const { pseudonyms } = gone
  const renamed = { customer_refs: [...pseudonyms.keys()], pseudonyms: [...pseudonyms.values()] }
  const batch = { ...renamed, before: erasure.created_at, limit: BATCH_ROWS }
  const { order_ids, refund_ids } = await orders.eraseOrders(tx, batch)
  if (order_ids.length > 0) {
    await marketing.eraseOrders(tx, order_ids, renamed)
    await payments.eraseOrders(tx, order_ids)
    await rewriteAnswersOf(tx, [...order_ids, ...refund_ids], (body) => scrubAnswer(body, gone))
    await queries.countErased(tx, erasure.id, order_ids.length)
  }
  const isLast = order_ids.length < BATCH_ROWS
  return idempotency.advance(tx, claim, isLast ? ORDERS_DONE : ORDERS_BEGUN)
}

async function eraseEvents(tx: Tx, claim: idempotency.WonClaim, gone: Gone) {
  let left = BATCH_ROWS
  for (const each of gone.pseudonyms.keys()) {
    if (left > 0) left -= await webhooks.eraseSome(tx, each, left)
  }
  return idempotency.advance(tx, claim, left > 0 ? EVENTS_DONE : ORDERS_DONE)
}

/** What is few: stored value, subscriptions, groups, copies. Locks in the order of a checkout's. */
async function finish(
  tx: Tx,
  claim: idempotency.WonClaim,
  { erasure, subject, gone }: { erasure: ErasureRow; subject: Subject; gone: Gone },
): Promise<idempotency.StoredAnswer> {
  const { customer_ref, emails } = subject
  const { pseudonym, id } = erasure
  for (const subscription of await subscriptions.eraseCustomer(tx, customer_ref, pseudonym)) {
    await emit(tx, { type: 'commerce.subscription.cancelled.v1', data: { subscription } })
  }
  await storeCredit.eraseCustomer(tx, customer_ref, pseudonym)
  await giftCards.eraseCustomer(tx, { customer_ref, emails }, pseudonym)
  await pricing.eraseCustomer(tx, customer_ref)
  const refs = [...gone.pseudonyms.keys()]
  await queries.deleteExportsOf(tx, refs)
  const traces = [...refs, ...emails].map((each) => JSON.stringify(each))
  await rewriteAnswersWith(tx, traces, (body) => scrubAnswer(body, gone))
  const done = await queries.finishErasure(tx, id)
  const actor = { name: erasure.actor, correlationId: claim.correlationId ?? null }
  await audit.record(tx, actor, {
    action: 'privacy.erased',
    entity: `customer:${pseudonym}`,
    after: { orders: done.orders, guests: subject.guest_refs.length },
  })
  const body = JSON.stringify({ erasure: { id, pseudonym, orders: done.orders } })
  return idempotency.finish(tx, claim, 200, body)
}

import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { foldEmail } from '../../kernel/email.ts'
import { newId } from '../../kernel/id.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { rewriteAnswersOf, rewriteAnswersWith } from '../../platform/idempotency-erase.ts'
import * as customers from '../customers/service.ts'
import type { CustomerData, ErasedCustomer } from '../face-parts.ts'
import * as orders from '../orders/customer-data.ts'
import * as segments from '../segments/customer-data.ts'
import * as webhooks from '../webhooks/customer-data.ts'
import { type ErasedPerson, erasePerson } from './erase-answers.ts'
import { CUSTOMER_RANKS, ORDER_RANKS } from './erase-order.ts'
import { createErasureToken, isErasureToken } from './erasure-token.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type { ErasureRow } from './schema.ts'

/** The operation's name in its claim, by which an unfinished erasure is resumed. */
export const ERASE = 'privacy_erase'

/** How many rows one transaction erases: some tens of milliseconds of work, so no lock is held for long. */
const BATCH_ROWS = 500

/**
 * The most guests of one erasure. An address that more references share is a placeholder of a storefront and belongs
 * to no person; an erasure by it would empty the store.
 */
const GUESTS_MAX = 100

const ORDERS_BEGUN = 'begun'
const ORDERS_DONE = 'orders_erased'
const EVENTS_DONE = 'events_erased'

export interface ErasureDeps {
  /** Loads what each module does, by its name. */
  loadCustomerData: () => Promise<ReadonlyMap<string, CustomerData>>
  customersKey: Buffer
  confirmKey: Buffer
  clock: Clock
}

/** The customer to be erased: one reference, and the guests that are the same person. */
interface Subject {
  customer_ref: string
  guest_refs: string[]
  /** In lower case. */
  emails: string[]
}

/** Counts what an erasure would erase, and makes the token that confirms it. Changes nothing. */
export async function previewErasure(
  { customersKey, confirmKey, clock }: ErasureDeps,
  db: Db,
  customer_ref: string,
) {
  const { guest_refs } = await findSubject(db, customersKey, customer_ref)
  const counted = await orders.countOrders(db, [customer_ref, ...guest_refs])
  const subject = { tenant: db.tenant, customer_ref }
  return {
    ...createErasureToken(confirmKey, subject, clock.now()),
    orders: counted.orders,
    open_orders: counted.open,
    guest_refs,
  }
}

/**
 * Finds the guests of a customer: references that ordered under one of the customer's e-mail addresses
 * and have no other person's id.
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
  if (guest_refs.length > GUESTS_MAX) throw refuse('erasure_too_broad')
  return { customer_ref, guest_refs, emails: [...emails].sort() }
}

/** Erases a customer, with the token of the preview. After a crash it continues where it stopped. */
export async function erase(
  deps: ErasureDeps,
  db: TenantDb,
  { actor, claim }: { actor: audit.Actor; claim: idempotency.WonClaim },
  request: { customer_ref: string; confirm: string },
): Promise<idempotency.StoredAnswer> {
  if (claim.recoveryPoint !== idempotency.STARTED) return resume(deps, db, claim)
  const { customer_ref } = request
  const subject = { tenant: db.tenant, customer_ref }
  if (!isErasureToken(deps.confirmKey, subject, request.confirm, deps.clock.now())) {
    throw new ApiError('confirm_invalid')
  }
  return resume(deps, db, await begin(deps, db, { actor, claim }, customer_ref))
}

/**
 * Begins an erasure. It writes the tombstones first, so that no later order restores the customer. Data that only a
 * reference names is erased at once too: later the same reference may name data that a returning customer has since
 * got. Why rows are rewritten: decision 0008.
 */
async function begin(
  { customersKey: key, loadCustomerData }: ErasureDeps,
  db: TenantDb,
  { actor, claim }: { actor: audit.Actor; claim: idempotency.WonClaim },
  customer_ref: string,
): Promise<idempotency.WonClaim> {
  const customerData = await loadCustomerData()
  return db.transaction('privacy: begin erasure', async (tx) => {
    const subject = await findSubject(tx, key, customer_ref)
    const refs = [customer_ref, ...subject.guest_refs]
    // An order that is being paid or changed would write personal data again.
    if ((await orders.countOrders(tx, refs)).busy > 0) throw busy()
    const id = newId()
    const pseudonym = customers.pseudonym(key, tx.tenant, customer_ref)
    await queries.insertErasure(tx, { id, ...subject, pseudonym, actor: actor.name })
    await Promise.all(refs.map((each) => customers.erase(tx, key, each)))
    await eraseAccounts(tx, customerData, { ...subject, pseudonym })
    await eraseAnswers(tx, subject, erasedPerson(key, tx.tenant, subject))
    return idempotency.advance(tx, claim, ORDERS_BEGUN, id)
  })
}

/** Erases the data that names the customer and no order. Takes locks in the order of a checkout. */
async function eraseAccounts(
  tx: Tx,
  customerData: ReadonlyMap<string, CustomerData>,
  person: ErasedCustomer,
) {
  for (const name of CUSTOMER_RANKS) await customerData.get(name)?.eraseCustomer?.(tx, person)
}

/** Erases the person from the stored answers that name no order. */
function eraseAnswers(tx: Tx, { emails }: Subject, person: ErasedPerson) {
  const personalTexts = [...person.pseudonyms.keys(), ...emails].map((each) => JSON.stringify(each))
  return rewriteAnswersWith(tx, personalTexts, (body) => erasePerson(body, person))
}

const busy = () =>
  new ApiError('order_busy', {
    message:
      'An order of this customer is being paid or changed, or is held before its payment. End that first.',
  })

/** Continues from the claim's recovery point, in steps that each commit. */
export async function resume(
  { customersKey, loadCustomerData }: Pick<ErasureDeps, 'customersKey' | 'loadCustomerData'>,
  db: TenantDb,
  started: idempotency.WonClaim,
): Promise<idempotency.StoredAnswer> {
  let claim = started
  const customerData = await loadCustomerData()
  if (claim.resourceId === null) throw new Error('an erasure that was begun has a row')
  const erasure = await queries.findErasure(db, claim.resourceId)
  const subject = readSubject(erasure)
  const person = erasedPerson(customersKey, db.tenant, subject)
  while (claim.recoveryPoint === ORDERS_BEGUN) {
    claim = await db.transaction('privacy: erase orders', (tx) =>
      eraseOrders(tx, claim, { erasure, person, customerData }),
    )
  }
  while (claim.recoveryPoint === ORDERS_DONE) {
    claim = await db.transaction('privacy: erase events', (tx) =>
      eraseEvents(tx, claim, erasure, person),
    )
  }
  return db.transaction('privacy: finish erasure', (tx) => finish(tx, claim, erasure, person))
}

function readSubject({ customer_ref, guest_refs, emails }: ErasureRow): Subject {
  if (customer_ref === null) throw new Error('the erasure is done already')
  return { customer_ref, guest_refs, emails }
}

function erasedPerson(
  key: Buffer,
  tenant: string,
  { customer_ref, guest_refs, emails }: Subject,
): ErasedPerson {
  const refs = [customer_ref, ...guest_refs]
  const pairs = refs.map((each) => [each, customers.pseudonym(key, tenant, each)] as const)
  return { pseudonyms: new Map(pairs), emails }
}

/** Erases the person from a batch of orders, with their coupons and stored answers. */
async function eraseOrders(
  tx: Tx,
  claim: idempotency.WonClaim,
  {
    erasure,
    person,
    customerData,
  }: {
    erasure: ErasureRow
    person: ErasedPerson
    customerData: ReadonlyMap<string, CustomerData>
  },
): Promise<idempotency.WonClaim> {
  const { pseudonyms } = person
  const renamed = { customer_refs: [...pseudonyms.keys()], pseudonyms: [...pseudonyms.values()] }
  const batch = { ...renamed, before: erasure.created_at, limit: BATCH_ROWS }
  const { order_ids, refund_ids } = await orders.eraseOrders(tx, batch)
  if (order_ids.length > 0) {
    const answered = [...order_ids, ...refund_ids]
    for (const name of ORDER_RANKS) {
      const ids = await customerData.get(name)?.eraseOrders?.(tx, order_ids, renamed)
      answered.push(...(ids ?? []))
    }
    await rewriteAnswersOf(tx, answered, (body) => erasePerson(body, person))
    await queries.countErased(tx, erasure.id, order_ids.length)
  }
  const isLast = order_ids.length < BATCH_ROWS
  return idempotency.advance(tx, claim, isLast ? ORDERS_DONE : ORDERS_BEGUN)
}

/** Erases the person from a batch of events that are about no order, as those of a subscription. */
async function eraseEvents(
  tx: Tx,
  claim: idempotency.WonClaim,
  { created_at }: ErasureRow,
  { pseudonyms }: ErasedPerson,
): Promise<idempotency.WonClaim> {
  let left = BATCH_ROWS
  for (const each of pseudonyms.keys()) {
    if (left > 0) left -= await webhooks.eraseSome(tx, each, { before: created_at, limit: left })
  }
  return idempotency.advance(tx, claim, left > 0 ? EVENTS_DONE : ORDERS_DONE)
}

/** Ends an erasure. Exports that were made meanwhile show data that was not erased yet, so they are deleted. */
async function finish(
  tx: Tx,
  claim: idempotency.WonClaim,
  { id, pseudonym, guest_refs, actor: name }: ErasureRow,
  { pseudonyms, emails }: ErasedPerson,
): Promise<idempotency.StoredAnswer> {
  await queries.deleteExportsOf(tx, [...pseudonyms.keys()])
  await segments.eraseAddresses(tx, emails)
  const done = await queries.finishErasure(tx, id)
  const actor = { name, correlationId: claim.correlationId ?? null }
  await audit.record(tx, actor, {
    action: 'privacy.erased',
    entity: `customer:${pseudonym}`,
    after: { orders: done.orders, guests: guest_refs.length },
  })
  const body = JSON.stringify({ erasure: { id, pseudonym, orders: done.orders } })
  return idempotency.finish(tx, claim, 200, body)
}

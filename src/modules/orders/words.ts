import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { inProgress } from '../../platform/idempotency-run.ts'
import type { Limits } from '../../platform/limits.ts'
import type { Attempt, GatewayResult, Lookup } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import type { TaxProvider } from '../pricing/service.ts'
import type { ChargeRow, OrderRow, RefundRow } from './schema.ts'

/** What changing an order works with: a part of what a checkout does. */
export interface OrderDeps {
  payments: payments.Payments
  tax: TaxProvider | null
  clock: Clock
  limits: Pick<Limits, 'spend'>
  /** Attempts per minute of one shopper. */
  velocityLimit: number
  keys: {
    /** Makes one card recognisable without being readable. */
    fingerprint: Buffer
  }
  /** Ends what an order has begun to be charged for again and again, and answers with what it ended. */
  endSubscriptions: (tx: Tx, order_id: string) => Promise<readonly { id: string }[]>
  /** Told of what a person must look at. */
  onAlert: (alert: Record<string, unknown>, message: string) => void
  /** Called at each named step. A test stops there what it wants to see survive. */
  at?: (point: string) => void | Promise<void>
}

/**
 * For whoever works under a claim. Who was paused for longer than its lease has been overtaken: what
 * they were about to send was ended by somebody else, and may have been asked for anew since.
 */
export const whileHeld = <D extends OrderDeps>(
  deps: D,
  db: TenantDb,
  claim: idempotency.WonClaim,
): D => ({
  ...deps,
  payments: payments.whileHeld(deps.payments, () => idempotency.renew(db, claim)),
})

/** What a gateway has said to one attempt. */
export type Word =
  | { kind: 'approved' | 'refused'; attempt_id: string; result: GatewayResult }
  /** It has never heard of it. */
  | { kind: 'lost'; attempt_id: string }
  | { kind: 'unknown'; attempt_id: string }

export function wordOf(attempt_id: string, result: GatewayResult): Word {
  if (result.outcome === 'unknown') return { kind: 'unknown', attempt_id }
  return { kind: result.outcome === 'approved' ? 'approved' : 'refused', attempt_id, result }
}

/** How long a gateway may be silent about what it was asked before that means that it never was. */
const NEVER_AFTER_MS = 10_000

export const isDue = ({ clock }: OrderDeps, { created_at }: Attempt): boolean =>
  clock.now() - Date.parse(created_at) >= NEVER_AFTER_MS

/** An attempt that has ended, as its word; null while it has not. */
export function closedWord(attempt: Attempt): Word | null {
  if (attempt.state === 'not_found') return { kind: 'lost', attempt_id: attempt.id }
  const result = payments.closedResult(attempt)
  return result && wordOf(attempt.id, result)
}

interface Ways {
  /** Another way to know it than by our reference, which is asked first. */
  more?: (gateway: payments.Gateway, attempt: Attempt) => Promise<Word | null>
  /** What the gateway's record means. */
  read?: (gateway: payments.Gateway, attempt: Attempt, found: Lookup) => Promise<Word>
}

/** What became of an attempt that somebody else has begun: by our own record, else by the gateway's. */
async function recall(
  deps: OrderDeps,
  db: Db,
  attempt_id: string,
  { more = async () => null, read = readRecord }: Ways,
): Promise<Word> {
  const attempt = await payments.findAttempt(db, attempt_id)
  if (attempt === null) throw new Error('the attempt is gone')
  const closed = closedWord(attempt)
  if (closed !== null) return closed
  const gateway = await deps.payments.forStore(db, attempt.gateway)
  const known = await more(gateway, attempt)
  if (known !== null) return known
  const lookup = await gateway.lookup({ ref: attempt_id })
  if (lookup.found === 'yes') return read(gateway, attempt, lookup)
  // What is still on its way may arrive yet.
  const isNever = lookup.found === 'no' && isDue(deps, attempt)
  return { kind: isNever ? 'lost' : 'unknown', attempt_id }
}

const readRecord: NonNullable<Ways['read']> = async (_, { id }, found) =>
  wordOf(id, payments.resultOfLookup(found))

/** The same of a charge. What was given back is not paid; nor is a part of it, which goes back now. */
export const recallCharge = (deps: OrderDeps, db: Db, attempt_id: string): Promise<Word> =>
  recall(deps, db, attempt_id, {
    async read(gateway, { amount_cents, currency }, found) {
      if (payments.isPart(found, amount_cents)) {
        const back = await payments.returnPart(gateway, found, { ref: attempt_id, currency })
        return wordOf(attempt_id, back)
      }
      const state = found.state === 'refunded' ? 'voided' : found.state
      return wordOf(attempt_id, payments.resultOfLookup({ ...found, state }))
    },
  })

/** Asks each card's gateway to give back its share. What was paid whole is voided where it can be. */
export async function askBack(
  deps: OrderDeps,
  db: Db,
  refund: RefundRow,
  charges: readonly ChargeRow[],
): Promise<Map<string, Word>> {
  await deps.at?.('refund-sent')
  return overCards(refund, charges, async (charge, { attempt_id, amount_cents }) => {
    if (charge.txn_id === null || charge.gateway === null) return { kind: 'lost', attempt_id }
    const gateway = await deps.payments.forStore(db, charge.gateway)
    const what = { ref: attempt_id, txn_id: charge.txn_id, amount_cents, currency: charge.currency }
    const isWhole = amount_cents === charge.captured_cents
    const result = await (isWhole ? payments.giveBack(gateway, what) : gateway.refund(what))
    return wordOf(attempt_id, result)
  })
}

/** The same, by the gateways' own records: for whoever takes it up later. Nothing is sent again. */
export const recallBack = (
  deps: OrderDeps,
  db: Db,
  refund: RefundRow,
  charges: readonly ChargeRow[],
): Promise<Map<string, Word>> =>
  overCards(refund, charges, (charge, { attempt_id, amount_cents }) =>
    recall(
      deps,
      db,
      attempt_id,
      amount_cents === charge.captured_cents ? { more: recallVoid } : {},
    ),
  )

/** A void has no reference of its own: it shows in what it undid. */
export async function recallVoid(
  gateway: payments.Gateway,
  { id: attempt_id, parent_txn_id }: Attempt,
): Promise<Word | null> {
  if (parent_txn_id === null) return null
  const lookup = await gateway.lookup({ txn_id: parent_txn_id })
  if (lookup.found === 'unreachable') return { kind: 'unknown', attempt_id }
  if (lookup.found !== 'yes' || lookup.state !== 'voided') return null
  const { state: _, ...record } = lookup
  const result = payments.resultOfLookup({ ...record, state: 'refunded' })
  return { kind: 'approved', attempt_id, result }
}

async function overCards(
  { tenders }: RefundRow,
  charges: readonly ChargeRow[],
  ask: (charge: ChargeRow, share: { attempt_id: string; amount_cents: number }) => Promise<Word>,
): Promise<Map<string, Word>> {
  const words = tenders.map(async ({ charge_id, attempt_id, amount_cents }) => {
    const charge = charges.find((each) => each.charge_id === charge_id)
    if (attempt_id === null || charge === undefined) return []
    return [[charge_id, await ask(charge, { attempt_id, amount_cents })] as const]
  })
  return new Map((await Promise.all(words)).flat())
}

/** Looked up 10 seconds after it was asked, then after a minute, then every five. */
const RETRY_SECONDS = { first: 10, young: 60, old: 300 }
const YOUNG_MS = 60_000

/**
 * Some gateway did not say. The claim is left for the reconciler, or for the same key, until it is
 * worth asking again; whoever asked is told that it is not known, and at the next time only to wait.
 */
export async function leave(
  deps: OrderDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  order: OrderRow,
  unknown: readonly string[],
  isFirst: boolean,
): Promise<never> {
  const attempts = await Promise.all(unknown.map((id) => payments.findAttempt(db, id)))
  const begun = Math.min(...attempts.map((each) => Date.parse(each?.created_at ?? '')))
  const isYoung = !(deps.clock.now() - begun > YOUNG_MS)
  const retry = isYoung ? RETRY_SECONDS.young : RETRY_SECONDS.old
  const isEarly = deps.clock.now() - begun < NEVER_AFTER_MS
  await db.transaction('orders: outcome unknown', async (tx) => {
    for (const id of unknown) await payments.markUnknown(tx, id)
    await idempotency.renew(tx, claim, isFirst || isEarly ? RETRY_SECONDS.first : retry)
  })
  if (!isFirst) throw inProgress()
  const { id, order_number, status } = order
  throw new ApiError('payment_unconfirmed', {
    body: { order: { id, order_number, status } },
    kind: 'upstream',
  })
}

export const unknownOf = (words: Iterable<Word>): string[] =>
  [...words].filter(({ kind }) => kind === 'unknown').map(({ attempt_id }) => attempt_id)

import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { inProgress } from '../../platform/idempotency-run.ts'
import type { Source } from '../payments/adapters/gateway.ts'
import * as attempts from '../payments/attempts.ts'
import { fencedPayments, type Payments } from '../payments/service.ts'
import type { Caller } from './schema.ts'
import { OPERATIONS, type OperationName } from './table.ts'

/**
 * The engine of every operation that moves money. An operation is data:
 *
 *   begin   (transactions)  writes the plan and the attempts, and reaches the recovery point
 *   ask     (network)       sends the attempts to the gateway
 *   recall  (network)       looks up attempts that an earlier process may have sent
 *   end     (transaction)   writes the outcome and stores the answer of the key
 *
 * No transaction is open during a network call. A process that stops leaves the operation at its
 * recovery point. The same key or the reconciler resumes it: `recall` in place of `ask`, then
 * `end`. An outcome that is still unknown postpones the key, and the next attempt recalls again (decision 0018).
 */

/** The dependencies of every operation. */
export interface OperationDeps {
  payments: Payments
  /** Reports an alert to the operator. */
  onAlert: (alert: Record<string, unknown>, message: string) => void
  /** Called at each named step. Tests stop an operation there. */
  at?: (point: string) => void | Promise<void>
  /** The clocks that limit how long a claim is trusted. Tests move them. */
  trustClocks?: readonly Clock[]
}

/** Deps whose gateways refuse to send once the claim is lost. */
export type Fenced<Deps> = Deps & {
  /** Throws if another process has taken over the claim. */
  assertClaimHeld: () => Promise<void>
}

/** Reaches the operation's recovery point, in the transaction that writes its plan. */
export type Reach = (tx: Tx, resourceId: string) => Promise<idempotency.WonClaim>

export interface Begun<Work> {
  state: 'begun'
  claim: idempotency.WonClaim
  /** The result of `load`, if `begin` knows it already. */
  work?: Work
  /** The source of the charge. It is never stored, so only `ask` has it. */
  source?: Source | null
}

/** The gateways' replies, as `ask` and `recall` return them. */
export interface Replies {
  /** Attempts whose outcome is unknown. Unless it is empty, the operation cannot end yet. */
  unknown: readonly string[]
}

interface OrderBrief {
  id: string
  order_number: number
  status: string
}

export interface OperationSpec<Deps extends OperationDeps, Request, Work, R extends Replies> {
  name: OperationName
  /**
   * For how long after its start the claim counts as held without a query of the database. It is more than 0 only
   * where a round trip to the database before each call is too expensive.
   */
  trustClaimMs?: number
  begin(
    deps: Deps,
    db: TenantDb,
    caller: Caller & { reach: Reach },
    request: Request,
  ): Promise<Begun<Work> | idempotency.StoredAnswer>
  /** Reads the plan of an operation that has begun. */
  load(db: TenantDb, resourceId: string): Promise<Work>
  ask(deps: Fenced<Deps>, db: TenantDb, work: Work, source: Source | null): Promise<R>
  recall(deps: Fenced<Deps>, db: TenantDb, work: Work): Promise<R>
  /** Ends the operation. It is called a second time, with `work` loaded again, if it throws `StaleWorkError`. */
  end(tx: Tx, deps: Deps, ending: Ending<Work, R>): Promise<idempotency.StoredAnswer>
  /** Writes more in the same transaction, while the outcome is unknown. */
  markUnknown?(tx: Tx, work: Work): Promise<unknown>
  /** Runs after the end has committed. Best effort: if the process stops before, it does not run. */
  after?(deps: Deps, db: TenantDb, work: Work, replies: R): Promise<void>
  /** The order as refusals show it. */
  orderOf(work: Work): OrderBrief
}

export interface Ending<Work, R> {
  claim: idempotency.WonClaim
  work: Work
  replies: R
}

/** Thrown if the order has changed since `begin` read it, so that the loaded work is no longer true. */
export class StaleWorkError extends Error {
  constructor() {
    super('the order has changed since the operation began')
  }
}

export interface Operation<Deps, Request> {
  /** Runs the operation, or resumes it if the claim shows that it has begun. */
  run(deps: Deps, db: TenantDb, caller: Caller, request: Request): Promise<idempotency.StoredAnswer>
  /** Continues from the recovery point, by the gateways' own records. */
  resume(deps: Deps, db: TenantDb, claim: idempotency.WonClaim): Promise<idempotency.StoredAnswer>
}

export function defineOperation<Deps extends OperationDeps, Request, Work, R extends Replies>(
  spec: OperationSpec<Deps, Request, Work, R>,
): Operation<Deps, Request> {
  const { name } = spec
  const { recoveryPoint } = OPERATIONS[name]
  return {
    async run(deps, db, caller, request) {
      if (caller.claim.recoveryPoint === recoveryPoint) return this.resume(deps, db, caller.claim)
      const isTrusted = trustFor(deps, spec.trustClaimMs ?? 0)
      const reach: Reach = (tx, id) => idempotency.advance(tx, caller.claim, recoveryPoint, id)
      const begun = await spec.begin(deps, db, { ...caller, reach }, request)
      if (begun.state === 'answered') return begun
      await deps.at?.(`${name}-begun`)
      const { claim, source = null } = begun
      const work = begun.work ?? (await load(spec, db, claim))
      const fenced = fence(deps, db, claim, isTrusted)
      const replies = await spec.ask(fenced, db, work, source)
      if (replies.unknown.length > 0) {
        await leaveUnknown(spec, db, { claim, work, replies })
        throw unconfirmed(spec.orderOf(work))
      }
      return finish(spec, deps, db, { claim, work, replies })
    },
    async resume(deps, db, claim) {
      const work = await load(spec, db, claim)
      const fenced = fence(deps, db, claim, () => false)
      const replies = await spec.recall(fenced, db, work)
      if (replies.unknown.length > 0) {
        await leaveUnknown(spec, db, { claim, work, replies })
        throw inProgress()
      }
      return finish(spec, deps, db, { claim, work, replies })
    },
  }
}

/**
 * The clocks of the trust in a claim. There are two, since each can be too slow: machine time may be set back, and
 * the time since the start of the process stands still while its machine sleeps.
 */
export const TRUST_CLOCKS: readonly Clock[] = [systemClock, { now: () => performance.now() }]

/** Returns whether a claim counts as held without a query of the database: for `ms` from now, by every clock. */
function trustFor({ trustClocks = TRUST_CLOCKS }: OperationDeps, ms: number): () => boolean {
  const limits = trustClocks.map((clock) => ({ clock, until: clock.now() + ms }))
  return () => limits.every(({ clock, until }) => clock.now() < until)
}

type AnySpec<Deps extends OperationDeps, Work, R extends Replies> = Omit<
  OperationSpec<Deps, never, Work, R>,
  'begin'
>

const load = <Deps extends OperationDeps, Work, R extends Replies>(
  spec: AnySpec<Deps, Work, R>,
  db: TenantDb,
  { resourceId }: idempotency.WonClaim,
): Promise<Work> => spec.load(db, resourceId ?? '')

/**
 * Wraps the gateways so that every call that moves money first checks that we still hold the claim, unless the
 * claim is still trusted. A process that was paused for longer than its lease has lost it: another process may have
 * ended the operation, and the same payment may have been requested again.
 */
function fence<Deps extends OperationDeps>(
  deps: Deps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  isTrusted: () => boolean,
): Fenced<Deps> {
  const assertClaimHeld = async () => {
    if (!isTrusted()) await idempotency.renew(db, claim)
  }
  return { ...deps, assertClaimHeld, payments: fencedPayments(deps.payments, assertClaimHeld) }
}

async function finish<Deps extends OperationDeps, Work, R extends Replies>(
  spec: AnySpec<Deps, Work, R>,
  deps: Deps,
  db: TenantDb,
  ending: Ending<Work, R>,
): Promise<idempotency.StoredAnswer> {
  await deps.at?.(`${spec.name}-answered`)
  const end = (work: Work) =>
    db.transaction(`${spec.name}: end`, (tx) => spec.end(tx, deps, { ...ending, work }))
  const answer = await end(ending.work).catch(async (error: unknown) => {
    if (!(error instanceof StaleWorkError)) throw error
    return end(await load(spec, db, ending.claim))
  })
  await spec.after?.(deps, db, ending.work, ending.replies)
  await deps.at?.(`${spec.name}-ended`)
  return answer
}

/** Records which attempts are unknown, and leaves the key to the reconciler or the same caller. */
async function leaveUnknown<Deps extends OperationDeps, Work, R extends Replies>(
  spec: AnySpec<Deps, Work, R>,
  db: TenantDb,
  { claim, work, replies }: Ending<Work, R>,
): Promise<void> {
  await db.transaction(`${spec.name}: outcome unknown`, async (tx) => {
    await spec.markUnknown?.(tx, work)
    const begun: number[] = []
    for (const id of replies.unknown) {
      await attempts.markUnknown(tx, id)
      const attempt = await attempts.findAttempt(tx, id)
      if (attempt !== null) begun.push(Date.parse(attempt.created_at))
    }
    const age = begun.length === 0 ? 0 : db.clock.now() - Math.min(...begun)
    await idempotency.postpone(tx, claim, nextAttemptSeconds(age))
  })
}

/**
 * Returns how long to wait before attempts of this age are looked up again: a short time at first, since most
 * outcomes are known within a minute, and longer while a gateway is unreachable.
 */
export function nextAttemptSeconds(ageMs: number): number {
  if (ageMs < 60_000) return 10
  return ageMs < 600_000 ? 60 : 300
}

const unconfirmed = ({ id, order_number, status }: OrderBrief) =>
  new ApiError('payment_unconfirmed', {
    body: { order: { id, order_number, status } },
    // The first lookup of an open payment is ten seconds after it began.
    headers: { 'retry-after': '10' },
    kind: 'upstream',
  })

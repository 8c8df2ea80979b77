import type { Db, TenantDb } from '../../db/database.ts'
import { isUuid } from '../../kernel/schema.ts'
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts'
import { GATEWAY_NAMES } from './adapters/all.ts'
import type { DayRecord, Gateway } from './adapters/gateway.ts'
import {
  listGatewaysUsed,
  listOpenAttempts,
  listOurRecords,
  type OurRecord,
} from './compare-queries.ts'
import * as queries from './queries.ts'
import type { GatewayName, NewDiscrepancy } from './schema.ts'
import type { Payments } from './service.ts'

/** How far the gateway's clock may differ from ours: a payment at midnight may be on either day of its record. */
const SLACK_MS = HOUR_MS

interface Range {
  from: Date
  to: Date
}

/**
 * Compares a day (UTC) of the gateways' records with ours and records the differences. A repeated
 * comparison finds the same rows, and resolves differences that are gone. Returns how many are open, or
 * null if a gateway gave no answer.
 */
export async function compareDay(
  payments: Payments,
  db: TenantDb,
  day: string,
): Promise<number | null> {
  const from = new Date(`${day}T00:00:00Z`)
  const range = { from, to: new Date(from.getTime() + DAY_MS) }
  let open = 0
  for (const gateway of await listGateways(payments, db, range)) {
    const unknown = await listUnknown(db, { gateway, ...range })
    const problems = await findProblems(payments, db, gateway, range)
    if (problems === null) {
      await save(db, { day, gateway, problems: unknown, resolveOthers: false })
      return null
    }
    const all = [...unknown, ...problems]
    await save(db, { day, gateway, problems: all, resolveOthers: true })
    open += all.length
  }
  return open
}

/** Lists every gateway that may have moved money for the store on that day. */
async function listGateways(payments: Payments, db: Db, range: Range): Promise<GatewayName[]> {
  const [accounts, used] = await Promise.all([
    queries.listAccounts(db),
    listGatewaysUsed(db, range),
  ])
  const names = new Set([
    payments.deps.gateway,
    ...[...accounts, ...used].map((each) => each.gateway),
  ])
  return GATEWAY_NAMES.filter((name) => names.has(name))
}

async function findProblems(payments: Payments, db: Db, name: GatewayName, range: Range) {
  const gateway = await payments.forStore(db, name)
  const theirs = await gateway.listRecords(
    new Date(range.from.getTime() - SLACK_MS),
    new Date(range.to.getTime() + SLACK_MS),
  )
  if (theirs === null) return null
  const ids = theirs.map((each) => each.ref).filter(isUuid)
  const ours = await listOurRecords(db, { gateway: name, ids, ...range })
  const refunded = await findRefunded(gateway, theirs, ours)
  if (refunded === null) return null
  const notRefunded = theirs.filter((each) => !refunded.has(each.ref))
  return [...missingHere(notRefunded, ours, range), ...missingThere(theirs, ours, range)]
}

const PAID_OR_OPEN: readonly OurRecord['state'][] = ['approved', 'begun', 'unknown']

const activeRefs = (theirs: DayRecord[]) =>
  new Set(theirs.filter((each) => each.is_active).map((each) => each.ref))

/**
 * Finds charges that failed here, are active in the gateway's record of the day, and were refunded: a charge
 * that had settled when it was reversed was refunded under its own reference, perhaps on another day. Returns
 * null if the gateway gave no answer.
 */
async function findRefunded(gateway: Gateway, theirs: DayRecord[], ours: OurRecord[]) {
  const active = activeRefs(theirs)
  const refunded = new Set<string>()
  for (const { id, state } of ours) {
    if (PAID_OR_OPEN.includes(state) || !active.has(id)) continue
    const lookup = await gateway.lookup({ ref: id })
    if (lookup.found === 'unreachable') return null
    if (lookup.state === 'refunded') refunded.add(id)
  }
  return refunded
}

const isWithin = ({ from, to }: Range, { created_at }: { created_at: string }) =>
  Date.parse(created_at) >= from.getTime() && Date.parse(created_at) < to.getTime()

/** Finds problems of the gateway's active records: payments that we do not have, or have with another amount. */
function missingHere(theirs: DayRecord[], ours: OurRecord[], range: Range) {
  const known = new Map(ours.map((each) => [each.id, each]))
  return theirs.flatMap((record): NewDiscrepancy[] => {
    if (!record.is_active || !isWithin(range, record)) return []
    const our = known.get(record.ref)
    const { ref, txn_id, amount_cents: gateway_cents } = record
    const facts = { ref, txn_id, order_id: our?.order_id ?? null, gateway_cents }
    // An open attempt is still looked up. After hours it is a problem of its own:
    // `outcome_unknown`.
    if (our?.state === 'begun' || our?.state === 'unknown') return []
    if (our?.state !== 'approved') return [{ problem: 'missing_here', our_cents: null, ...facts }]
    const our_cents = our.released_cents ?? our.amount_cents
    return our_cents === gateway_cents ? [] : [{ problem: 'amount_differs', our_cents, ...facts }]
  })
}

/**
 * Problems of our approved attempts: not active at the gateway, although we did not reverse them.
 */
function missingThere(theirs: DayRecord[], ours: OurRecord[], range: Range) {
  const active = activeRefs(theirs)
  return ours
    .filter((our) => our.state === 'approved' && !our.is_reversed && !active.has(our.id))
    .filter((our) => our.kind !== 'void' && our.kind !== 'release' && isWithin(range, our))
    .map(({ id, txn_id, order_id, amount_cents }): NewDiscrepancy => {
      const facts = { ref: id, txn_id, order_id, our_cents: amount_cents, gateway_cents: null }
      return { problem: 'missing_there', ...facts }
    })
}

interface Found {
  day: string
  gateway: GatewayName
  problems: NewDiscrepancy[]
  /**
   * Whether problems of the day that are not among these are gone. Only a whole comparison knows.
   */
  resolveOthers: boolean
}

const save = (db: TenantDb, { day, gateway, problems, resolveOthers }: Found) =>
  db.transaction('payments: compare a day', async (tx) => {
    const open = problems.map(({ problem, ref }) => `${problem} ${ref}`)
    if (resolveOthers) await queries.resolveOthers(tx, day, gateway, open)
    for (const each of problems) await queries.saveDiscrepancy(tx, day, gateway, each)
  })

async function listUnknown(
  db: Db,
  of: { gateway: GatewayName } & Range,
): Promise<NewDiscrepancy[]> {
  const open = await listOpenAttempts(db, of)
  return open.map(({ id: ref, amount_cents: our_cents, ...facts }) => {
    return { problem: 'outcome_unknown', ref, our_cents, gateway_cents: null, ...facts }
  })
}

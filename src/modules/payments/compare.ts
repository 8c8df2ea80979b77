import type { Db, TenantDb } from '../../db/database.ts'
import { isUuid } from '../../kernel/schema.ts'
import {
  listGatewaysUsed,
  listOpenAttempts,
  listOurRecords,
  type OurRecord,
} from './compare-queries.ts'
import type { DayRecord, Gateway } from './gateway.ts'
import * as queries from './queries.ts'
import { GATEWAYS, type GatewayName, type NewDiscrepancy } from './schema.ts'
import type { Payments } from './service.ts'

const DAY_MS = 86_400_000

/** The gateway's clock is not ours: what begins at midnight may stand in its record on either side. */
const SLACK_MS = 3_600_000

interface Range {
  from: Date
  to: Date
}

/**
 * Holds a day (UTC) of the gateways' record against ours and writes down where they differ. Run
 * again it finds the same rows, and resolves those that have healed. Answers how many are open, or
 * null when a gateway could not be asked.
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
      await save(db, day, gateway, unknown)
      return null
    }
    const all = [...unknown, ...problems]
    const still = all.map(({ problem, ref }) => `${problem} ${ref}`)
    await save(db, day, gateway, all, still)
    open += all.length
  }
  return open
}

/** Every gateway that can have moved money for the store on that day. */
async function listGateways(payments: Payments, db: Db, range: Range): Promise<GatewayName[]> {
  const [accounts, used] = await Promise.all([
    queries.listAccounts(db),
    listGatewaysUsed(db, range),
  ])
  const names = new Set([
    payments.deps.gateway,
    ...[...accounts, ...used].map((each) => each.gateway),
  ])
  return GATEWAYS.filter((name) => names.has(name))
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
  const returned = await findReturned(gateway, theirs, ours)
  if (returned === null) return null
  const kept = theirs.filter((each) => !returned.has(each.ref))
  return [...missingHere(kept, ours, range), ...missingThere(theirs, ours, range)]
}

const PAID_OR_OPEN: readonly OurRecord['state'][] = ['approved', 'begun', 'unknown']

/**
 * What came to nothing here, and stands there all the same: was it settled when it was taken back, then it
 * was refunded, under its own reference and perhaps on another day. Null: the gateway cannot be asked.
 */
async function findReturned(gateway: Gateway, theirs: DayRecord[], ours: OurRecord[]) {
  const standing = new Set(theirs.filter((each) => each.stands).map((each) => each.ref))
  const returned = new Set<string>()
  for (const { id, state } of ours) {
    if (PAID_OR_OPEN.includes(state) || !standing.has(id)) continue
    const lookup = await gateway.lookup({ ref: id })
    if (lookup.found === 'unreachable') return null
    if (lookup.state === 'refunded') returned.add(id)
  }
  return returned
}

const isWithin = ({ from, to }: Range, { created_at }: { created_at: string }) =>
  Date.parse(created_at) >= from.getTime() && Date.parse(created_at) < to.getTime()

/** Money that moved there: we know of it, and of the same amount, or that is a problem. */
function missingHere(theirs: DayRecord[], ours: OurRecord[], range: Range) {
  const known = new Map(ours.map((each) => [each.id, each]))
  return theirs.flatMap((record): NewDiscrepancy[] => {
    if (!record.stands || !isWithin(range, record)) return []
    const our = known.get(record.ref)
    const { ref, txn_id, amount_cents: gateway_cents } = record
    const facts = { ref, txn_id, order_id: our?.order_id ?? null, gateway_cents }
    // Who has not heard the end of an attempt is asking about it; after hours that is a problem of its own.
    if (our?.state === 'begun' || our?.state === 'unknown') return []
    if (our?.state !== 'approved') return [{ problem: 'missing_here', our_cents: null, ...facts }]
    const our_cents = our.released_cents ?? our.amount_cents
    return our_cents === gateway_cents ? [] : [{ problem: 'amount_differs', our_cents, ...facts }]
  })
}

/** Money that we say moved: it stands there too, or we took it back ourselves. */
function missingThere(theirs: DayRecord[], ours: OurRecord[], range: Range) {
  const standing = new Set(theirs.filter((each) => each.stands).map((each) => each.ref))
  return ours
    .filter((our) => our.state === 'approved' && !our.undone && !standing.has(our.id))
    .filter((our) => our.kind !== 'void' && our.kind !== 'release' && isWithin(range, our))
    .map(({ id, txn_id, order_id, amount_cents }): NewDiscrepancy => {
      const facts = { ref: id, txn_id, order_id, our_cents: amount_cents, gateway_cents: null }
      return { problem: 'missing_there', ...facts }
    })
}

/** Writes down what was found. Of what was found before, that is resolved which is not there still. */
const save = (
  db: TenantDb,
  day: string,
  gateway: GatewayName,
  problems: NewDiscrepancy[],
  still?: string[],
) =>
  db.transaction('payments: compare a day', async (tx) => {
    if (still !== undefined) await queries.resolveOthers(tx, day, gateway, still)
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

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { isUuid } from '../../kernel/schema.ts'
import { factsOf, reveal } from './card.ts'
import {
  type Charge,
  type Gateway,
  neverSeen,
  refused,
  resultOf,
  type ShipTo,
  type Source,
  unknownResult,
  unreachable,
} from './gateway.ts'
import type { CardFacts, GatewayResult, Lookup, LookupState } from './schema.ts'
import * as queries from './sim-queries.ts'

/** What a card does when it is charged: a response code, or a time-out with or without a charge. */
const TRIGGERS: Readonly<Record<string, string>> = {
  '4000000000000002': '200',
  '4000000000009995': '202',
  '4000000000000069': '223',
  '4000000000000127': '225',
  '4000000000000119': '400',
  '4000000000000259': 'disputed',
  '4000000000005126': 'silent_after',
  '4000000000005134': 'silent_before',
}
const APPROVES = '100'

/** Long enough to be felt in a drill, and over within the two seconds that were promised. */
const SILENCE_MS = 1_500

export interface SimulatedOptions {
  /** Its own handle: what it commits stands, whatever becomes of the caller's work. */
  db: TenantDb
  /** Keys the fingerprints of its vault. */
  key: Buffer
  silenceMs?: number
  /** Told of a fault of its books, which its callers only see as silence. */
  onFault: (error: unknown) => void
}

interface Presented {
  card: CardFacts
  fingerprint: string
  behaviour: string
  cvv: string | null
}

/**
 * A gateway that is no further away than our database, and that behaves as one that is: it keeps
 * its own books, commits on its own, and answers the same card always in the same way.
 */
export function openSimulated(options: SimulatedOptions): Gateway {
  const { db, key, silenceMs = SILENCE_MS, onFault } = options
  // A fault of its books is what a gateway that broke down half-way looks like from outside.
  const instead =
    <T>(answer: T) =>
    (error: unknown): T => {
      onFault(error)
      return answer
    }
  const answered = (work: Promise<GatewayResult>) => work.catch(instead(unknownResult()))
  const charge = async (wanted: Charge, isSale: boolean): Promise<GatewayResult> => {
    if (!isAmount(wanted.amount_cents)) return refused('amount_exceeded')
    const presented = await present(db, key, wanted.source)
    if (presented === null) return refused('card_not_supported', { retry_class: 'hard' })
    const isSilent = presented.behaviour.startsWith('silent')
    if (presented.behaviour === 'silent_before') return silence(silenceMs)
    const { row, isNew } =
      isSale || wanted.vault === true
        ? await db.transaction('simulated: charge', (tx) => book(tx, wanted, presented, isSale))
        : await book(db, wanted, presented, isSale)
    if (!isNew && row.amount_cents !== wanted.amount_cents) return refused('duplicate')
    return isNew && isSilent ? silence(silenceMs) : resultOfRow(row)
  }
  return {
    name: 'simulated',
    authorize: (wanted) => answered(charge(wanted, false)),
    sale: (wanted) => answered(charge(wanted, true)),
    vaultCharge: ({ vault_id, initial_txn_id, ...wanted }) =>
      answered(
        charge({ ...wanted, source: { vault_id, initial_txn_id: initial_txn_id ?? null } }, true),
      ),
    vaultAdd: ({ source }) => answered(keep(db, key, source)),
    capture: (what) => answered(capture(db, what)),
    void: (what) => answered(change(db, what.txn_id, voidCharge)),
    refund: (what) => answered(change(db, what.txn_id, (tx, row) => refund(tx, row, what))),
    lookup: (what) => lookup(db, what).catch(instead(unreachable())),
    listRecords: (from, to) => queries.listRecords(db, from, to).catch(instead(null)),
  }
}

async function silence(ms: number): Promise<GatewayResult> {
  await delay(ms)
  return unknownResult()
}

/** Null: a token or a kept card that it does not know. */
async function present(db: TenantDb, key: Buffer, source: Source): Promise<Presented | null> {
  if ('card' in source) {
    const { number, cvv } = reveal(source.card)
    return {
      card: factsOf(source.card),
      fingerprint: source.card.fingerprint(key),
      behaviour: TRIGGERS[number] ?? APPROVES,
      cvv: cvv === null ? null : cvv === '999' ? 'M' : 'N',
    }
  }
  // A token stands for a card that was kept, whoever kept it.
  const id = 'vault_id' in source ? source.vault_id : source.payment_token
  const kept = isUuid(id) ? await queries.findVault(db, id) : null
  return kept && { ...kept, cvv: null }
}

async function keep(db: TenantDb, key: Buffer, source: Source): Promise<GatewayResult> {
  const presented = await present(db, key, source)
  if (presented === null) return refused('card_not_supported', { retry_class: 'hard' })
  const vault_id = randomUUID()
  await queries.insertVault(db, { ...presented, vault_id })
  return resultOf('100', { vault_id, card: presented.card })
}

/** Writes the charge down, once for each reference. */
async function book(db: Db, wanted: Charge, presented: Presented, isSale: boolean) {
  const { behaviour, card, fingerprint, cvv } = presented
  const code = /^\d+$/.test(behaviour) ? behaviour : APPROVES
  const { outcome } = resultOf(code)
  if (outcome === 'unknown') throw new Error(`a simulated charge cannot end in ${code}`)
  const keeps = wanted.vault === true && outcome === 'approved'
  const vault_id = keeps ? randomUUID() : null
  const row = await queries.insertCharge(db, {
    ref: wanted.ref,
    amount_cents: wanted.amount_cents,
    currency: wanted.currency,
    outcome,
    code,
    auth_code: outcome === 'approved' ? wanted.ref.slice(0, 6).toUpperCase() : null,
    avs: addressCheck(wanted.ship_to),
    cvv,
    card,
    fingerprint,
    vault_id,
    isDisputed: behaviour === 'disputed',
  })
  if (row === null) return { row: await queries.getByRef(db, wanted.ref), isNew: false }
  if (vault_id !== null) await queries.insertVault(db, { ...presented, vault_id })
  if (!isSale || outcome !== 'approved') return { row, isNew: true }
  const { txn_id, ref, amount_cents } = row
  await queries.capture(db, { txn_id, ref, amount_cents })
  return { row, isNew: true }
}

/** The test triggers of NMI. Without an address there is nothing to check. */
function addressCheck(to: ShipTo | null | undefined): string | null {
  if (!to) return null
  const [street, zip] = [to.line1 === '888', to.postal_code === '77777']
  return street && zip ? 'Y' : street ? 'A' : zip ? 'Z' : 'N'
}

type Change = (tx: Tx, row: queries.ChargeRow) => Promise<GatewayResult>

/** Whatever happens to a charge happens under its lock. */
async function change(db: TenantDb, txn_id: string, apply: Change): Promise<GatewayResult> {
  if (!isUuid(txn_id)) return refused('invalid_state')
  return db.transaction('simulated: change', async (tx) => {
    const row = await queries.lockCharge(tx, txn_id)
    return row === null || row.outcome !== 'approved' ? refused('invalid_state') : apply(tx, row)
  })
}

interface Part {
  ref: string
  amount_cents: number
}

const isAmount = (cents: number) => Number.isSafeInteger(cents) && cents > 0

async function capture(db: Db, what: Part & { txn_id: string }): Promise<GatewayResult> {
  const { txn_id, ref, amount_cents } = what
  if (!isUuid(txn_id)) return refused('invalid_state')
  const captured = isAmount(amount_cents) ? await queries.capture(db, what) : null
  if (captured !== null) return resultOfRow(captured)
  const row = await queries.findByTxn(db, txn_id)
  if (row === null || row.outcome !== 'approved') return refused('invalid_state')
  const before = await queries.findEntry(db, ref, 'capture')
  if (before !== null) return repeated(before, row, amount_cents)
  const isOpen = row.voided_at === null && row.captured_at === null
  return refused(isOpen ? 'amount_exceeded' : 'invalid_state')
}

async function voidCharge(tx: Tx, row: queries.ChargeRow) {
  if (row.voided_at !== null) return resultOfRow(row)
  if (row.is_settled || row.refunded_cents > 0) return refused('already_settled')
  await queries.setVoided(tx, row.txn_id)
  const { ref, amount_cents } = row
  await queries.insertEntry(tx, row, { ref, kind: 'void', amount_cents })
  return resultOfRow(row)
}

async function refund(tx: Tx, row: queries.ChargeRow, { ref, amount_cents }: Part) {
  const before = await queries.findEntry(tx, ref, 'refund')
  if (before !== null) return repeated(before, row, amount_cents)
  if (row.voided_at !== null || row.captured_at === null) return refused('invalid_state')
  const left = row.captured_cents - row.refunded_cents
  if (!isAmount(amount_cents) || amount_cents > left) return refused('amount_exceeded')
  await queries.addRefunded(tx, row.txn_id, amount_cents)
  await queries.insertEntry(tx, row, { ref, kind: 'refund', amount_cents })
  return resultOfRow(row)
}

/** The same reference again: the same answer, unless it asks for something else. */
const repeated = (
  before: { txn_id: string; amount_cents: number },
  row: queries.ChargeRow,
  amount_cents: number,
) =>
  before.txn_id === row.txn_id && before.amount_cents === amount_cents
    ? resultOfRow(row)
    : refused('duplicate')

const resultOfRow = (row: queries.ChargeRow): GatewayResult => {
  const { txn_id, auth_code, avs, cvv, vault_id, card } = row
  return resultOf(row.code, { txn_id, auth_code, avs, cvv, vault_id, card })
}

async function lookup(db: TenantDb, what: { ref: string } | { txn_id: string }): Promise<Lookup> {
  const id = 'ref' in what ? what.ref : what.txn_id
  if (!isUuid(id)) return neverSeen()
  const row = 'ref' in what ? await queries.findByRef(db, id) : await queries.findByTxn(db, id)
  if (row !== null) return describe(db, row)
  const refunded = 'ref' in what ? await queries.findEntry(db, id, 'refund') : null
  if (refunded === null) return neverSeen()
  const { txn_id, amount_cents } = refunded
  const refund = { found: 'yes', state: 'refunded', txn_id, code: APPROVES } as const
  return { ...neverSeen(), ...refund, amount_cents, refunded_cents: amount_cents }
}

async function describe(db: TenantDb, row: queries.ChargeRow): Promise<Lookup> {
  const refunds = await queries.listRefunds(db, row.txn_id)
  const { txn_id, auth_code, avs, cvv, code, card, vault_id } = row
  return {
    found: 'yes',
    state: stateOf(row),
    amount_cents: row.amount_cents,
    captured_cents: row.voided_at === null ? row.captured_cents : 0,
    refunded_cents: row.refunded_cents,
    ...{ txn_id, auth_code, avs, cvv, code, card, vault_id },
    refunds: refunds.map(({ ref, amount_cents }) => ({ ref, amount_cents, outcome: 'approved' })),
    disputed: row.is_disputed,
  }
}

function stateOf(row: queries.ChargeRow): LookupState {
  if (row.outcome !== 'approved') return 'failed'
  if (row.voided_at !== null) return 'voided'
  if (row.captured_at === null) return 'authorized'
  if (row.refunded_cents > 0 && row.refunded_cents === row.captured_cents) return 'refunded'
  return row.is_settled ? 'settled' : 'captured'
}

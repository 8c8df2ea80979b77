import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Db, TenantDb, Tx } from '../../../../db/database.ts'
import { isUuid } from '../../../../kernel/schema.ts'
import { factsOf, reveal } from '../card.ts'
import type {
  Charge,
  Gateway,
  LookupTarget,
  ShipTo,
  Source,
  TransactionAmount,
} from '../gateway.ts'
import { noRecord, unknownResult, unreachable } from '../results.ts'
import type { CardFacts, GatewayResult, Lookup, LookupState } from '../schema.ts'
import { APPROVES, networkCodes, refused, resultOfCode, SIMULATED_VOCABULARY } from './meanings.ts'
import * as queries from './queries.ts'

/** How each test card behaves: a response code, or a time-out with or without a charge. */
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

/**
 * Cards that are approved when they are typed, and follow a script once they are stored: a response code for each
 * charge of the stored card, and then approvals. A star repeats the last code for ever.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  '4000000000000341': '200*',
  '4000000000002685': '200,200',
  '4000000000000911': '250*',
  '4000000000002610': '261',
  '4000000000002628': '262',
  '4000000000002636': '263*',
  '4000000000002644': '264',
  '4000000000002651': '202',
}

/** How the vault marks the behaviour of a card with a script. */
const SCRIPT = 'script:'

/**
 * How long a time-out takes: long enough to be noticed in a drill, and within the promised two
 * seconds.
 */
const TIMEOUT_MS = 1_500

export interface SimulatedOptions {
  /** A handle of its own: its commits are independent of the caller's transactions. */
  db: TenantDb
  /** The key of the fingerprints in its vault. */
  key: Buffer
  timeoutMs?: number
  /** Reports an error of its tables, which callers only see as an unknown result. */
  onFault: (error: unknown) => void
}

/** A card as it is presented to the gateway: typed, or by its token. */
interface PresentedCard {
  card: CardFacts
  fingerprint: string
  behaviour: string
  /** How it behaves once it is stored. */
  stored: string
  /** The stored card that is charged; null for one that was typed. */
  charged_vault_id: string | null
  cvv: string | null
}

/**
 * Opens the simulated gateway: it uses our database and behaves like a real one. It has its own tables and commits
 * separately. A typed card always gets the same reply; a stored one may follow a script.
 */
export function openSimulated(options: SimulatedOptions): Gateway {
  const { db, key, timeoutMs = TIMEOUT_MS, onFault } = options
  // To its callers an error of its tables looks like a gateway that broke down half-way.
  const orElse =
    <T>(answer: T) =>
    (error: unknown): T => {
      onFault(error)
      return answer
    }
  const orUnknown = (work: Promise<GatewayResult>) => work.catch(orElse(unknownResult()))
  const makeCharge = async (charge: Charge, isSale: boolean): Promise<GatewayResult> => {
    if (!isAmount(charge.amount_cents)) return refused('amount_exceeded')
    const card = await presentCard(db, key, charge.source)
    if (card === null) return refused('card_not_supported', { retry_class: 'hard' })
    const isSilent = card.behaviour.startsWith('silent')
    if (card.behaviour === 'silent_before') return timeOut(timeoutMs)
    const { row, isNew } =
      isSale || charge.vault === true
        ? await db.transaction('simulated: charge', (tx) => writeCharge(tx, charge, card, isSale))
        : await writeCharge(db, charge, card, isSale)
    if (!isNew && row.amount_cents !== charge.amount_cents) return refused('duplicate')
    return isNew && isSilent ? timeOut(timeoutMs) : resultOfRow(row)
  }
  return {
    name: 'simulated',
    ...SIMULATED_VOCABULARY,
    authorize: (charge) => orUnknown(makeCharge(charge, false)),
    sale: (charge) => orUnknown(makeCharge(charge, true)),
    vaultCharge: ({ vault_id, initial_txn_id, ...charge }) => {
      const source = { vault_id, initial_txn_id: initial_txn_id ?? null }
      return orUnknown(makeCharge({ ...charge, source }, true))
    },
    verify: ({ source, ship_to }) => orUnknown(verifyCard(options, source, ship_to)),
    vaultAdd: ({ source }) => orUnknown(storeCard(db, key, source)),
    vaultDelete: ({ vault_id }) => orUnknown(deleteCard(db, vault_id)),
    capture: (amount) => orUnknown(capture(db, amount)),
    void: ({ txn_id }) => orUnknown(changeCharge(db, txn_id, voidCharge)),
    refund: (amount) =>
      orUnknown(changeCharge(db, amount.txn_id, (tx, row) => refund(tx, row, amount))),
    lookup: (target) => lookup(db, target).catch(orElse(unreachable())),
    listRecords: (from, to) => queries.listRecords(db, from, to).catch(orElse(null)),
  }
}

async function timeOut(ms: number): Promise<GatewayResult> {
  await delay(ms)
  return unknownResult()
}

/** Reads the presented card. Returns null for a token or a stored card that the gateway does not know. */
async function presentCard(
  db: TenantDb,
  key: Buffer,
  source: Source,
): Promise<PresentedCard | null> {
  if ('card' in source) {
    const { number, cvv } = reveal(source.card)
    const behaviour = TRIGGERS[number] ?? APPROVES
    const script = SCRIPTS[number]
    return {
      card: factsOf(source.card),
      fingerprint: source.card.fingerprint(key),
      behaviour,
      stored: script === undefined ? behaviour : SCRIPT + script,
      charged_vault_id: null,
      cvv: cvv === null ? null : cvv === '999' ? 'M' : 'N',
    }
  }
  // A payment token of this gateway is the id of a stored card.
  const id = 'vault_id' in source ? source.vault_id : source.payment_token
  const found = isUuid(id) ? await queries.findVault(db, id) : null
  if (found === null) return null
  const { card, fingerprint, behaviour: stored } = found
  const behaviour = await scripted(db, id, stored)
  return { card, fingerprint, behaviour, stored, charged_vault_id: id, cvv: null }
}

/** Returns the behaviour of a stored card at its next charge. */
async function scripted(db: TenantDb, vault_id: string, stored: string): Promise<string> {
  if (!stored.startsWith(SCRIPT)) return stored
  const codes = stored.slice(SCRIPT.length).split(',')
  const { charges } = await queries.countCharges(db, vault_id)
  const last = codes.at(-1) ?? ''
  const code = codes[charges] ?? (last.endsWith('*') ? last : APPROVES)
  return code.replace('*', '')
}

async function storeCard(db: TenantDb, key: Buffer, source: Source): Promise<GatewayResult> {
  const presented = await presentCard(db, key, source)
  if (presented === null) return refused('card_not_supported', { retry_class: 'hard' })
  const vault_id = randomUUID()
  await queries.insertVault(db, { ...presented, behaviour: presented.stored, vault_id })
  return resultOfCode(APPROVES, { vault_id, card: presented.card })
}

/**
 * Verifies a card: declines one that declines every charge, and stores any other. Cards that follow a
 * script decline only later charges.
 */
async function verifyCard(
  { db, key, timeoutMs = TIMEOUT_MS }: SimulatedOptions,
  source: Source,
  to: ShipTo | null | undefined,
): Promise<GatewayResult> {
  const presented = await presentCard(db, key, source)
  if (presented === null) return refused('card_not_supported', { retry_class: 'hard' })
  const { behaviour, stored, card, cvv } = presented
  if (behaviour.startsWith('silent')) return timeOut(timeoutMs)
  const facts = { card, cvv, avs: addressCheck(to), ...networkCodes(behaviour) }
  if (/^\d+$/.test(behaviour) && behaviour !== APPROVES) return resultOfCode(behaviour, facts)
  const vault_id = randomUUID()
  await queries.insertVault(db, { ...presented, behaviour: stored, vault_id })
  return resultOfCode(APPROVES, { ...facts, vault_id })
}

async function deleteCard(db: TenantDb, vault_id: string): Promise<GatewayResult> {
  if (isUuid(vault_id)) await queries.deleteVault(db, vault_id)
  return resultOfCode(APPROVES)
}

/** Records the charge, once for each reference. */
async function writeCharge(db: Db, charge: Charge, presented: PresentedCard, isSale: boolean) {
  const { behaviour, card, fingerprint, cvv, stored, charged_vault_id } = presented
  const code = /^\d+$/.test(behaviour) ? behaviour : APPROVES
  const { outcome } = resultOfCode(code)
  if (outcome === 'unknown') throw new Error(`a simulated charge cannot end in ${code}`)
  const storesCard = charge.vault === true && outcome === 'approved'
  const vault_id = storesCard ? randomUUID() : null
  const row = await queries.insertCharge(db, {
    ref: charge.ref,
    amount_cents: charge.amount_cents,
    currency: charge.currency,
    outcome,
    code,
    auth_code: outcome === 'approved' ? charge.ref.slice(-6).toUpperCase() : null,
    avs: addressCheck(charge.ship_to),
    cvv,
    card,
    fingerprint,
    vault_id,
    charged_vault_id,
    isDisputed: behaviour === 'disputed',
  })
  if (row === null) return { row: await queries.getByRef(db, charge.ref), isNew: false }
  if (vault_id !== null)
    await queries.insertVault(db, { card, fingerprint, behaviour: stored, vault_id })
  if (!isSale || outcome !== 'approved') return { row, isNew: true }
  const { txn_id, ref, amount_cents } = row
  await queries.capture(db, { txn_id, ref, amount_cents })
  return { row, isNew: true }
}

/** Checks an address by test values. Returns null without an address. */
function addressCheck(to: ShipTo | null | undefined): string | null {
  if (!to) return null
  const [street, zip] = [to.line1 === '888', to.postal_code === '77777']
  return street && zip ? 'Y' : street ? 'A' : zip ? 'Z' : 'N'
}

type Change = (tx: Tx, row: queries.ChargeRow) => Promise<GatewayResult>

/** Changes an approved charge under its lock. */
async function changeCharge(db: TenantDb, txn_id: string, apply: Change): Promise<GatewayResult> {
  if (!isUuid(txn_id)) return refused('invalid_state')
  return db.transaction('simulated: change', async (tx) => {
    const row = await queries.lockCharge(tx, txn_id)
    return row === null || row.outcome !== 'approved' ? refused('invalid_state') : apply(tx, row)
  })
}

const isAmount = (cents: number) => Number.isSafeInteger(cents) && cents > 0

async function capture(db: Db, amount: TransactionAmount): Promise<GatewayResult> {
  const { txn_id, ref, amount_cents } = amount
  if (!isUuid(txn_id)) return refused('invalid_state')
  const captured = isAmount(amount_cents) ? await queries.capture(db, amount) : null
  if (captured !== null) return resultOfRow(captured)
  const row = await queries.findByTxn(db, txn_id)
  if (row === null || row.outcome !== 'approved') return refused('invalid_state')
  const before = await queries.findEntry(db, ref, 'capture')
  if (before !== null) return repeatResult(before, row, amount_cents)
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

async function refund(tx: Tx, row: queries.ChargeRow, { ref, amount_cents }: TransactionAmount) {
  const before = await queries.findEntry(tx, ref, 'refund')
  if (before !== null) return repeatResult(before, row, amount_cents)
  if (row.voided_at !== null || row.captured_at === null) return refused('invalid_state')
  const left = row.captured_cents - row.refunded_cents
  if (!isAmount(amount_cents) || amount_cents > left) return refused('amount_exceeded')
  await queries.addRefunded(tx, row.txn_id, amount_cents)
  await queries.insertEntry(tx, row, { ref, kind: 'refund', amount_cents })
  return resultOfRow(row)
}

/** Replies to a repeated reference: as before, or as a duplicate if the request differs. */
const repeatResult = (
  before: { txn_id: string; amount_cents: number },
  row: queries.ChargeRow,
  amount_cents: number,
) =>
  before.txn_id === row.txn_id && before.amount_cents === amount_cents
    ? resultOfRow(row)
    : refused('duplicate')

const resultOfRow = (row: queries.ChargeRow): GatewayResult => {
  const { txn_id, auth_code, avs, cvv, vault_id, card } = row
  const facts = { txn_id, auth_code, avs, cvv, vault_id, card }
  return resultOfCode(row.code, { ...facts, ...networkCodes(row.code) })
}

async function lookup(db: TenantDb, target: LookupTarget): Promise<Lookup> {
  const id = 'ref' in target ? target.ref : target.txn_id
  if (!isUuid(id)) return noRecord()
  const row = 'ref' in target ? await queries.findByRef(db, id) : await queries.findByTxn(db, id)
  if (row !== null) return lookupOfRow(db, row)
  const refunded = 'ref' in target ? await queries.findEntry(db, id, 'refund') : null
  if (refunded === null) return noRecord()
  const { txn_id, amount_cents } = refunded
  return {
    ...noRecord(),
    found: 'yes',
    state: 'refunded',
    txn_id,
    code: APPROVES,
    amount_cents,
    refunded_cents: amount_cents,
  }
}

async function lookupOfRow(db: TenantDb, row: queries.ChargeRow): Promise<Lookup> {
  const refunds = await queries.listRefunds(db, row.txn_id)
  const { txn_id, auth_code, avs, cvv, code, card, vault_id } = row
  return {
    found: 'yes',
    state: stateOf(row),
    amount_cents: row.amount_cents,
    captured_cents: row.voided_at === null ? row.captured_cents : 0,
    refunded_cents: row.refunded_cents,
    txn_id,
    auth_code,
    avs,
    cvv,
    code,
    ...networkCodes(code),
    card,
    vault_id,
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

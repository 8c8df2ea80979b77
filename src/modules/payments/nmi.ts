import { sha256 } from '../../kernel/tokens.ts'
import { type BreakerOptions, createBreakers } from './breaker.ts'
import { factsOf, reveal } from './card.ts'
import {
  type Charge,
  type DayRecord,
  type Gateway,
  notSent,
  refused,
  resultOf,
  resultOfLookup,
  type ShipTo,
  type Source,
  unknownResult,
  unreachable,
} from './gateway.ts'
import { toDecimal } from './nmi-amount.ts'
import { type Answered, type Asked, readAnswer } from './nmi-answer.ts'
import { dayRecordOf, lookupOf, type Recorded, readRecord } from './nmi-query.ts'
import { type Exchange, openWire, type WireOptions } from './nmi-wire.ts'
import type { GatewayResult, Lookup, Silence } from './schema.ts'

export interface NmiGateways {
  /** A store's way to its account; without a key nothing is sent. */
  open(account: { securityKey: string | null; tenant: string }): Gateway
  close(): Promise<void>
}

type Fields = Record<string, string>
interface Send {
  (path: string, fields: Fields): Promise<Exchange>
  /** Has it on record that a call got no answer that can be used. */
  tell(path: string, why: string): void
  /** Has it on record that an answer puts the fault on the account or the processor. */
  alarm(path: string, why: string): void
}

const TRANSACT = '/api/transact.php'
const QUERY = '/api/query.php'
const CALLS: Readonly<Record<string, string>> = { [TRANSACT]: 'transaction', [QUERY]: 'lookup' }

/** Transactions of a page of the record, and pages since a day: more than a store has in a month. */
const PAGE_ROWS = 100
const PAGES_MAX = 5_000

/** Longer than any field of a payment, shorter than what NMI refuses. */
const FIELD_LENGTH_MAX = 255

interface NmiOptions extends WireOptions {
  breaker?: BreakerOptions
  onSilence?: (silence: Silence) => void
  onTrouble?: (trouble: Silence) => void
}

/** All stores share the connections; each account has its own breaker. */
export function openNmiGateways(url: string, options: NmiOptions = {}): NmiGateways {
  const wire = openWire(url, options)
  const breakers = createBreakers(options.breaker)
  const post = async (securityKey: string, path: string, fields: Fields, deadline: AbortSignal) => {
    const account = sha256(securityKey).toString('hex')
    // Those that made it so are on record; these would only repeat them, for each shopper.
    if (!breakers.allows(account)) return RESTING
    const sent = new URLSearchParams({ security_key: securityKey, ...fields })
    const exchange = await wire.post(path, sent, deadline)
    if (exchange.kind === 'answer') breakers.succeeded(account)
    else if (exchange.kind === 'not_sent' || exchange.isOutage) breakers.failed(account)
    return exchange
  }
  const sender = (securityKey: string | null, tenant: string): Send => {
    const deadline = wire.deadline()
    const about = (path: string, why: string): Silence => {
      return { gateway: 'nmi', tenant, call: CALLS[path] ?? path, why }
    }
    const tell: Send['tell'] = (path, why) => options.onSilence?.(about(path, why))
    const alarm: Send['alarm'] = (path, why) => options.onTrouble?.(about(path, why))
    const send = async (path: string, fields: Fields): Promise<Exchange> => {
      const exchange =
        securityKey === null ? KEYLESS : await post(securityKey, path, fields, deadline)
      if (exchange.kind !== 'answer' && exchange !== RESTING) tell(path, exchange.why)
      return exchange
    }
    return Object.assign(send, { tell, alarm })
  }
  return {
    open: ({ securityKey, tenant }) => createGateway(() => sender(securityKey, tenant), tenant),
    close: () => wire.close(),
  }
}

const RESTING: Exchange = { kind: 'not_sent', why: 'resting' }
const KEYLESS: Exchange = { kind: 'not_sent', why: 'no_security_key' }

/** `begin` makes the way for one task: all calls that it takes share one deadline. */
function createGateway(begin: () => Send, tenant: string): Gateway {
  const mark = { merchant_defined_field_1: tenant }
  const charge = (type: 'auth' | 'sale', wanted: Charge) =>
    paying(wanted, () => sendCharge(begin(), { type, ...mark }, wanted))
  return {
    name: 'nmi',
    authorize: (wanted) => charge('auth', wanted),
    sale: (wanted) => charge('sale', wanted),
    vaultCharge: ({ vault_id, initial_txn_id, ...wanted }) =>
      // Without the first transaction's id it is the merchant's initiative all the same.
      charge('sale', { ...wanted, source: { vault_id, initial_txn_id: initial_txn_id ?? '' } }),
    async vaultAdd({ ref, source }) {
      const fields = { customer_vault: 'add_customer', orderid: ref, ...sourceFields(source) }
      const { result } = await call(begin(), fields, { ref })
      // An approval that names no token is none.
      if (result.outcome === 'approved' && result.vault_id === null) return unknownResult()
      return { ...result, card: 'card' in source ? factsOf(source.card) : null }
    },
    capture: (what) =>
      paying(what, async (amount) => {
        const fields = { type: 'capture', transactionid: what.txn_id, amount }
        return (await call(begin(), fields, { txn_id: what.txn_id })).result
      }),
    void: ({ txn_id }) => sendVoid(begin(), txn_id),
    refund: (what) =>
      paying(what, async (amount) => {
        const { ref, txn_id, currency } = what
        const fields = { type: 'refund', transactionid: txn_id, orderid: ref, currency, amount }
        return (await call(begin(), { ...fields, ...mark }, { ref })).result
      }),
    lookup: (what) => lookup(begin(), what),
    listRecords: (from, to) => listRecords(begin, tenant, from, to),
  }
}

async function sendCharge(send: Send, head: Fields, wanted: Charge): Promise<GatewayResult> {
  const fields = { ...head, ...chargeFields(wanted) }
  const { ref, currency } = wanted
  const { result, authorised_cents } = await call(send, fields, { ref, currency })
  const card = 'card' in wanted.source ? factsOf(wanted.source.card) : result.card
  const isPart = authorised_cents !== null && authorised_cents < wanted.amount_cents
  if (result.outcome !== 'approved' || !isPart) return { ...result, card }
  // A part of the money is no payment. It goes back, and the card had not enough.
  const undone = await sendVoid(send, result.txn_id ?? '')
  return undone.outcome === 'approved' ? resultOf('202', { card }) : unknownResult({ card })
}

async function sendVoid(send: Send, txn_id: string): Promise<GatewayResult> {
  const { result } = await call(send, { type: 'void', transactionid: txn_id }, { txn_id })
  return result.reason === 'already_settled' ? explainVoid(await lookup(send, { txn_id })) : result
}

async function lookup(send: Send, what: { ref: string } | { txn_id: string }): Promise<Lookup> {
  const isRef = 'ref' in what
  const record = await query(send, isRef ? { order_id: what.ref } : { transaction_id: what.txn_id })
  if (record === null) return unreachable()
  // Only what was asked for, however generously the gateway matches.
  return lookupOf(
    record.filter((each) => (isRef ? each.ref === what.ref : each.txn_id === what.txn_id)),
  )
}

/** What is no amount is not sent. */
async function paying(
  { amount_cents, currency }: { amount_cents: number; currency: string },
  work: (amount: string) => Promise<GatewayResult>,
): Promise<GatewayResult> {
  const isAmount = Number.isSafeInteger(amount_cents) && amount_cents > 0
  return isAmount ? work(toDecimal(amount_cents, currency)) : refused('amount_exceeded')
}

/** Sends once. What the gateway takes for a duplicate is looked up, and never sent again. */
async function call(send: Send, fields: Fields, asked: Asked): Promise<Answered> {
  const exchange = await send(TRANSACT, fields)
  const plain = (result: GatewayResult) => ({ result, authorised_cents: null, trouble: null })
  if (exchange.kind === 'not_sent') return plain(notSent())
  if (exchange.kind === 'lost') return plain(unknownResult())
  const answered = readAnswer(exchange.body, asked)
  const { outcome, reason, code, txn_id } = answered.result
  if (outcome === 'unknown') send.tell(TRANSACT, code === null ? 'unreadable' : `code_${code}`)
  if (answered.trouble !== null) send.alarm(TRANSACT, answered.trouble)
  if (reason === 'duplicate' && asked.ref !== undefined) {
    const found = await lookup(send, { ref: asked.ref })
    if (found.found === 'no') return plain(refused('processing_error', { code }))
    return { ...plain(resultOfLookup(found)), authorised_cents: found.amount_cents || null }
  }
  // An approval that names no transaction could never be captured or given back.
  const isNameless = outcome === 'approved' && txn_id === null && 'amount' in fields
  return isNameless ? plain(unknownResult()) : answered
}

/** NMI refuses to void what is settled and what is voided already in the same words. */
function explainVoid(found: Lookup): GatewayResult {
  if (found.found !== 'yes') return unknownResult()
  if (found.state === 'voided') return resultOf('100', { txn_id: found.txn_id })
  const isSettled = found.state === 'settled' || found.state === 'refunded'
  return refused(isSettled ? 'already_settled' : 'invalid_state', { txn_id: found.txn_id })
}

function chargeFields(wanted: Charge): Fields {
  const { order_number, order_id } = wanted
  const optional = {
    email: wanted.email,
    ipaddress: wanted.ip,
    ...addressFields(wanted.ship_to),
  }
  return {
    amount: toDecimal(wanted.amount_cents, wanted.currency),
    currency: wanted.currency,
    orderid: wanted.ref,
    orderdescription: `Order ${order_number ?? order_id}`,
    merchant_defined_field_2: order_id,
    ...present(optional),
    ...sourceFields(wanted.source),
    ...(wanted.vault ? VAULT_FIRST : {}),
  }
}

/** The shopper is present and lets the card be kept. */
const VAULT_FIRST = {
  customer_vault: 'add_customer',
  initiated_by: 'customer',
  stored_credential_indicator: 'stored',
  billing_method: 'recurring',
}

function sourceFields(source: Source): Fields {
  if ('card' in source) {
    const { number, cvv } = reveal(source.card)
    const { exp_month, exp_year } = source.card
    const ccexp = `${String(exp_month).padStart(2, '0')}${String(exp_year).slice(-2)}`
    return { payment: 'creditcard', ccnumber: number, ccexp, ...(cvv === null ? {} : { cvv }) }
  }
  if ('payment_token' in source) return { payment_token: source.payment_token }
  const { vault_id, initial_txn_id } = source
  const isMerchant = initial_txn_id !== undefined && initial_txn_id !== null
  return {
    customer_vault_id: vault_id,
    stored_credential_indicator: 'used',
    initiated_by: isMerchant ? 'merchant' : 'customer',
    ...(isMerchant ? { billing_method: 'recurring' } : {}),
    ...(initial_txn_id ? { initial_transaction_id: initial_txn_id } : {}),
  }
}

/** There is one address: what is shipped to is what the issuer is asked about. */
function addressFields(to: ShipTo | null | undefined) {
  const address = {
    address1: to?.line1,
    address2: to?.line2,
    city: to?.city,
    state: to?.state,
    zip: to?.postal_code,
    country: to?.country,
  }
  const shipping = Object.entries(address).map(([name, value]) => [`shipping_${name}`, value])
  return { ...address, ...Object.fromEntries(shipping) }
}

const present = (fields: Record<string, string | null | undefined>): Fields =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value ? [[name, value.slice(0, FIELD_LENGTH_MAX)]] : [],
    ),
  )

/** Null: the gateway cannot be asked, or its answer is no record. */
async function query(send: Send, fields: Fields): Promise<Recorded[] | null> {
  const exchange = await send(QUERY, fields)
  if (exchange.kind !== 'answer') return null
  const record = readRecord(exchange.body)
  if (record === null) send.tell(QUERY, 'unreadable')
  return record
}

/**
 * The account may serve other stores and other programs, so only what bears our mark counts. NMI goes by
 * when a transaction was last changed: what was settled or refunded since is not found by its own day,
 * so that all is read that was changed from then on.
 */
async function listRecords(begin: () => Send, tenant: string, from: Date, to: Date) {
  const since = { start_date: stamp(from), result_limit: String(PAGE_ROWS) }
  const [first, last] = [from.toISOString(), to.toISOString()]
  const read = (each: Recorded): DayRecord | null => {
    const record = each.tenant === tenant ? dayRecordOf(each) : null
    const isWithin = record !== null && record.created_at >= first && record.created_at <= last
    return isWithin ? record : null
  }
  const seen = new Map<string, DayRecord | null>()
  for (let page = 0; page < PAGES_MAX; page++) {
    const record = await query(begin(), { ...since, page_number: String(page) })
    if (record === null) return null
    const before = seen.size
    for (const each of record) seen.set(each.txn_id, read(each))
    const isLast = record.length < PAGE_ROWS || (page > 1 && seen.size === before)
    if (isLast) return [...seen.values()].filter((each) => each !== null)
  }
  return null
}

const stamp = (at: Date) => at.toISOString().replace(/\D/g, '').slice(0, 14)

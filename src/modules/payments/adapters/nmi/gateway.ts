import { newId } from '../../../../kernel/id.ts'
import { sha256 } from '../../../../kernel/tokens.ts'
import { type BreakerOptions, createBreakers } from '../breaker.ts'
import { factsOf, reveal } from '../card.ts'
import type {
  CardCheck,
  Charge,
  DayRecord,
  Gateway,
  LookupTarget,
  ShipTo,
  Source,
} from '../gateway.ts'
import { notSent, resultOfLookup, unknownResult, unreachable } from '../results.ts'
import type { CredentialCheck, FailedCall, GatewayResult, Lookup } from '../schema.ts'
import { toDecimal } from './amount.ts'
import { type Exchange, type NmiHttpOptions, openNmiHttp } from './http.ts'
import { NMI_VOCABULARY, refused, resultOfCode } from './meanings.ts'
import { dayRecordOf, lookupOf, type NmiTransaction, readTransactions } from './record.ts'
import { type NmiResponse, type RequestFacts, readResponse } from './response.ts'

export interface NmiGateways {
  /** A store's account at NMI. Without a key nothing is sent. */
  open(account: { securityKey: string | null; tenant: string }): Gateway
  /** Looks up a transaction that does not exist: only an account that the key belongs to says so. */
  check(securityKey: string): Promise<CredentialCheck>
  close(): Promise<void>
}

type Fields = Record<string, string>
interface Send {
  (path: string, fields: Fields): Promise<Exchange>
  /** Reports a call without a usable answer. */
  reportNoAnswer(path: string, why: string): void
  /** Reports a response that blames the account or the card network. */
  reportAccountProblem(path: string, why: string): void
}

const TRANSACT = '/api/transact.php'
const QUERY = '/api/query.php'
const CALLS: Readonly<Record<string, string>> = { [TRANSACT]: 'transaction', [QUERY]: 'lookup' }

/**
 * Transactions in a page of the record, and pages read at most: more than a store has in a month.
 */
const PAGE_ROWS = 100
const PAGES_MAX = 5_000

/** The longest field that is sent: longer than any field of a payment, shorter than what NMI refuses. */
const FIELD_LENGTH_MAX = 255

interface NmiOptions extends NmiHttpOptions {
  breaker?: BreakerOptions
  onNoAnswer?: (call: FailedCall) => void
  onAccountProblem?: (call: FailedCall) => void
}

/** Opens the gateways of NMI. All stores share the connections; each account has its own breaker. */
export function openNmiGateways(url: string, options: NmiOptions = {}): NmiGateways {
  const http = openNmiHttp(url, options)
  const breakers = createBreakers(options.breaker)
  const post = async (securityKey: string, path: string, fields: Fields, deadline: AbortSignal) => {
    const account = sha256(securityKey).toString('hex')
    if (!breakers.allows(account)) return BREAKER_OPEN
    const body = new URLSearchParams({ security_key: securityKey, ...fields })
    const exchange = await http.post(path, body, deadline)
    if (exchange.kind === 'answer') breakers.succeeded(account)
    else if (exchange.kind === 'not_sent' || exchange.isOutage) breakers.failed(account)
    return exchange
  }
  const sender = (securityKey: string | null, tenant: string): Send => {
    const deadline = http.deadline()
    const about = (path: string, why: string): FailedCall => {
      return { gateway: 'nmi', tenant, call: CALLS[path] ?? path, why }
    }
    const reportNoAnswer = (path: string, why: string) => options.onNoAnswer?.(about(path, why))
    const reportAccountProblem = (path: string, why: string) =>
      options.onAccountProblem?.(about(path, why))
    const send = async (path: string, fields: Fields): Promise<Exchange> => {
      const exchange =
        securityKey === null ? NO_KEY : await post(securityKey, path, fields, deadline)
      // The calls that opened the breaker were reported. Calls that it stops would repeat
      // the report for every shopper.
      const isReported = exchange.kind === 'answer' || exchange === BREAKER_OPEN
      if (!isReported) reportNoAnswer(path, exchange.why)
      return exchange
    }
    return Object.assign(send, { reportNoAnswer, reportAccountProblem })
  }
  return {
    open: ({ securityKey, tenant }) => createGateway(() => sender(securityKey, tenant), tenant),
    async check(securityKey) {
      const fields = new URLSearchParams({ security_key: securityKey, order_id: newId() })
      const exchange = await http.post(QUERY, fields, http.deadline())
      if (exchange.kind !== 'answer') return 'unreachable'
      if (readTransactions(exchange.body) !== null) return 'valid'
      return exchange.body.includes('<error_response>') ? 'refused' : 'unreachable'
    },
    close: () => http.close(),
  }
}

const BREAKER_OPEN: Exchange = { kind: 'not_sent', why: 'breaker_open' }
const NO_KEY: Exchange = { kind: 'not_sent', why: 'no_security_key' }

/** Creates the gateway of an account. `begin` starts one task: all its calls share one deadline. */
function createGateway(begin: () => Send, tenant: string): Gateway {
  const storeField = { merchant_defined_field_1: tenant }
  const sendAs = (type: 'auth' | 'sale', charge: Charge) =>
    withAmount(charge, () => sendCharge(begin(), { type, ...storeField }, charge))
  return {
    name: 'nmi',
    ...NMI_VOCABULARY,
    authorize: (charge) => sendAs('auth', charge),
    sale: (charge) => sendAs('sale', charge),
    vaultCharge: ({ vault_id, initial_txn_id, ...charge }) =>
      // An empty id still marks the charge as one that the merchant makes without the shopper.
      sendAs('sale', { ...charge, source: { vault_id, initial_txn_id: initial_txn_id ?? '' } }),
    verify: (check) => sendCheck(begin(), { type: 'validate', ...storeField }, check),
    vaultDelete: async ({ vault_id }) => {
      const fields = { customer_vault: 'delete_customer', customer_vault_id: vault_id }
      return (await transact(begin(), fields, {})).result
    },
    async vaultAdd({ ref, source }) {
      const fields = { customer_vault: 'add_customer', orderid: ref, ...sourceFields(source) }
      const { result } = await transact(begin(), fields, { ref })
      // Without a token the card cannot be charged later, so this is no approval.
      if (result.outcome === 'approved' && result.vault_id === null) return unknownResult()
      return { ...result, card: 'card' in source ? factsOf(source.card) : null }
    },
    capture: (captured) =>
      withAmount(captured, async (amount) => {
        const { txn_id } = captured
        const fields = { type: 'capture', transactionid: txn_id, amount }
        return (await transact(begin(), fields, { txn_id })).result
      }),
    void: ({ txn_id }) => sendVoid(begin(), txn_id),
    refund: (refunded) =>
      withAmount(refunded, async (amount) => {
        const { ref, txn_id, currency } = refunded
        const fields = { type: 'refund', transactionid: txn_id, orderid: ref, currency, amount }
        return (await transact(begin(), { ...fields, ...storeField }, { ref })).result
      }),
    lookup: (target) => lookup(begin(), target),
    listRecords: (from, to) => listRecords(begin, tenant, from, to),
  }
}

async function sendCharge(send: Send, head: Fields, charge: Charge): Promise<GatewayResult> {
  const fields = { ...head, ...chargeFields(charge) }
  const { ref, currency } = charge
  const { result, authorised_cents } = await transact(send, fields, { ref, currency })
  const card = 'card' in charge.source ? factsOf(charge.source.card) : result.card
  const isPartial = authorised_cents !== null && authorised_cents < charge.amount_cents
  if (result.outcome !== 'approved' || !isPartial) return { ...result, card }
  // A partial approval pays for no order. It is voided and counts as a decline for insufficient funds.
  const voided = await sendVoid(send, result.txn_id ?? '')
  return voided.outcome === 'approved' ? resultOfCode('202', { card }) : unknownResult({ card })
}

/** Verifies a card and stores it. Without a token it cannot be charged later, so an approval without one is unknown. */
async function sendCheck(send: Send, head: Fields, check: CardCheck): Promise<GatewayResult> {
  const { ref, currency, source, email, ip, ship_to } = check
  const optional = { email, ipaddress: ip, ...addressFields(ship_to) }
  const fields = {
    ...head,
    orderid: ref,
    currency,
    ...present(optional),
    ...sourceFields(source),
    ...STORE_CARD,
  }
  const { result } = await transact(send, fields, { ref, currency })
  if (result.outcome === 'approved' && result.vault_id === null) return unknownResult()
  return { ...result, card: 'card' in source ? factsOf(source.card) : result.card }
}

async function sendVoid(send: Send, txn_id: string): Promise<GatewayResult> {
  const { result } = await transact(send, { type: 'void', transactionid: txn_id }, { txn_id })
  return result.reason === 'already_settled' ? explainVoid(await lookup(send, { txn_id })) : result
}

async function lookup(send: Send, target: LookupTarget): Promise<Lookup> {
  const isRef = 'ref' in target
  const record = await query(
    send,
    isRef ? { order_id: target.ref } : { transaction_id: target.txn_id },
  )
  if (record === null) return unreachable()
  // NMI may match more than the exact id, so other transactions are left out here.
  const matching = record.filter((each) =>
    isRef ? each.ref === target.ref : each.txn_id === target.txn_id,
  )
  // A record with only other transactions is the answer to another request, and proves nothing about this one.
  if (record.length > 0 && matching.length === 0) return unreachable()
  return lookupOf(matching)
}

/** Calls `send` with the amount as NMI writes it. An invalid amount is refused and never sent. */
async function withAmount(
  { amount_cents, currency }: { amount_cents: number; currency: string },
  send: (amount: string) => Promise<GatewayResult>,
): Promise<GatewayResult> {
  const isAmount = Number.isSafeInteger(amount_cents) && amount_cents > 0
  return isAmount ? send(toDecimal(amount_cents, currency)) : refused('amount_exceeded')
}

/** Sends a transaction once. One that NMI calls a duplicate is looked up, and never sent again. */
async function transact(send: Send, fields: Fields, sent: RequestFacts): Promise<NmiResponse> {
  const exchange = await send(TRANSACT, fields)
  const only = (result: GatewayResult) => ({ result, authorised_cents: null, accountProblem: null })
  if (exchange.kind === 'not_sent') return only(notSent())
  if (exchange.kind === 'lost') return only(unknownResult())
  const response = readResponse(exchange.body, { ...sent, type: fields.type })
  const { outcome, reason, code, txn_id } = response.result
  if (outcome === 'unknown') {
    send.reportNoAnswer(TRANSACT, code === null ? 'unreadable' : `code_${code}`)
  }
  if (response.accountProblem !== null) {
    send.reportAccountProblem(TRANSACT, response.accountProblem)
  }
  if (reason === 'duplicate' && sent.ref !== undefined) {
    const found = await lookup(send, { ref: sent.ref })
    if (found.found === 'no') return only(refused('processing_error', { code }))
    return {
      ...only(resultOfLookup(NMI_VOCABULARY, found)),
      authorised_cents: found.amount_cents || null,
    }
  }
  // An approval without a transaction id could never be captured or refunded.
  const hasNoId = outcome === 'approved' && txn_id === null && 'amount' in fields
  return hasNoId ? only(unknownResult()) : response
}

/** The result of a refused void. NMI refuses settled and voided transactions with the same text. */
function explainVoid(found: Lookup): GatewayResult {
  if (found.found !== 'yes') return unknownResult()
  if (found.state === 'voided') return resultOfCode('100', { txn_id: found.txn_id })
  const isSettled = found.state === 'settled' || found.state === 'refunded'
  return refused(isSettled ? 'already_settled' : 'invalid_state', { txn_id: found.txn_id })
}

function chargeFields(charge: Charge): Fields {
  const { order_number, order_id } = charge
  const optional = {
    email: charge.email,
    ipaddress: charge.ip,
    ...addressFields(charge.ship_to),
  }
  return {
    amount: toDecimal(charge.amount_cents, charge.currency),
    currency: charge.currency,
    orderid: charge.ref,
    orderdescription: `Order ${order_number ?? order_id}`,
    merchant_defined_field_2: order_id,
    ...present(optional),
    ...sourceFields(charge.source),
    ...(charge.vault ? STORE_CARD : {}),
  }
}

/** The fields that store a card. The shopper is present and agrees that the card is stored. */
const STORE_CARD = {
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

/** Returns the fields of an address. An order has one: the issuer checks the ship-to address, too. */
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

/** Reads NMI's record. Returns null if NMI gave no answer, or if its answer is no record. */
async function query(send: Send, fields: Fields): Promise<NmiTransaction[] | null> {
  const exchange = await send(QUERY, fields)
  if (exchange.kind !== 'answer') return null
  const record = readTransactions(exchange.body)
  if (record === null) send.reportNoAnswer(QUERY, 'unreadable')
  return record
}

/**
 * Lists the store's transactions of a range. The account may serve other stores and other programs,
 * so that only transactions with this store's field count. NMI selects by the time of the last
 * change: a transaction that was settled or refunded later is not found by its own day. So
 * everything that changed since the start is read, and selected here.
 */
async function listRecords(begin: () => Send, tenant: string, from: Date, to: Date) {
  const since = { start_date: stamp(from), result_limit: String(PAGE_ROWS) }
  const [first, last] = [from.toISOString(), to.toISOString()]
  const readOne = (each: NmiTransaction): DayRecord | null => {
    const record = each.tenant === tenant ? dayRecordOf(each) : null
    const isWithin = record !== null && record.created_at >= first && record.created_at <= last
    return isWithin ? record : null
  }
  const byTransaction = new Map<string, DayRecord | null>()
  for (let page = 0; page < PAGES_MAX; page++) {
    const record = await query(begin(), { ...since, page_number: String(page) })
    if (record === null) return null
    const before = byTransaction.size
    for (const each of record) byTransaction.set(each.txn_id, readOne(each))
    const isLast = record.length < PAGE_ROWS || (page > 1 && byTransaction.size === before)
    if (isLast) return [...byTransaction.values()].filter((each) => each !== null)
  }
  return null
}

/** A time as NMI writes it: `20150312215205`, in UTC. */
const stamp = (at: Date) => at.toISOString().replace(/\D/g, '').slice(0, 14)

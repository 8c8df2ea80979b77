import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

/** A fault of one call, before or after the server has carried it out. */
export type Fault =
  | 'reset_before'
  | 'reset_after'
  | 'silent_before'
  | 'silent_after'
  | 'html_502'
  | 'forbidden'
  | 'redirect'
  | 'drip'
  | 'partial'
  | 'swapped'
  /** The response is this text, and nothing is done. */
  | { body: string }
  /** Refused with a code, perhaps after a while, and nothing is done. */
  | { code: string; response?: string; text?: string; afterMs?: number }
  /** Approved for this much only. */
  | { authorises: string }
  /** Approved, but the card is not stored, although that was asked for. */
  | 'stores_no_card'

interface Action {
  type: string
  amount: string
  success: 0 | 1
  code: string
  date: string
}

export interface NmiTransaction {
  id: string
  order_id: string
  condition: string
  fields: Record<string, string>
  actions: Action[]
}

export interface TestNmi {
  url: string
  /** Every call as it was received, in order. */
  calls: { path: string; fields: Record<string, string> }[]
  /** The server's own record. */
  journal: NmiTransaction[]
  /** Sets the faults of the next calls, one each. */
  failNext(...faults: Fault[]): void
  /** Whether it refuses a charge with the card and the amount of an earlier one. */
  checkDuplicates: boolean
  /** Responds to the next call with this text, and carries nothing out. */
  answerNext(body: string): void
  settle(): void
  close(): Promise<void>
}

/**
 * A server that speaks NMI's wire format, keeps its own record, and fails on command. Each key is
 * an account of its own, which knows nothing of the others.
 */
export async function startNmi(...securityKeys: string[]): Promise<TestNmi> {
  const calls: TestNmi['calls'] = []
  const journal: NmiTransaction[] = []
  const faults: Fault[] = []
  const state = { checkDuplicates: false }
  const server = createServer(async (request, response) => {
    const fields = Object.fromEntries(new URLSearchParams(await text(request)))
    const path = request.url ?? ''
    calls.push({ path, fields })
    const fault = faults.shift()
    const act = () => {
      if (typeof fault === 'object' && 'body' in fault) return fault.body
      if (!securityKeys.includes(fields.security_key ?? '')) return refuseKey(path)
      const own = journal.filter((each) => each.fields.security_key === fields.security_key)
      if (path === '/api/query.php') return query(own, fields)
      if (fault === 'stores_no_card') delete fields.customer_vault
      return transact(journal, fields, state.checkDuplicates, fault)
    }
    await answer(request, response, fault, act).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    journal,
    failNext: (...next) => void faults.push(...next),
    answerNext: (body) => void faults.push({ body }),
    get checkDuplicates() {
      return state.checkDuplicates
    },
    set checkDuplicates(value) {
      state.checkDuplicates = value
    },
    settle() {
      for (const each of journal) {
        if (each.condition !== 'pendingsettlement') continue
        each.condition = 'complete'
        each.actions.push(action('settle', each.fields.amount ?? '0'))
      }
    },
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const DRIP_MS = 50

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
  act: () => string,
): Promise<void> {
  if (fault === 'reset_before') return void request.socket.resetAndDestroy()
  if (fault === 'silent_before') return
  if (fault === 'forbidden') return void response.writeHead(403).end('no')
  if (fault === 'redirect') return void response.writeHead(307, { location: '/elsewhere' }).end()
  const waitMs = typeof fault === 'object' && 'code' in fault ? (fault.afterMs ?? 0) : 0
  if (waitMs > 0) await delay(waitMs)
  const body = act()
  if (fault === 'reset_after') return void request.socket.resetAndDestroy()
  if (fault === 'silent_after') return
  if (fault === 'html_502') return void response.writeHead(502).end('<html>502</html>')
  response.setHeader('content-type', 'text/html')
  if (fault === 'drip') {
    for (const letter of body) {
      if (response.destroyed) return
      response.write(letter)
      await delay(DRIP_MS)
    }
  }
  if (fault === 'partial') {
    // Without a length the end of the connection is the end of the body.
    response.shouldKeepAlive = false
    response.useChunkedEncodingByDefault = false
    return void response.end(body.slice(0, Math.floor(body.length / 2)))
  }
  response.end(fault === 'swapped' ? body.replace(/orderid=[^&]*/, 'orderid=another') : body)
}

const refuseKey = (path: string) =>
  path === '/api/query.php'
    ? '<?xml version="1.0"?><nm_response><error_response>Invalid Username/Password REFID:1</error_response></nm_response>'
    : form({ response: '3', responsetext: 'Authentication Failed REFID:1', response_code: '300' })

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

let lastId = 2_762_757_838

function transact(
  journal: NmiTransaction[],
  fields: Record<string, string>,
  checkDuplicates: boolean,
  fault: Fault | undefined,
): string {
  if (typeof fault === 'object' && 'code' in fault) return refuse(fields, fault)
  const { type = '', orderid = '', amount = '0', transactionid } = fields
  const target = journal.find(
    (each) => each.id === transactionid && each.fields.security_key === fields.security_key,
  )
  const no = (why: string) => refuse(fields, { code: '300', text: `${why} REFID:3161855545` })
  if (type === '' && fields.customer_vault) return approve(fields, '')
  if (type === 'validate') return approve(fields, String(++lastId))
  if (type === 'auth' || type === 'sale') {
    const same = journal.some(
      (each) => each.fields.ccnumber === fields.ccnumber && each.fields.amount === amount,
    )
    if (checkDuplicates && same) return no('Duplicate transaction')
    const part = typeof fault === 'object' && 'authorises' in fault ? fault.authorises : null
    const approved = part === null ? fields : { ...fields, amount: part }
    const made = add(journal, approved, type === 'auth' ? 'pending' : 'pendingsettlement')
    const more: Record<string, string> = part === null ? {} : { amount_authorized: part }
    return approve(fields, made.id, more)
  }
  if (target === undefined) return no('Invalid Transaction ID / Object ID specified: ')
  if (type === 'capture') {
    if (target.condition !== 'pending') {
      return no('A capture requires that the existing transaction be an AUTH')
    }
    if (Number(amount) > Number(target.fields.amount)) {
      return no('The specified amount exceeds the authorization amount')
    }
    target.condition = 'pendingsettlement'
    target.actions.push(action('capture', amount))
    return approve({ ...fields, orderid: target.order_id }, target.id)
  }
  if (type === 'void') {
    if (!['pending', 'pendingsettlement'].includes(target.condition)) {
      return no('Only transactions pending settlement can be voided')
    }
    target.condition = 'canceled'
    target.actions.push(action('void', amount))
    return approve({ ...fields, orderid: target.order_id }, target.id)
  }
  if (target.condition !== 'complete') return no('Transaction must be settled to be refunded')
  const refunded = target.actions
    .filter((each) => each.type === 'refund')
    .reduce((sum, each) => sum + Number(each.amount), 0)
  if (refunded + Number(amount) > Number(target.fields.amount)) {
    return no('Refund amount may not exceed the transaction balance')
  }
  target.actions.push(action('refund', amount))
  const made = add(journal, { ...fields, orderid }, 'pendingsettlement')
  return approve(fields, made.id)
}

function add(journal: NmiTransaction[], fields: Record<string, string>, condition: string) {
  const { type = '', orderid = '', amount = '0' } = fields
  const actions = [action(type, amount)]
  const made = { id: String(++lastId), order_id: orderid, condition, fields, actions }
  journal.push(made)
  return made
}

const action = (type: string, amount: string): Action => {
  const date = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  return { type, amount, success: 1, code: '100', date }
}

const approve = (
  { type = '', orderid = '', cvv, customer_vault }: Record<string, string>,
  id: string,
  more: Record<string, string> = {},
) =>
  form({
    response: '1',
    responsetext: 'SUCCESS',
    authcode: '123456',
    transactionid: id,
    avsresponse: 'N',
    cvvresponse: cvv === '999' ? 'M' : 'N',
    orderid,
    type,
    ...more,
    ...(customer_vault ? { customer_vault_id: '906770526' } : {}),
    response_code: '100',
  })

function refuse(
  { type = '', orderid = '' }: Record<string, string>,
  {
    code,
    response = code.startsWith('2') ? '2' : '3',
    text: why = 'REFUSED',
  }: {
    code: string
    response?: string
    text?: string
  },
): string {
  return form({
    response,
    responsetext: why,
    authcode: '',
    transactionid: response === '2' ? String(++lastId) : '',
    avsresponse: '',
    cvvresponse: '',
    orderid,
    type,
    response_code: code,
  })
}

/** A page of the record. Dates are those of the last change, as at NMI. */
function query(journal: NmiTransaction[], fields: Record<string, string>): string {
  const { order_id, transaction_id, start_date, end_date, result_limit = '1000' } = fields
  const limit = Number(result_limit)
  const matching = journal.filter((each) => {
    const date = each.actions.at(-1)?.date ?? ''
    if (order_id !== undefined) return each.order_id === order_id
    if (transaction_id !== undefined) return each.id === transaction_id
    return date >= (start_date ?? '') && date <= (end_date ?? '9')
  })
  const from = Number(fields.page_number ?? 0) * limit
  const rows = matching.slice(from, from + limit).map(toXml)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<nm_response>\n${rows.join('\n')}\n</nm_response>`
}

const toXml = ({ id, order_id, condition, fields, actions }: NmiTransaction) => `<transaction>
  <transaction_id>${id}</transaction_id>
  <transaction_type>cc</transaction_type>
  <condition>${condition}</condition>
  <order_id>${order_id}</order_id>
  <authorization_code>123456</authorization_code>
  <email>${(fields.email ?? '').replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</email>
  <customerid>${fields.customer_vault ? '906770526' : ''}</customerid>
  <cc_number>${fields.ccnumber ? `4xxxxxxxxxxx${fields.ccnumber.slice(-4)}` : ''}</cc_number>
  <cc_exp>${fields.ccexp ?? ''}</cc_exp>
  <cc_type>visa</cc_type>
  <currency>${fields.currency ?? 'USD'}</currency>
  <avs_response>N</avs_response>
  <csc_response>M</csc_response>
  <merchant_defined_field id="1">${fields.merchant_defined_field_1 ?? ''}</merchant_defined_field>
  ${actions
    .map(
      (each) => `<action><amount>${each.amount}</amount><action_type>${each.type}</action_type>
    <date>${each.date}</date><success>${each.success}</success>
    <response_code>${each.code}</response_code></action>`,
    )
    .join('\n')}
</transaction>`

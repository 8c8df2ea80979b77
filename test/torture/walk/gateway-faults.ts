import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { request as send } from 'undici'
import type { Random } from './random.ts'

/** What goes wrong with one call to the gateway. */
type GatewayFault =
  | 'late'
  | 'too late'
  | 'lost before'
  | 'lost after'
  | 'reset before'
  | 'reset after'
  | 'carried out twice'
  | 'fields twice'
  | 'response twice'
  | 'garbage before'
  | 'garbage after'
  | 'declined'
  | 'partly approved'

const FAULTS: readonly (readonly [number, GatewayFault])[] = [
  [5, 'late'],
  [3, 'too late'],
  [1, 'lost before'],
  [2, 'lost after'],
  [3, 'reset before'],
  [4, 'reset after'],
  [4, 'carried out twice'],
  [2, 'fields twice'],
  [2, 'response twice'],
  [2, 'garbage before'],
  [4, 'garbage after'],
  [3, 'declined'],
  [3, 'partly approved'],
]
const FAULTY_PERCENT = 30

/** A caller gives up after eight seconds: these come before that, and well after it. */
const LATE_MS = [200, 6_000] as const
const TOO_LATE_MS = [8_500, 30_000] as const

export interface FaultyGateway {
  url: string
  /** From now on every call is carried out and answered at once. */
  calm(): void
  /** Waits until every call that is still on its way has arrived. */
  delivered(): Promise<void>
  /** How often each fault occurred. */
  counts: Map<string, number>
  /** Every call, with its fault and the gateway's responses. */
  trace: Trace[]
  close(): Promise<void>
}

interface Trace {
  at: string
  fault: string
  /** The fields of the call, without the card. */
  sent: Record<string, string>
  /** The gateway's responses, whether or not the caller got them. */
  carriedOut: string[]
}

/** Stands before a gateway and loses, delays, repeats and garbles its calls at random. */
export async function openFaultyGateway(target: string, random: Random): Promise<FaultyGateway> {
  const counts = new Map<string, number>()
  const trace: Trace[] = []
  const onTheWay = new Set<Promise<unknown>>()
  let isCalm = false
  const server = createServer(async (request, response) => {
    const call = { path: request.url ?? '', body: await text(request).catch(() => '') }
    const fault = isCalm || !random.happens(FAULTY_PERCENT) ? 'none' : faultOf(call, random)
    counts.set(fault, (counts.get(fault) ?? 0) + 1)
    const traced: Trace = {
      at: new Date().toISOString(),
      fault,
      sent: fieldsOf(call),
      carriedOut: [],
    }
    const forward = openForward(target, traced)
    trace.push(traced)
    const done = answer({ request, response, call, fault, forward, random })
      .catch(() => response.destroy())
      .finally(() => onTheWay.delete(done))
    onTheWay.add(done)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    trace,
    calm() {
      isCalm = true
    },
    async delivered() {
      while (onTheWay.size > 0) await Promise.all(onTheWay)
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

interface Call {
  path: string
  body: string
}

/** Passes calls on to the gateway itself, and records its responses. */
function openForward(target: string, { carriedOut }: Trace) {
  return async (call: Call): Promise<string> => {
    const { body } = await send(target + call.path, { method: 'POST', body: call.body })
    const answered = await body.text()
    carriedOut.push(`${new Date().toISOString()} ${answered}`)
    return answered
  }
}

const SHOWN = ['type', 'amount', 'orderid', 'transactionid', 'order_id', 'transaction_id']

const fieldsOf = ({ body }: Call): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(body)].filter(([name]) => SHOWN.includes(name)))

const isCharge = ({ body }: Call) => /(^|&)type=(sale|auth)(&|$)/.test(body)
const isRefund = ({ body }: Call) => /(^|&)type=refund(&|$)/.test(body)

function faultOf(call: Call, random: Random): GatewayFault {
  const fault = random.weigh(FAULTS)
  const isOfCharge = fault === 'declined' || fault === 'partly approved'
  return isOfCharge && !isCharge(call) ? 'reset after' : fault
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  call: Call
  fault: GatewayFault | 'none'
  forward: (call: Call) => Promise<string>
  random: Random
}

async function answer(exchange: Exchange): Promise<void> {
  const { request, response, call, fault, forward, random } = exchange
  const reset = () => void request.socket.resetAndDestroy()
  switch (fault) {
    case 'none':
      return reply(response, await forward(call))
    case 'late':
      await delay(random.int(...LATE_MS))
      return reply(response, await forward(call))
    case 'too late':
      await delay(random.int(...TOO_LATE_MS))
      return reply(response, await forward(call))
    case 'lost before':
      return
    case 'lost after':
      return void (await forward(call))
    case 'reset before':
      return reset()
    case 'reset after':
      await forward(call)
      return reset()
    case 'carried out twice':
      return reply(response, await repeat(call, forward))
    case 'fields twice': {
      const body = await forward(call)
      return reply(response, `${body}&${body}`)
    }
    case 'response twice':
      return replyTwice(exchange, await forward(call))
    case 'garbage before':
      return garble(response, '', random)
    case 'garbage after':
      return garble(response, await forward(call), random)
    case 'declined':
      return reply(response, declineOf(call))
    case 'partly approved':
      return reply(response, await approvePart(call, forward))
  }
}

function reply(response: ServerResponse, body: string): void {
  response.setHeader('content-type', 'text/html')
  response.end(body)
}

/**
 * Sends the call twice, and the caller gets the second response. NMI refuses the second of two equal
 * charges or refunds as a duplicate.
 */
async function repeat(call: Call, forward: Exchange['forward']): Promise<string> {
  const first = await forward(call)
  if (!first.startsWith('response=1') || !(isCharge(call) || isRefund(call))) return forward(call)
  return refusal(call, { response: '3', code: '300', why: 'Duplicate transaction REFID:1' })
}

/** Sends the whole response twice, as a proxy may: the second one meets the next call on that connection. */
async function replyTwice({ request, random }: Exchange, body: string): Promise<void> {
  const length = Buffer.byteLength(body)
  const whole = `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${length}\r\n\r\n${body}`
  request.socket.write(whole)
  await delay(random.int(0, 40))
  if (!request.socket.destroyed) request.socket.write(whole)
}

function garble(response: ServerResponse, body: string, random: Random): void {
  response.setHeader('content-type', 'text/html')
  const bytes = Buffer.from(Array.from({ length: 200 }, () => random.int(0, 255)))
  const answerWith = random.pick([
    () => void response.end(body.slice(0, Math.floor(body.length * random.next()))),
    () => void response.end('<html><body>Please try again later.</body></html>'),
    () => void response.end(bytes),
    () => void response.end(),
    () => void response.writeHead(502).end('<html>502 Bad Gateway</html>'),
    () => void response.writeHead(403).end('no'),
    () => void response.writeHead(307, { location: '/elsewhere' }).end(),
  ])
  answerWith()
}

/** The issuer approves half of the amount. */
async function approvePart(call: Call, forward: Exchange['forward']): Promise<string> {
  const fields = new URLSearchParams(call.body)
  const part = (Math.floor(Number(fields.get('amount')) * 50) / 100).toFixed(2)
  fields.set('amount', part)
  const body = await forward({ ...call, body: fields.toString() })
  return `${body}&amount_authorized=${part}`
}

const declineOf = (call: Call) =>
  refusal(call, { response: '2', code: '202', why: 'Insufficient funds' })

function refusal(
  { body }: Call,
  { response, code, why }: { response: string; code: string; why: string },
): string {
  const sent = new URLSearchParams(body)
  return new URLSearchParams({
    response,
    responsetext: why,
    authcode: '',
    transactionid: '',
    avsresponse: '',
    cvvresponse: '',
    orderid: sent.get('orderid') ?? '',
    type: sent.get('type') ?? '',
    response_code: code,
  }).toString()
}

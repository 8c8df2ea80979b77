import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import type SMTPConnection from 'nodemailer/lib/smtp-connection/index.js'

/**
 * What became of a message:
 *
 *   sent         the mail server has accepted it
 *   refused      it refuses this message or its reader for good
 *   deferred     it refuses them for now
 *   unavailable  it takes no messages at all, or was lost before this one was handed over
 *   unknown      it was lost after the message was handed over, which may have been sent
 *   withheld     the caller no longer wanted to send it when its turn came
 */
export type Outcome =
  | { state: 'sent' }
  | { state: 'withheld' }
  | Refusal
  | { state: 'unavailable'; error: string }
  | { state: 'unknown'; error: string }

export interface Refusal {
  state: 'refused' | 'deferred'
  error: string
  /** Whether the reader is refused, and not the message. */
  isOfReader: boolean
}

export interface Envelope {
  from: string
  to: string
}

/** Sends many messages over connections that stay open. */
export interface BulkTransport {
  /** Throws nothing but what `write` throws. */
  deliver(envelope: Envelope, write: WriteOne): Promise<Outcome>
  close(): void
}

/** Writes a message when a connection is free for it. Null: it is not to be sent any more. */
export type WriteOne = () => Promise<string | null> | string | null

export interface BulkOptions {
  /** Messages that are sent at the same time, each over a connection of its own. */
  connections?: number
  /** The deadline of one message, and of a new connection for it. */
  deliverMs?: number
  /** How long a connection stays open without a message. */
  idleMs?: number
}

const CONNECTIONS = 8

/** Shorter than a lease, and than the 15 s that a stopping process has. */
const DELIVER_MS = 12_000

/** Servers end connections that are silent for longer. */
const IDLE_MS = 20_000

export function createBulkTransport(
  smtpUrl: string,
  { connections = CONNECTIONS, deliverMs = DELIVER_MS, idleMs = IDLE_MS }: BulkOptions = {},
): BulkTransport {
  const idle = openIdle(idleMs)
  const waiting: (() => void)[] = []
  let busy = 0

  async function enter(): Promise<void> {
    if (busy < connections) busy += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /** Who waits takes the place over. */
  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) busy -= 1
    else next()
  }

  /** A server may have ended a connection that was idle. Nothing is lost then, and another is opened. */
  async function attempt(envelope: Envelope, message: string): Promise<Outcome> {
    for (;;) {
      const known = idle.take()
      const opened = known ?? (await openConnection(smtpUrl, deliverMs))
      if ('error' in opened) return { state: 'unavailable', error: opened.error }
      const outcome = await opened.send(envelope, message, deliverMs)
      if (isAnswer(outcome) && opened.isOpen()) idle.keep(opened)
      else opened.close()
      if (known === undefined || outcome.state !== 'unavailable') return outcome
    }
  }

  return {
    async deliver(envelope, write) {
      await enter()
      try {
        const message = await write()
        return message === null ? { state: 'withheld' } : await attempt(envelope, message)
      } finally {
        leave()
      }
    },
    close: idle.close,
  }
}

/** Connections that wait for a message. The one that was used last is used first. */
function openIdle(idleMs: number) {
  const timers = new Map<OpenConnection, NodeJS.Timeout>()
  const close = (connection: OpenConnection) => {
    clearTimeout(timers.get(connection))
    timers.delete(connection)
    connection.close()
  }
  return {
    keep(connection: OpenConnection): void {
      timers.set(
        connection,
        setTimeout(() => close(connection), idleMs),
      )
    },
    take(): OpenConnection | undefined {
      const connection = [...timers.keys()].at(-1)
      if (connection === undefined) return undefined
      clearTimeout(timers.get(connection))
      timers.delete(connection)
      return connection
    },
    close(): void {
      for (const connection of timers.keys()) close(connection)
    },
  }
}

const SILENT_MS = 60_000

/** Whether the server has answered all that was sent, so that the connection is ready for another message. */
const isAnswer = ({ state }: Outcome): boolean =>
  state === 'sent' || state === 'refused' || state === 'deferred'

interface OpenConnection {
  isOpen(): boolean
  send(envelope: Envelope, message: string, deliverMs: number): Promise<Outcome>
  close(): void
}

type Run = <T>(step: () => Promise<T>) => Promise<T>

async function openConnection(
  smtpUrl: string,
  deliverMs: number,
): Promise<OpenConnection | { error: string }> {
  // Loaded with the first mail: most processes never send one.
  const [{ default: Connection }, { parseConnectionUrl }] = await Promise.all([
    import('nodemailer/lib/smtp-connection/index.js'),
    import('nodemailer/lib/shared/index.js'),
  ])
  const options: SMTPConnection.Options & { auth?: SMTPConnection.Credentials | undefined } =
    parseConnectionUrl(smtpUrl)
  const connection = new Connection({
    ...options,
    connectionTimeout: deliverMs,
    greetingTimeout: deliverMs,
    // Only the last resort: a message has a deadline, and an idle connection has its own.
    socketTimeout: SILENT_MS,
  })
  let ended: Error | null = null
  let onEnd = (_: Error) => {}
  const end = (error: Error) => {
    ended ??= error
    onEnd(ended)
  }
  connection.on('error', end)
  connection.on('end', () => end(new Error('the connection to the mail server has ended')))

  /** Runs a step. It fails also where the connection ends and the step is never answered. */
  const run: Run = (step) =>
    new Promise((resolve, reject) => {
      if (ended !== null) return reject(ended)
      onEnd = reject
      step().then(resolve, reject)
    })

  const timer = setTimeout(() => connection.close(), deliverMs)
  try {
    await run(() => promisify(connection.connect).call(connection))
    const { auth } = options
    if (auth !== undefined) await run(() => promisify(connection.login).call(connection, auth))
  } catch (error) {
    connection.close()
    return { error: describe(error) }
  } finally {
    clearTimeout(timer)
  }
  return {
    isOpen: () => ended === null,
    close: () => connection.close(),
    send: (envelope, message, ms) => sendOver(connection, run, { envelope, message, ms }),
  }
}

/** What a message needs of the library's connection, which has opened it. Its declarations leave this out. */
interface Wire {
  _socket: Socket
  /** What is done with the next replies of the server, in their order. */
  _responseActions: ((reply: string) => void)[]
  _supportedExtensions: readonly string[]
}

/** A message under way. */
interface Sending {
  envelope: Envelope
  message: string
  /** Whether any of the message was written to the connection. */
  isHandedOver: boolean
  /** What the server has said of the whole message. */
  answer: Outcome | null
}

async function sendOver(
  connection: SMTPConnection,
  run: Run,
  { envelope, message, ms }: { envelope: Envelope; message: string; ms: number },
): Promise<Outcome> {
  const sending: Sending = { envelope, message, isHandedOver: false, answer: null }
  const timer = setTimeout(() => connection.close(), ms)
  try {
    return await run(() => converse(connection as unknown as Wire, sending))
  } catch (failure) {
    const state = sending.isHandedOver ? 'unknown' : 'unavailable'
    // A server may answer and end the connection in one breath.
    return sending.answer ?? { state, error: describe(failure) }
  } finally {
    clearTimeout(timer)
  }
}

/** What would end an address, or the line that it stands in. */
const UNSAFE = /[^\x21-\x7e]|[<>]/

/**
 * Sends one message by hand: the library makes two streams for each, which cost more than all the rest. After
 * an answer the server has no open transaction, so that another message can follow.
 */
async function converse(wire: Wire, sending: Sending): Promise<Outcome> {
  const { from, to } = sending.envelope
  if (UNSAFE.test(from) || UNSAFE.test(to)) {
    return { state: 'refused', error: 'the address is not valid', isOfReader: false }
  }
  const commands = [`MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'DATA']
  const replies = await (wire._supportedExtensions.includes('PIPELINING')
    ? askTogether(wire, commands)
    : askInTurn(wire, commands))
  const [sender = '', reader = '', data = ''] = replies
  if (!isGood(sender)) return { state: 'unavailable', error: sender }
  if (isGood(reader) && /^[23]/.test(data)) return handOver(wire, sending)
  // A server that takes a message without a recipient gets an empty one.
  if (data.startsWith('3')) await askTogether(wire, ['.'])
  const [reset = ''] = await askTogether(wire, ['RSET'])
  if (!isGood(reset)) wire._socket.destroy()
  const refusal = isGood(reader) ? readRefusal(data, false) : readRefusal(reader, true)
  return refusal ?? { state: 'unavailable', error: `${reader} ${data}` }
}

async function handOver(wire: Wire, sending: Sending): Promise<Outcome> {
  sending.isHandedOver = true
  const [reply = ''] = await askTogether(wire, [endMessage(sending.message)], (text) => {
    sending.answer = readAnswer(text)
  })
  return readAnswer(reply)
}

/** A reply that is none: what the server did with the message is not known. */
const readAnswer = (reply: string): Outcome =>
  isGood(reply)
    ? { state: 'sent' }
    : (readRefusal(reply, false) ?? { state: 'unknown', error: reply })

const isGood = (reply: string): boolean => reply.startsWith('2')

/** A refusal for good or for now. Null where the server has said neither. */
function readRefusal(reply: string, isOfReader: boolean): Refusal | null {
  if (!/^[45]\d\d/.test(reply)) return null
  return { state: reply.startsWith('5') ? 'refused' : 'deferred', error: reply, isOfReader }
}

/** Sends lines at once, and answers all replies. */
function askTogether(
  { _socket, _responseActions }: Wire,
  lines: readonly string[],
  onReply = (_reply: string) => {},
): Promise<string[]> {
  const replies = lines.map(
    () =>
      new Promise<string>((resolve) => {
        _responseActions.push((reply) => {
          onReply(reply)
          resolve(reply)
        })
      }),
  )
  _socket.write(lines.map((line) => `${line}\r\n`).join(''))
  return Promise.all(replies)
}

/** Sends each line after the reply to the one before, up to the first that is refused. */
async function askInTurn(wire: Wire, lines: readonly string[]): Promise<string[]> {
  const replies: string[] = []
  for (const line of lines) {
    const [reply = ''] = await askTogether(wire, [line])
    replies.push(reply)
    if (!/^[23]/.test(reply)) break
  }
  return replies
}

/** A message up to the dot that ends it. A dot at the beginning of its lines is doubled (RFC 5321, 4.5.2). */
function endMessage(message: string): string {
  const lines = message.replace(/^\.|(?<=\n)\./g, '..')
  return lines.endsWith('\r\n') ? `${lines}.` : `${lines}\r\n.`
}

const describe = (error: unknown): string =>
  error instanceof Error ? error.message : 'not an Error'

import { Readable } from 'node:stream'
import type SMTPConnection from 'nodemailer/lib/smtp-connection/index.js'

/**
 * What became of a message:
 *
 *   sent         the mail server has accepted it
 *   refused      it refuses this message or its reader for good
 *   deferred     it refuses them for now
 *   unavailable  it takes no messages at all, or was lost before this one was handed over
 *   unknown      it was lost after the message was handed over, which may have been sent
 */
export type Outcome =
  | { state: 'sent' }
  | { state: 'refused' | 'deferred' | 'unavailable' | 'unknown'; error: string }

export interface Envelope {
  from: string
  to: string
}

/** Sends many messages over connections that stay open. */
export interface BulkTransport {
  /** Never throws. */
  deliver(envelope: Envelope, message: string): Promise<Outcome>
  close(): void
}

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
      const { isUnanswered, ...outcome } = await opened.send(envelope, message, deliverMs)
      // A refusal leaves a transaction open on the server, which a new connection does not have.
      if (outcome.state === 'sent' && opened.isOpen()) idle.keep(opened)
      else opened.close()
      if (known === undefined || outcome.state !== 'unavailable' || !isUnanswered) return outcome
    }
  }

  return {
    async deliver(envelope, message) {
      await enter()
      try {
        return await attempt(envelope, message)
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

/** With whether the server has said anything of the message. */
type Sending = Outcome & { isUnanswered: boolean }

interface OpenConnection {
  isOpen(): boolean
  send(envelope: Envelope, message: string, deliverMs: number): Promise<Sending>
  close(): void
}

type Step = (done: (error?: Error | null) => void) => void

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
  const run = (step: Step) =>
    new Promise<void>((resolve, reject) => {
      if (ended !== null) return reject(ended)
      onEnd = reject
      step((error) => (error ? reject(error) : resolve()))
    })

  const timer = setTimeout(() => connection.close(), deliverMs)
  try {
    await run((done) => connection.connect(done))
    const { auth } = options
    if (auth !== undefined) await run((done) => connection.login(auth, done))
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

/**
 * Sends one message. Whether it was handed over is known by its stream: the library reads it after the
 * server has agreed to take it, and not before.
 */
async function sendOver(
  connection: SMTPConnection,
  run: (step: Step) => Promise<void>,
  { envelope, message, ms }: { envelope: Envelope; message: string; ms: number },
): Promise<Sending> {
  let isHandedOver = false
  const stream = new Readable({
    read() {
      isHandedOver = true
      this.push(message)
      this.push(null)
    },
  })
  const timer = setTimeout(() => connection.close(), ms)
  try {
    await run((done) => connection.send({ from: envelope.from, to: [envelope.to] }, stream, done))
    return { state: 'sent', isUnanswered: false }
  } catch (failure) {
    const error = describe(failure)
    const { responseCode: code, command = '' } = failure as SMTPConnection.SMTPError
    if (code === undefined) {
      return { state: isHandedOver ? 'unknown' : 'unavailable', error, isUnanswered: true }
    }
    const isOfMessage = command.startsWith('RCPT') || command === 'DATA'
    const state = isOfMessage ? (code >= 500 ? 'refused' : 'deferred') : 'unavailable'
    return { state, error, isUnanswered: false }
  } finally {
    clearTimeout(timer)
  }
}

const describe = (error: unknown): string =>
  error instanceof Error ? error.message : 'not an Error'

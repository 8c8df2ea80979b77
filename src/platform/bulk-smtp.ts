import { describe, openSession, type SmtpSession } from './smtp-session.ts'

/**
 * The outcome of a message:
 *
 *   sent         the mail server has accepted it
 *   refused      it refuses this message or its reader permanently
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
  /** Whether the server refuses the reader, and not the message. */
  isOfReader: boolean
}

export interface Envelope {
  from: string
  to: string
}

/** Sends many messages over connections that stay open. */
export interface BulkTransport {
  /** Sends a message. Throws only errors that `write` throws. */
  deliver(envelope: Envelope, write: WriteOne): Promise<Outcome>
  close(): void
}

/**
 * Writes a message, in ASCII, when a connection is free for it. It is called again if the connection was lost before
 * the message was handed over. It returns null if the message is no longer to be sent.
 */
export type WriteOne = () => Promise<string | null> | string | null

export interface BulkOptions {
  /** How many messages are sent at the same time, each over a connection of its own. */
  connections?: number
  /** The deadline of one message, and of a new connection for it. */
  deliverMs?: number
  /** How long a connection stays open without a message. */
  idleMs?: number
}

const CONNECTIONS = 8

/** The default deadline: shorter than a lease, and shorter than the 15 s that a stopping process has. */
const DELIVER_MS = 12_000

/** How long a connection stays open without a message: servers end connections that are silent for longer. */
const IDLE_MS = 20_000

/** A message that is to be sent, and the calls that report its outcome. */
interface Job {
  envelope: Envelope
  write: WriteOne
  settle(outcome: Outcome): void
  fail(error: unknown): void
}

export function createBulkTransport(
  smtpUrl: string,
  { connections = CONNECTIONS, deliverMs = DELIVER_MS, idleMs = IDLE_MS }: BulkOptions = {},
): BulkTransport {
  /** The messages that wait for a connection. */
  const queue: Job[] = []
  /** The sessions without a message. The one that was used last is used first. */
  const idle: SmtpSession[] = []
  let busy = 0

  function takeIdle(): SmtpSession | undefined {
    let session = idle.pop()
    // The server may have ended the session meanwhile.
    while (session?.isOpen() === false) session = idle.pop()
    return session
  }

  /** Sends the waiting messages, until none is left. */
  async function work(): Promise<void> {
    busy += 1
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const message = await writeOrSettle(job)
      if (message === null) continue
      const known = takeIdle()
      const session = known ?? (await openSession(smtpUrl, deliverMs))
      if ('error' in session) {
        job.settle({ state: 'unavailable', error: session.error })
        continue
      }
      const isKnown = known !== undefined
      await sendOver(session, { job, message }, { queue, deliverMs, isKnown })
      if (session.isOpen()) idle.push(session)
      session.closeIn(idleMs)
    }
    busy -= 1
  }

  return {
    deliver: (envelope, write) =>
      new Promise((settle, fail) => {
        if (!isSafe(envelope)) {
          const error = 'the address is not valid'
          return settle({ state: 'refused', error, isOfReader: false })
        }
        queue.push({ envelope, write, settle, fail })
        if (busy < connections) void work()
      }),
    close() {
      for (const session of idle.splice(0)) session.close()
    },
  }
}

/** Characters that would end an address, or the line with it. */
const UNSAFE = /[^\x21-\x7e]|[<>]/

const isSafe = ({ from, to }: Envelope): boolean => !UNSAFE.test(from) && !UNSAFE.test(to)

/** Writes a message. Returns null where it is not sent, and has then reported that to its caller. */
async function writeOrSettle({ write, settle, fail }: Job): Promise<string | null> {
  try {
    const written = write()
    const message = typeof written === 'string' ? written : await written
    if (message === null) settle({ state: 'withheld' })
    return message
  } catch (error) {
    fail(error)
    return null
  }
}

/** A message whose commands were sent. The server has not replied yet that it waits for the message. */
interface Begun {
  job: Job
  /** Null where the text is written only when the server waits for it. */
  message: string | null
  /** Why the server refuses it; null where the server waits for the message. */
  refusal: Promise<Outcome | null>
  /** Whether the session accepted messages before: in that case its end says nothing about the mail server. */
  isKnown: boolean
}

interface Others {
  queue: Job[]
  deliverMs: number
  isKnown: boolean
}

/**
 * Sends a message, and then those that wait for a connection. This does not use the library, which makes two streams
 * for each message: they cost more than all the other work.
 */
async function sendOver(
  session: SmtpSession,
  { job, message }: { job: Job; message: string },
  { queue, deliverMs, isKnown }: Others,
): Promise<void> {
  let begun: Begun | null = { job, message, refusal: begin(session, job.envelope), isKnown }
  while (begun !== null) {
    session.closeIn(deliverMs)
    begun = await sendOne(session, begun, queue)
  }
}

/**
 * Sends one message. The commands of the next one go out together with it (RFC 2920, 3.1), so that a message takes
 * one packet and one round trip. Returns that next message, whose text is written when the server waits for it: the
 * last moment at which its caller can withhold it.
 */
async function sendOne(session: SmtpSession, begun: Begun, queue: Job[]): Promise<Begun | null> {
  const { job, message } = begun
  const refusal = await begun.refusal
  if (refusal !== null) return leave(session, begun, queue, refusal)
  const text = message ?? (await writeOrSettle(job))
  if (text === null) {
    // Once a message has begun, only ending the connection can cancel it.
    session.close()
    return null
  }
  if (!session.isOpen()) return leave(session, begun, queue, LOST)
  const next = session.canPipeline ? queue.shift() : undefined
  session.write(`${endMessage(text)}${next === undefined ? '' : linesOf(next.envelope)}`)
  const answer = readAnswer(session)
  const following =
    next === undefined
      ? null
      : { job: next, message: null, refusal: agree(session, session.replies(3)), isKnown: true }
  job.settle(await answer)
  return following
}

const LOST: Outcome = { state: 'unavailable', error: 'the connection was lost' }

/**
 * Ends with a message that was not handed over. A session that was used before says nothing about the mail server
 * when it ends, so the message then goes back to the queue, for another session.
 */
function leave(
  session: SmtpSession,
  { job, isKnown }: Begun,
  queue: Job[],
  outcome: Outcome,
): null {
  if (outcome.state === 'unavailable') session.close()
  if (outcome.state === 'unavailable' && isKnown) queue.unshift(job)
  else job.settle(outcome)
  return null
}

const commandsOf = ({ from, to }: Envelope) => [`MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'DATA']

const linesOf = (envelope: Envelope): string => `${commandsOf(envelope).join('\r\n')}\r\n`

/** Begins a message. Returns why the server refuses it, or null where the server waits for the message. */
function begin(session: SmtpSession, envelope: Envelope): Promise<Outcome | null> {
  if (!session.canPipeline) return agree(session, askInTurn(session, commandsOf(envelope)))
  session.write(linesOf(envelope))
  return agree(session, session.replies(3))
}

/**
 * Reads the replies to the commands of a message. After a refusal it resets the server, so that another message can
 * follow.
 */
async function agree(session: SmtpSession, replies: Promise<string[]>): Promise<Outcome | null> {
  try {
    const [sender = '', reader = '', data = ''] = await replies
    if (!isGood(sender)) return { state: 'unavailable', error: sender }
    if (isGood(reader) && /^[23]/.test(data)) return null
    // A server that accepts DATA without a recipient gets an empty message.
    if (data.startsWith('3')) await askInTurn(session, ['.'])
    const [reset = ''] = await askInTurn(session, ['RSET'])
    if (!isGood(reset)) session.close()
    const refusal = isGood(reader) ? readRefusal(data, false) : readRefusal(reader, true)
    return refusal ?? { state: 'unavailable', error: `${reader} ${data}` }
  } catch (error) {
    return { state: 'unavailable', error: describe(error) }
  }
}

/** Sends each line after the reply to the previous one, up to the first line that is refused. */
async function askInTurn(session: SmtpSession, lines: readonly string[]): Promise<string[]> {
  const replies: string[] = []
  for (const line of lines) {
    session.write(`${line}\r\n`)
    const [reply = ''] = await session.replies(1)
    replies.push(reply)
    if (!/^[23]/.test(reply)) break
  }
  return replies
}

/** Reads the reply to a message that was handed over. Without a valid reply the outcome is unknown. */
async function readAnswer(session: SmtpSession): Promise<Outcome> {
  try {
    const [reply = ''] = await session.replies(1)
    if (isGood(reply)) return { state: 'sent' }
    const refusal = readRefusal(reply, false)
    if (refusal === null) session.close()
    return refusal ?? { state: 'unknown', error: reply }
  } catch (error) {
    return { state: 'unknown', error: describe(error) }
  }
}

const isGood = (reply: string): boolean => reply.startsWith('2')

/** Reads a permanent or temporary refusal. Returns null where the reply is neither. */
function readRefusal(reply: string, isOfReader: boolean): Refusal | null {
  if (!/^[45]\d\d/.test(reply)) return null
  return { state: reply.startsWith('5') ? 'refused' : 'deferred', error: reply, isOfReader }
}

/**
 * Returns a message with the dot that ends it. A dot at the beginning of one of its lines is doubled (RFC 5321,
 * 4.5.2).
 */
function endMessage(message: string): string {
  const hasDots = message.startsWith('.') || message.includes('\n.')
  const lines = hasDots ? message.replace(/^\.|(?<=\n)\./g, '..') : message
  return lines.endsWith('\r\n') ? `${lines}.\r\n` : `${lines}\r\n.\r\n`
}

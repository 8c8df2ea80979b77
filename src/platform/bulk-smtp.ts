import { describe, openSession, type SmtpSession } from './smtp-session.ts'

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

/**
 * Writes a message, in ASCII, when a connection is free for it; again where that was lost before it was handed
 * over. Null: it is not to be sent any more.
 */
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

/** A message that is to be sent, and whom its outcome is told. */
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
  /** Those that wait for a connection. */
  const queue: Job[] = []
  /** The session that was used last is used first. */
  const idle: SmtpSession[] = []
  let busy = 0

  function takeIdle(): SmtpSession | undefined {
    let session = idle.pop()
    // A server may have ended it meanwhile.
    while (session?.isOpen() === false) session = idle.pop()
    return session
  }

  /** Sends what waits, until nothing does. */
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

/** What would end an address, or the line that it stands in. */
const UNSAFE = /[^\x21-\x7e]|[<>]/

const isSafe = ({ from, to }: Envelope): boolean => !UNSAFE.test(from) && !UNSAFE.test(to)

/** Null: it is not sent, and its caller knows that. */
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

/** A message whose commands were sent, and which the server has not yet said to wait for. */
interface Begun {
  job: Job
  /** Null: it is written when the server waits for it. */
  message: string | null
  /** Why the server does not take it. Null: it waits for the message. */
  refusal: Promise<Outcome | null>
  /** Whether the session took messages before: its end says nothing of the mail server then. */
  isKnown: boolean
}

interface Others {
  queue: Job[]
  deliverMs: number
  isKnown: boolean
}

/**
 * Sends a message, and those that wait for a connection. It is done by hand: the library makes two streams for
 * each message, which cost more than all the rest.
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
 * Sends one message. The commands of the next go out together with it (RFC 2920, 3.1), so that a message takes one
 * packet and one round trip. That next one is answered, and written when the server waits for it: the last moment
 * at which its caller can withhold it.
 */
async function sendOne(session: SmtpSession, begun: Begun, queue: Job[]): Promise<Begun | null> {
  const { job, message } = begun
  const refusal = await begun.refusal
  if (refusal !== null) return leave(session, begun, queue, refusal)
  const text = message ?? (await writeOrSettle(job))
  if (text === null) {
    // A message that has begun can be left only by ending the connection.
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

/** Ends with a message that was not handed over. Others say more of the mail server than a session that was used. */
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

/** Begins a message. Answers why the server does not take it, or null: it waits for the message. */
function begin(session: SmtpSession, envelope: Envelope): Promise<Outcome | null> {
  if (!session.canPipeline) return agree(session, askInTurn(session, commandsOf(envelope)))
  session.write(linesOf(envelope))
  return agree(session, session.replies(3))
}

/** After a refusal the server has no open transaction, so that another message can follow. */
async function agree(session: SmtpSession, replies: Promise<string[]>): Promise<Outcome | null> {
  try {
    const [sender = '', reader = '', data = ''] = await replies
    if (!isGood(sender)) return { state: 'unavailable', error: sender }
    if (isGood(reader) && /^[23]/.test(data)) return null
    // A server that takes a message without a recipient gets an empty one.
    if (data.startsWith('3')) await askInTurn(session, ['.'])
    const [reset = ''] = await askInTurn(session, ['RSET'])
    if (!isGood(reset)) session.close()
    const refusal = isGood(reader) ? readRefusal(data, false) : readRefusal(reader, true)
    return refusal ?? { state: 'unavailable', error: `${reader} ${data}` }
  } catch (error) {
    return { state: 'unavailable', error: describe(error) }
  }
}

/** Sends each line after the reply to the one before, up to the first that is refused. */
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

/** What the server says of a message that it was given. A reply that is none leaves that unknown. */
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

/** A refusal for good or for now. Null where the server has said neither. */
function readRefusal(reply: string, isOfReader: boolean): Refusal | null {
  if (!/^[45]\d\d/.test(reply)) return null
  return { state: reply.startsWith('5') ? 'refused' : 'deferred', error: reply, isOfReader }
}

/** A message up to the dot that ends it. A dot at the beginning of its lines is doubled (RFC 5321, 4.5.2). */
function endMessage(message: string): string {
  const hasDots = message.startsWith('.') || message.includes('\n.')
  const lines = hasDots ? message.replace(/^\.|(?<=\n)\./g, '..') : message
  return lines.endsWith('\r\n') ? `${lines}.\r\n` : `${lines}\r\n.\r\n`
}

import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { Type } from 'typebox'
import type { Database } from '../db/database.ts'
import { machineTime, type Runner, sql } from '../db/sql.ts'

/** A letter in plain text to one person. */
export interface Mail {
  to: string
  subject: string
  text: string
  /** The store it concerns, if any. */
  tenant_ref?: string
}

/** Hands one letter to a mail server. Returns once the server has taken it, and throws otherwise. */
export interface MailTransport {
  deliver(mail: Letter): Promise<void>
}

export class InvalidMailError extends Error {
  constructor(field: string) {
    super(`a mail's ${field} is not valid`)
    this.name = 'InvalidMailError'
  }
}

const Letter = Type.Object({
  id: Type.String(),
  recipient: Type.String(),
  subject: Type.String(),
  body: Type.String(),
  attempt_count: Type.Integer(),
})
export type Letter = Type.Static<typeof Letter>

/** One address and nothing else: no name, no list, no quotes, no comment. */
const ADDRESS = /^[^\s\p{C}"(),:;<>@[\\\]]{1,64}@[^\s\p{C}"(),:;<>@[\\\]]{1,253}$/u

/** What ends a header line, or is nothing a subject should hold. */
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u

/**
 * Shorter than the lease, so that no letter is still on its way when another worker takes it, and
 * than the 15 s in which a process that is told to end must be done.
 */
const DELIVER_MS = 12_000
const LEASE_SECONDS = 30

const TEXT_LENGTH_MAX = 20_000

/** The waits after each failed attempt but the last. */
const RETRY_SECONDS = [60, 300, 1_800, 7_200] as const

/** Letters that one worker hands over at the same time. */
const BATCH = 5

/** Puts a letter in the outbox, in the caller's transaction. It leaves after the commit, if ever. */
export async function send(db: Runner, mail: Mail): Promise<void> {
  check(mail.to, mail.subject)
  if (mail.text.length > TEXT_LENGTH_MAX || mail.text.includes('\0')) {
    throw new InvalidMailError('text')
  }
  await db.run(sql`
    insert into mails (tenant_ref, recipient, subject, body)
    values (${mail.tenant_ref ?? null}, ${mail.to}, ${mail.subject}, ${mail.text})`)
}

/** The port as modules take it, where a test wants to see what is sent. */
export interface Mailer {
  send: typeof send
}

function check(to: string, subject: string) {
  if (to.length > 254 || !ADDRESS.test(to)) throw new InvalidMailError('recipient')
  if (subject.length > 200 || CONTROL.test(subject)) throw new InvalidMailError('subject')
}

/**
 * Sends the letters that are due and answers how many were tried. Without a transport they stay
 * where they are, for the operator to read.
 *
 * A letter is sent at least once: a worker that dies after the mail server took it, and before that
 * is written down, leaves it to be sent again when the lease ends. Its message-id stays the same.
 */
export async function sendDue(
  database: Database,
  transport: MailTransport | null,
  signal?: AbortSignal,
): Promise<number> {
  if (transport === null || signal?.aborted) return 0
  const token = randomUUID()
  const letters = await claimDue(database.global, token)
  await Promise.all(
    letters.map(async (letter) => {
      try {
        await transport.deliver(letter)
      } catch (error) {
        await recordFailure(database.global, letter, token, describe(error))
        return
      }
      await recordSent(database.global, letter.id, token)
    }),
  )
  return letters.length
}

const claimDue = (db: Runner, token: string) =>
  db.many(
    Letter,
    sql`
      update mails
         set lease_until = ${machineTime} + make_interval(secs => ${LEASE_SECONDS}),
             lease_token = ${token}
       where id in (select id
                      from mails
                     where next_attempt_at <= ${machineTime}
                       and (lease_until is null or lease_until < ${machineTime})
                     order by next_attempt_at
                     limit ${BATCH}
                       for update skip locked)
   returning id, recipient, subject, body, attempt_count`,
  )

const recordSent = (db: Runner, id: string, token: string) =>
  db.run(sql`
    update mails
       set sent_at = ${machineTime}, attempt_count = attempt_count + 1, next_attempt_at = null,
           lease_until = null, lease_token = null, last_error = null
     where id = ${id} and lease_token = ${token}`)

/** Whoever lost the lease meanwhile changes nothing: the letter is another worker's now. */
function recordFailure(db: Runner, letter: Letter, token: string, error: string) {
  const wait = RETRY_SECONDS[letter.attempt_count] ?? null
  return db.run(sql`
    update mails
       set attempt_count = attempt_count + 1, last_error = ${error},
           next_attempt_at = ${machineTime} + make_interval(secs => ${wait}::integer),
           lease_until = null, lease_token = null
     where id = ${letter.id} and lease_token = ${token}`)
}

/** The mail server's words, fit for a column of 500 characters. */
function describe(error: unknown): string {
  const message = error instanceof Error ? error.message : 'not an Error'
  return [...message.toWellFormed().replace(/\p{Cc}+/gu, ' ')].slice(0, 500).join('')
}

export interface TransportOptions {
  deliverMs?: number
}

/** Speaks SMTP with the server that `SMTP_URL` names. Null without one. */
export function createTransport(
  smtpUrl: string | undefined,
  from: string,
  { deliverMs = DELIVER_MS }: TransportOptions = {},
): MailTransport | null {
  if (smtpUrl === undefined) return null
  if (CONTROL.test(from)) throw new InvalidMailError('sender')
  return {
    async deliver(letter) {
      // Again, since a row can be written by other hands than `send`.
      check(letter.recipient, letter.subject)
      await exchange(smtpUrl, deliverMs, {
        from,
        to: { name: '', address: letter.recipient },
        subject: letter.subject,
        text: letter.body,
        messageId: `<${letter.id}@${domainOf(from)}>`,
        headers: { 'auto-submitted': 'auto-generated' },
      })
    },
  }
}

const domainOf = (from: string) => /@([^\s<>@]+?)>?\s*$/.exec(from)?.[1] ?? 'localhost'

interface Message {
  from: string
  to: { name: string; address: string }
  subject: string
  text: string
  messageId: string
  headers: Record<string, string>
}

/**
 * One connection for one letter, and one deadline for all of it. The library's own timeouts are
 * reset by every byte, so a server that drips would hold a letter beyond its lease.
 */
async function exchange(url: string, deliverMs: number, message: Message): Promise<void> {
  // Loaded with the first letter: most processes never send one.
  const { createTransport: createSmtp } = await import('nodemailer')
  let socket: Socket | undefined
  const smtp = createSmtp({
    url,
    connectionTimeout: deliverMs,
    greetingTimeout: deliverMs,
    socketTimeout: deliverMs,
    getSocket({ host = 'localhost', port, secure = false }, answer) {
      socket = connect({ host, port: Number(port ?? (secure ? 465 : 587)) })
      // Heard to the end, or a late failure of the socket would end the process.
      socket.on('error', () => {})
      socket.once('error', answer)
      socket.once('connect', () => {
        socket?.removeListener('error', answer)
        answer(null, { connection: socket })
      })
    },
  })
  const deadline = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    deadline.reject(new Error(`the mail server did not finish within ${deliverMs} ms`))
    socket?.destroy()
  }, deliverMs)
  const options = { ...message, disableFileAccess: true, disableUrlAccess: true }
  try {
    await Promise.race([smtp.sendMail(options), deadline.promise])
  } finally {
    clearTimeout(timer)
    smtp.close()
  }
}

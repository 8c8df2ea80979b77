import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { domainToASCII } from 'node:url'
import { Type } from 'typebox'
import type { AllStores, Database, Db, Tx } from '../db/database.ts'
import { machineTime, type Runner, sql } from '../db/sql.ts'
import { Id, Nullable, Timestamp } from '../kernel/schema.ts'

/** A mail to one person. */
export interface Mail {
  /** The id of its row, where the caller has to know it. */
  id?: string
  to: string
  subject: string
  text: string
  /** The same text as HTML. Without it, the mail is plain text alone. */
  html?: string
  /** The store that the mail concerns, if any. */
  tenant_ref?: string
  /** The order to which the mail has a link. The mail is erased with the order's customer. */
  order_id?: string
  /** Whether the mail is kept and never sent, as mails of a sandbox to strangers are. */
  isKept?: boolean
}

/** A mail as it is handed to the mail server. */
export interface OutgoingMail {
  /** Becomes the message-id. */
  id: string
  recipient: string
  subject: string
  body: string
  /** The same text as HTML. Without it, the mail is plain text alone. */
  html?: string | null
  /** The sender's name, before the one address that all mails come from. */
  fromName?: string
  replyTo?: string | null
  /** The list headers of a mail to a list. */
  listHeaders?: ListHeaders
}

/** The headers by which a mail program offers to unsubscribe in one click (RFC 8058). */
export type ListHeaders = Readonly<Record<'List-Unsubscribe' | 'List-Unsubscribe-Post', string>>

/** Sends one mail. Returns once the mail server has accepted it, and throws otherwise. */
export interface MailTransport {
  deliver(mail: OutgoingMail): Promise<void>
}

export class InvalidMailError extends Error {
  constructor(field: string) {
    super(`a mail's ${field} is not valid`)
    this.name = 'InvalidMailError'
  }
}

const QueuedMail = Type.Object({
  id: Type.String(),
  recipient: Type.String(),
  subject: Type.String(),
  body: Type.String(),
  html: Nullable(Type.String()),
  attempt_count: Type.Integer(),
})
export type QueuedMail = Type.Static<typeof QueuedMail>

/** The form of an address and nothing else: no name, no list, no quotes, no comment. */
const ADDRESS = /^[^\s\p{C}"(),:;<>@[\\\]]{1,64}@[^\s\p{C}"(),:;<>@[\\\]]{1,253}$/u

/** Characters that would end a header line, or have no place in a subject. */
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u

/**
 * How long sending one mail may take. It is shorter than the lease, so that no mail is still being sent when another
 * worker claims it, and shorter than the 15 s that a stopping process has.
 */
const DELIVER_MS = 12_000
const LEASE_SECONDS = 30

const TEXT_LENGTH_MAX = 20_000

/** How long to wait after each failed attempt except the last. */
const RETRY_SECONDS = [60, 300, 1_800, 7_200] as const

/** How many mails one worker sends at the same time. */
const BATCH = 5

/**
 * Queues a mail in the caller's transaction. It is sent after the commit, and never without one.
 */
export async function send(db: Runner, mail: Mail): Promise<void> {
  check(mail.to, mail.subject)
  if (mail.text.length > TEXT_LENGTH_MAX || mail.text.includes('\0')) {
    throw new InvalidMailError('text')
  }
  const { isKept = false } = mail
  await db.run(sql`
    insert into mails (id, tenant_ref, order_id, recipient, subject, body, html, next_attempt_at, kept)
    values (coalesce(${mail.id ?? null}::uuid, fd_uuid()), ${mail.tenant_ref ?? null},
            ${mail.order_id ?? null}, ${mail.to}, ${mail.subject}, ${mail.text},
            ${mail.html ?? null}, case when not ${isKept} then ${machineTime} end, ${isKept})`)
}

/**
 * Queues a mail if `isSent`. It takes as long if not: neither the statements nor the commit reveal whether
 * an address has an account.
 */
export async function sendIf(db: Runner, isSent: boolean, mail: Mail): Promise<void> {
  await db.run(sql`savepoint before_mail`)
  await send(db, mail)
  await db.run(isSent ? sql`release before_mail` : sql`rollback to before_mail`)
}

const OrderMail = Type.Object({
  order_id: Id,
  recipient: Type.String(),
  subject: Type.String(),
  created_at: Timestamp,
  sent_at: Nullable(Timestamp),
})
export type OrderMail = Type.Static<typeof OrderMail>

/**
 * Lists the mails with links to orders of a store, as fd_worker. Their texts are left out, since they contain the
 * links.
 */
export const listOfOrders = (db: Db, order_ids: readonly string[]) =>
  db.many(
    OrderMail,
    sql`
    select order_id, recipient, subject, created_at, sent_at
      from mails
     where tenant_ref = ${db.tenant} and order_id = any (${order_ids}::uuid[])
     order by created_at, id`,
  )

/** Deletes the mails with links to orders. A mail that is waiting is then never sent. */
export const deleteOfOrders = (tx: Tx, order_ids: readonly string[]) =>
  tx.run(sql`select fd_delete_order_mails(${order_ids}::uuid[])`)

const ShownMail = Type.Object({
  id: Id,
  tenant_ref: Nullable(Type.String()),
  html: Nullable(Type.String()),
  kept: Type.Boolean(),
  recipient: Type.String(),
  subject: Type.String(),
  body: Type.String(),
  created_at: Timestamp,
  sent_at: Nullable(Timestamp),
})

/** Lists the newest mails, of all stores. Their texts may hold tokens. */
export const listLatest = (operator: AllStores, limit: number) =>
  operator.many(
    ShownMail,
    sql`
    select id, tenant_ref, html, kept, recipient, subject, body, created_at, sent_at
      from mails
     order by created_at desc
     limit ${limit}`,
  )

/** Finds the HTML of a mail, of any store. */
export const findHtml = (operator: AllStores, id: string) =>
  operator.maybe(
    Type.Object({ html: Nullable(Type.String()) }),
    sql`select html from mails where id = ${id}`,
  )

/** The longest name of a store in a mail. The name may be a part of a subject, which has at most 200 characters. */
const NAME_LENGTH_MAX = 100

/** Writes the name of a store as mails show it, on one line. */
export const oneLine = (name: string): string =>
  name
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .toWellFormed()
    .slice(0, NAME_LENGTH_MAX)

/** The interface that modules depend on, so that a test can see which mails are sent. */
export interface Mailer {
  send: typeof send
}

/** Whether mail can be sent to the text: one address and nothing else. */
export const isAddress = (text: string): boolean => text.length <= 254 && ADDRESS.test(text)

/**
 * Writes an address in the form that every mail server accepts: its domain in ASCII. Returns null where the text is
 * not an address.
 */
export function toAsciiAddress(text: string): string | null {
  const at = text.lastIndexOf('@')
  const address = `${text.slice(0, at + 1)}${domainToASCII(text.slice(at + 1))}`
  return isAddress(address) && /^[\x21-\x7e]+$/.test(address) ? address : null
}

/** A long number. Some ids of mail servers look like a card number, which must not be stored in any text. */
const LONG_NUMBER = /\d(?:[ -]?\d){11,}/g

/**
 * Writes the reply of a mail server so that it fits a column of 500 characters, without the addresses that it
 * repeats.
 */
export function describeReply(text: string, addresses: readonly string[]): string {
  const hidden = addresses.reduce(
    (left, address) => left.replace(new RegExp(literal(address), 'gi'), '[address]'),
    text.toWellFormed(),
  )
  const safe = hidden.replace(LONG_NUMBER, '[number]').replace(/\p{Cc}+/gu, ' ')
  return [...safe].slice(0, 500).join('')
}

/** Returns the reply of a mail server that refused the reader; null where a mail failed for any other reason. */
export function readerRefusal(failure: unknown): string | null {
  const { command, response } = (failure ?? {}) as { command?: unknown; response?: unknown }
  const isOfReader = typeof command === 'string' && command.startsWith('RCPT')
  return isOfReader && typeof response === 'string' ? response : null
}

/** Escapes a text, so that a pattern matches it literally. */
const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

function check(to: string, subject: string) {
  if (!isAddress(to)) throw new InvalidMailError('recipient')
  if (subject.length > 200 || CONTROL.test(subject)) throw new InvalidMailError('subject')
}

/**
 * Sends the mails that are due and returns how many were attempted. Without a transport they stay in the table, where
 * the operator can read them.
 *
 * A mail is sent at least once: when a worker dies after the mail server accepted it and before that is recorded, the
 * mail is sent again after the lease expires. Its message-id stays the same.
 */
export async function sendDue(
  database: Database,
  transport: MailTransport | null,
  signal?: AbortSignal,
): Promise<number> {
  if (transport === null || signal?.aborted) return 0
  const token = randomUUID()
  const mails = await claimDue(database.directory, token)
  await Promise.all(
    mails.map(async (mail) => {
      try {
        await transport.deliver(mail)
      } catch (error) {
        await recordFailure(database.directory, mail, token, describe(error))
        return
      }
      await recordSent(database.directory, mail.id, token)
    }),
  )
  return mails.length
}

const claimDue = (db: Runner, token: string) =>
  db.many(
    QueuedMail,
    sql`
      update mails
         set lease_until = ${machineTime} + make_interval(secs => ${LEASE_SECONDS}),
             lease_token = ${token}
       where id = any(array(select id
                              from mails
                             where next_attempt_at <= ${machineTime}
                               and (lease_until is null or lease_until < ${machineTime})
                             order by next_attempt_at
                             limit ${BATCH}
                               for update skip locked))
   returning id, recipient, subject, body, html, attempt_count`,
  )

const recordSent = (db: Runner, id: string, token: string) =>
  db.run(sql`
    update mails
       set sent_at = ${machineTime}, attempt_count = attempt_count + 1, next_attempt_at = null,
           lease_until = null, lease_token = null, last_error = null
     where id = ${id} and lease_token = ${token}`)

/** Records a failed attempt. A worker that has lost its lease changes nothing: another worker has claimed the mail. */
function recordFailure(db: Runner, mail: QueuedMail, token: string, error: string) {
  const wait = RETRY_SECONDS[mail.attempt_count] ?? null
  return db.run(sql`
    update mails
       set attempt_count = attempt_count + 1, last_error = ${error},
           next_attempt_at = ${machineTime} + make_interval(secs => ${wait}::integer),
           lease_until = null, lease_token = null
     where id = ${mail.id} and lease_token = ${token}`)
}

/** Writes an error as text that fits a column of 500 characters. */
function describe(error: unknown): string {
  const message = error instanceof Error ? error.message : 'not an Error'
  return [...message.toWellFormed().replace(/\p{Cc}+/gu, ' ')].slice(0, 500).join('')
}

/** The key that mails are signed with, so that their receivers know the sender's domain (DKIM). */
export interface DkimKey {
  domainName: string
  keySelector: string
  /** An RSA key, as PEM. */
  privateKey: string
}

export interface TransportOptions {
  deliverMs?: number
  dkim?: DkimKey | null
}

/**
 * The headers that a signature covers: those of RFC 6376 that our mails have, and both of a list. RFC 8058 requires
 * that, and the library leaves the second one out unless it is named.
 */
export const SIGNED_HEADERS = [
  'From',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'To',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
].join(':')

/** The longest line that RFC 5322 allows. */
export const LINE_LENGTH_MAX = 998

/**
 * Writes a header unchanged, on one line. The library folds long headers, and some servers then fail to verify the
 * signature, or to read the link.
 */
function onOneLine(name: string, value: string) {
  const isLine = /^[\x20-\x7e]+$/.test(value) && `${name}: ${value}`.length <= LINE_LENGTH_MAX
  if (!isLine) throw new InvalidMailError(name)
  return { prepared: true, value }
}

const listHeadersOf = (headers: ListHeaders) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, onOneLine(name, value)]))

/** Creates the transport for the server that `SMTP_URL` names. Returns null without one. */
export function createTransport(
  smtpUrl: string | undefined,
  from: string,
  { deliverMs = DELIVER_MS, dkim = null }: TransportOptions = {},
): MailTransport | null {
  if (smtpUrl === undefined) return null
  if (CONTROL.test(from)) throw new InvalidMailError('sender')
  return {
    async deliver(mail) {
      const { fromName, replyTo, html, listHeaders } = mail
      // The addresses are checked again, since other code than `send` may write a row.
      check(mail.recipient, mail.subject)
      if (fromName !== undefined && CONTROL.test(fromName)) throw new InvalidMailError('sender')
      await sendOverSmtp(
        { url: smtpUrl, deliverMs, dkim },
        {
          from: fromName === undefined ? from : { name: fromName, address: addressOf(from) },
          to: { name: '', address: mail.recipient },
          // A store writes its own address into its site: a text that is not an address is left out.
          ...(replyTo && ADDRESS.test(replyTo) && { replyTo: { name: '', address: replyTo } }),
          subject: mail.subject,
          text: mail.body,
          ...(html != null && { html }),
          messageId: `<${mail.id}@${domainOf(from)}>`,
          headers: {
            'auto-submitted': 'auto-generated',
            ...(listHeaders !== undefined && listHeadersOf(listHeaders)),
          },
        },
      )
    },
  }
}

/** Returns the address in `Name <address>`, or an address alone. */
export const addressOf = (from: string) => /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from.trim()

export const domainOf = (from: string) => /@([^\s<>@]+?)>?\s*$/.exec(from)?.[1] ?? 'localhost'

interface Address {
  name: string
  address: string
}

interface Message {
  from: string | Address
  to: Address
  replyTo?: Address
  subject: string
  text: string
  html?: string
  messageId: string
  headers: Record<string, string | { prepared: boolean; value: string }>
}

interface SmtpServer {
  url: string
  deliverMs: number
  dkim: DkimKey | null
}

/**
 * Sends one mail over its own connection, with one deadline for all of it. The library's timeouts
 * restart with every byte, so a slow server could hold a mail beyond its lease.
 */
async function sendOverSmtp({ url, deliverMs, dkim }: SmtpServer, message: Message): Promise<void> {
  // Loaded with the first mail: most processes never send one.
  const { createTransport: createSmtp } = await import('nodemailer')
  let socket: Socket | undefined
  const smtp = createSmtp({
    url,
    connectionTimeout: deliverMs,
    greetingTimeout: deliverMs,
    socketTimeout: deliverMs,
    ...(dkim !== null && { dkim: { ...dkim, headerFieldNames: SIGNED_HEADERS } }),
    getSocket({ host = 'localhost', port, secure = false }, answer) {
      socket = connect({ host, port: Number(port ?? (secure ? 465 : 587)) })
      // The listener stays: a late failure of the socket would otherwise end the process.
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

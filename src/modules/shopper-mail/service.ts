import type { AllStores, Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { foldEmail } from '../../kernel/email.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../kernel/time.ts'
import { sha256 } from '../../kernel/tokens.ts'
import { mailboxOf } from '../../platform/address-mails.ts'
import * as audit from '../../platform/audit.ts'
import { type Limits, requireWithin } from '../../platform/rate-limits.ts'
import { writeBranded } from '../sites/mail-look.ts'
import * as stores from '../stores/service.ts'
import { type HappenedEvent, listCaused } from './causes.ts'
import { loadMail, type MailDeps } from './compose.ts'
import type { MailFacts } from './facts.ts'
import * as queries from './queries.ts'
import { loadPreview, type PreviewRequest } from './samples.ts'
import {
  isAboutOrder,
  MAIL_KINDS,
  MAIL_LANGUAGES,
  type MailKind,
  type MailPreview,
  type MailSettings,
  type MailSettingsChange,
  type MailSubject,
  type ShopperMail,
} from './schema.ts'
import { contentOf } from './templates.ts'
import { languageOf } from './words.ts'

/** The topic that wakes the loop that sends mails when there are new ones. */
export const WAKE_SHOPPER_MAIL = 'shopper mail'

/** How many times a merchant can have one mail sent again. */
const RESENDS_MAX = 5

/** How many mails of one store can be sent again in a minute. */
const RESENDS_PER_MINUTE = 30

/**
 * Queues the mails that events cause, in the transaction that numbers the events: each event is numbered once, and no
 * transaction of a store waits for it.
 */
export async function queueMails(tx: Tx, events: readonly HappenedEvent[]): Promise<void> {
  const mails = listCaused(events)
  if (mails.length === 0) return
  await queries.insertMails(tx, mails)
  tx.notifyAfterCommit(WAKE_SHOPPER_MAIL)
}

/** Writes a mail from its facts: language, subject and both texts. */
export const writeMail = (facts: MailFacts): Omit<MailPreview, 'kind'> => ({
  language: facts.language,
  ...writeBranded(facts, contentOf(facts)),
})

export async function preview(
  deps: MailDeps,
  db: Db,
  request: PreviewRequest,
): Promise<MailPreview> {
  return { kind: request.kind, ...writeMail(await loadPreview(deps, db, request)) }
}

export type NewestMail = Awaited<ReturnType<typeof queries.listNewest>>[number]

export const listNewest = queries.listNewest
export const findForShow = queries.findForShow

/**
 * Writes a mail of the table as it would be sent now, for a development machine. Returns null where it would not be
 * sent.
 */
export async function showMail(deps: MailDeps, db: Db, subject: MailSubject) {
  const loaded = await loadMail(deps, db, subject)
  return 'skip' in loaded ? null : { ...writeMail(loaded.facts), recipient: loaded.recipient }
}

export async function readSettings(db: Db): Promise<MailSettings> {
  return shownSettings((await queries.findSettings(db))?.off_kinds ?? [])
}

const shownSettings = (off: readonly string[]): MailSettings => ({
  mails: MAIL_KINDS.map((kind) => ({ kind, enabled: !off.includes(kind) })),
})

/** Whether a store sends mails of a kind. */
export const isEnabled = async (db: Db, kind: MailKind): Promise<boolean> =>
  !((await queries.findSettings(db))?.off_kinds ?? []).includes(kind)

/** Switches kinds of mail on or off. A mail that is waiting is not sent if its kind is off by then. */
export function changeSettings(
  db: TenantDb,
  actor: audit.Actor,
  { mails }: MailSettingsChange,
): Promise<MailSettings> {
  return db.transaction('shopper mail: settings', async (tx) => {
    const { off_kinds: before } = await queries.lockSettings(tx)
    const changed = new Map(mails.map(({ kind, enabled }) => [kind, enabled]))
    const after = MAIL_KINDS.filter((kind) => !(changed.get(kind) ?? !before.includes(kind)))
    await queries.writeSettings(tx, after)
    await audit.record(tx, actor, {
      action: 'store.mails_changed',
      entity: `store:${tx.tenant}`,
      before: { off_kinds: before },
      after: { off_kinds: after },
    })
    return shownSettings(after)
  })
}

/** Lists the store's mails, newest first. */
export async function list(db: Db, filters: queries.MailFilters, page: Page) {
  const { rows, shown } = await queries.list(db, filters, page)
  return { mails: rows, ...shown }
}

/** Lists the mails of all stores, newest first, with most of each address left out. */
export async function listOfAll(operator: AllStores, filters: queries.MailFilters, page: Page) {
  const { rows, shown } = await queries.listOfAll(operator, filters, page)
  return {
    mails: rows.map((mail) => ({ ...mail, recipient: maskAddress(mail.recipient) })),
    ...shown,
  }
}

/** Masks an address: `ann@example.com` becomes `a***@example.com`. */
export const maskAddress = (address: string | null): string | null =>
  address === null ? null : address.replace(/^(.).*@/u, '$1***@')

/** Shows a mail of the store as its shopper read it; one that has no copy is shown as it is written now. */
export async function readContent(deps: MailDeps, db: Db, id: string) {
  const found = isUuid(id) ? await queries.findMail(db, id) : null
  if (found === null) throw new ApiError('mail_not_found')
  const { details, sent_as, ...mail } = found
  if (sent_as !== null) return { mail, content: { kind: mail.kind, ...sent_as }, as_sent: true }
  return { mail, content: await writtenNow(deps, db, { ...mail, details }), as_sent: false }
}

/** Writes a mail anew. Returns null where that is no longer possible: it was erased, or what it is about is undone. */
async function writtenNow(
  deps: MailDeps,
  db: Db,
  { kind, about_id, order_id, details, language: sent, state }: MailSubject & ShopperMail,
): Promise<MailPreview | null> {
  if (state === 'erased') return null
  const language = MAIL_LANGUAGES.find((each) => each === sent)
  const fixed = language ?? languageOf((await stores.get(db)).language)
  const subject = { kind, about_id, order_id, details }
  const loaded = await loadMail(deps, db, subject, { language: fixed }).catch(goneOrThrow)
  return loaded === null || 'skip' in loaded ? null : { kind, ...writeMail(loaded.facts) }
}

/** What the mail is about was deleted in the meantime. */
function goneOrThrow(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/** How many mails go to one address that is not the order's, in an hour. */
const OTHERS_PER_HOUR = 3

/** How many mails of a store go to such addresses in a day: a supporter needs few, and a list of strangers has many. */
const OTHERS_PER_DAY = 100

/**
 * Refuses an address beside the order's for a mail that is worth money or acts for its reader: the code of a gift
 * card, and the link of a subscription. A key for orders has no power over these.
 */
function requireOrderMail({ kind }: ShopperMail): void {
  if (isAboutOrder(kind)) return
  throw invalidBody('to', 'must be left out: a mail of this kind goes to its own reader alone')
}

/**
 * Sends a mail again, because the merchant asks for it: also one that was sent, is dead, or was not sent because its
 * kind is off.
 */
export async function resend(
  limits: Pick<Limits, 'velocity'>,
  db: TenantDb,
  actor: audit.Actor,
  { id, to }: { id: string; to: string | null },
): Promise<ShopperMail> {
  await requireWithin(limits, `mail-resends:${db.tenant}`, RESENDS_PER_MINUTE)
  if (to !== null) await requireFewOthers(limits, db, to)
  return db.transaction('shopper mail: send again', async (tx) => {
    const mail = isUuid(id) ? await queries.lockMail(tx, id) : null
    if (mail === null) throw new ApiError('mail_not_found')
    assertResendable(mail)
    if (to !== null) requireOrderMail(mail)
    const queued = await queries.requeue(tx, mail.id, to)
    await audit.record(tx, actor, {
      action: 'mail.resent',
      entity: `mail:${mail.id}`,
      before: { state: mail.state },
      // Whether, and not where: the audit log keeps no personal data.
      after: {
        state: queued.state,
        resend_count: queued.resend_count,
        to_another_address: to !== null,
      },
    })
    tx.notifyAfterCommit(WAKE_SHOPPER_MAIL)
    return queued
  })
}

/** Strangers must not be written to in the name of a store. */
async function requireFewOthers(
  limits: Pick<Limits, 'velocity'>,
  { tenant }: Db,
  to: string,
): Promise<void> {
  const address = sha256(mailboxOf(foldEmail(to) ?? to)).toString('base64url')
  const own = `mail-others:${tenant}:${address}`
  if (!(await limits.velocity(own, OTHERS_PER_HOUR, HOUR_SECONDS))) {
    throw tooManyOthers(`${OTHERS_PER_HOUR} mails an hour go to one address`, HOUR_SECONDS)
  }
  if (!(await limits.velocity(`mail-others:${tenant}`, OTHERS_PER_DAY, DAY_SECONDS))) {
    throw tooManyOthers(`${OTHERS_PER_DAY} mails a day go to all addresses`, DAY_SECONDS)
  }
}

const tooManyOthers = (most: string, seconds: number) =>
  new ApiError('rate_limited', {
    message: `At most ${most} beside those of the orders.`,
    headers: { 'retry-after': `${seconds}` },
  })

/** Refuses a mail that waits already, or has no address to go to, as after an erasure. */
function assertResendable({ state, reason, recipient, resend_count }: ShopperMail): void {
  const isErased = state === 'erased' || (state === 'sent' && recipient === null)
  if (state === 'queued' || isErased || reason === 'no_address') {
    throw new ApiError('invalid_transition', { body: { current_status: state, allowed: [] } })
  }
  if (resend_count < RESENDS_MAX) return
  throw new ApiError('limit_reached', {
    message: `A mail can be sent again ${RESENDS_MAX} times. Write to the shopper yourself.`,
    body: { limit: 'mail_resends', max: RESENDS_MAX, used: resend_count },
  })
}
